// Counts the words of texts by a compiled pattern, and learns merges from them, for Python.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "arrays.h"
#include "core.h"
#include "engine/splitter.h"
#include "training/word_map.h"

namespace tokexport {

class WordCounter {
public:
    using Lengths = nanobind::ndarray<const std::uint32_t, nanobind::numpy, nanobind::ndim<1>,
                                      nanobind::c_contig>;
    using Bytes = nanobind::ndarray<const std::uint8_t, nanobind::numpy, nanobind::ndim<1>,
                                    nanobind::c_contig>;

    // The pattern is that of `core`, a Core. Raises ValueError where the splitter does not do it.
    explicit WordCounter(nanobind::object core);
    WordCounter(const WordCounter &) = delete;
    WordCounter &operator=(const WordCounter &) = delete;

    // Adds texts, a sequence of str, with at most so many threads. Raises ValueError for 4 GB
    // without a place to cut.
    void add(nanobind::handle texts, std::size_t threads);

    // The distinct words, in the order in which they were seen first, or `sorted` by their bytes:
    // arrays of counts, of lengths, and of all bytes.
    nanobind::object words_of_all(bool sorted);

    // Adds such words, as if they were seen after all that was added before. Raises ValueError,
    // and adds nothing, where the arrays do not fit together.
    void add_words(const Numbers &counts, const Lengths &lengths, const Bytes &bytes);

    // Distinct words, words, and bytes, of all texts that were added.
    std::size_t distinct();
    std::uint64_t words() const;
    std::uint64_t bytes() const { return bytes_; }

    // The last position where UTF-8 may be cut, with the words of the whole, or 0 (tkx_cut).
    std::size_t cut(nanobind::handle data) const;

    // Up to `count` merges, of tokens of at most `longest` bytes, as an array of three numbers for
    // each: left, right, how often. How often each token stands in the texts then, as an array. How
    // many pairs were left out for their length. `progress` is called with the number of merges now
    // and then.
    nanobind::object merges(std::size_t count, const char *tie_break, std::size_t longest,
                            nanobind::handle progress);

private:
    struct Worker {
        WordMap map;
        std::unique_ptr<std::uint32_t[]> ends{new std::uint32_t[SplitRun::block]};
        std::uint64_t words = 0;
    };

    // A text, or a part of one that has the words of the whole; `place`: that of its first byte
    // among all texts.
    struct Part {
        std::string_view text;
        std::uint64_t place;
    };

    void count(Worker &worker, const Part &part) const;
    void divide(std::vector<Part> &parts, Part whole, std::size_t size) const;
    void join();

    nanobind::object owner_;
    const Core &core_;
    std::unique_ptr<const Splitter> splitter_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::uint64_t bytes_ = 0;
};

}  // namespace tokexport
