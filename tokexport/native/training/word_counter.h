// Counts the words of texts by a compiled pattern, and learns merges from them, for Python.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "core.h"
#include "engine/splitter.h"
#include "training/word_map.h"

namespace tokexport {

class WordCounter {
public:
    // The pattern is that of `core`, a Core. Raises ValueError where the splitter does not do it.
    explicit WordCounter(nanobind::object core);
    WordCounter(const WordCounter &) = delete;
    WordCounter &operator=(const WordCounter &) = delete;

    // Adds texts, a sequence of str of less than 4 GB each, with at most so many threads.
    void add(nanobind::handle texts, std::size_t threads);

    // Distinct words, words, and bytes, of all texts that were added.
    std::size_t distinct();
    std::uint64_t words() const;
    std::uint64_t bytes() const { return bytes_; }

    // The last position where UTF-8 may be cut, with the words of the whole, or 0 (tkx_cut).
    std::size_t cut(nanobind::handle data) const;

    // Up to `count` merges, as an array of three numbers for each: left, right, how often. And the
    // number of tokens that they make of the texts. `progress` is called with the number of merges now and then.
    nanobind::object merges(std::size_t count, const char *tie_break, nanobind::handle progress);

private:
    struct Worker {
        WordMap map;
        std::unique_ptr<std::uint32_t[]> ends{new std::uint32_t[SplitRun::block]};
        std::uint64_t words = 0;
    };

    // The words of one text; `place`: that of its first byte among all texts.
    void count(Worker &worker, std::string_view text, std::uint64_t place) const;
    void join();

    nanobind::object owner_;
    const Core &core_;
    std::unique_ptr<const Splitter> splitter_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::uint64_t bytes_ = 0;
};

}  // namespace tokexport
