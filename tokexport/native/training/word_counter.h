// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Counts the words of texts by a compiled pattern and learns merges from them, for Python.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "engine/split/splitter.h"
#include "python/arrays.h"
#include "runtime/core.h"
#include "word_map.h"

namespace tokexport {

class WordCounter {
public:
    using Lengths = nanobind::ndarray<const std::uint32_t, nanobind::numpy, nanobind::ndim<1>,
                                      nanobind::c_contig>;
    using Bytes = nanobind::ndarray<const std::uint8_t, nanobind::numpy, nanobind::ndim<1>,
                                    nanobind::c_contig>;

    // `core`: a Core, whose pattern is used. Raises ValueError if the splitter does not support it.
    explicit WordCounter(nanobind::object core);
    WordCounter(const WordCounter &) = delete;
    WordCounter &operator=(const WordCounter &) = delete;

    // Adds texts, a sequence of str, with at most `threads` threads. Raises ValueError for 4 GB of
    // text that cannot be cut.
    void add(nanobind::handle texts, std::size_t threads);

    // The distinct words, in the order of their first occurrences, or `sorted` by their bytes, as
    // arrays of counts, of lengths, and of the bytes of all words.
    nanobind::object words_of_all(bool sorted);

    // Adds words in that form, as if their texts came after all texts so far. Raises ValueError,
    // and adds nothing, if the arrays do not fit together.
    void add_words(const Numbers &counts, const Lengths &lengths, const Bytes &bytes);

    // The number of distinct words, of words, and of bytes, in all texts added.
    std::size_t distinct();
    std::uint64_t words() const;
    std::uint64_t bytes() const { return bytes_; }

    // The last offset where UTF-8 can be cut without changing its words, or 0 (tkx_cut).
    std::size_t cut(nanobind::handle data) const;

    // Learns up to `count` merges, of tokens of at most `longest` bytes. Returns an array of three
    // numbers per merge: left, right, how often; an array with how often each token then occurs in
    // the texts; and the number of pairs left out for their length. `progress` is called from time
    // to time with the number of merges.
    nanobind::object merges(std::size_t count, const char *tie_break, std::size_t longest,
                            nanobind::handle progress);

private:
    struct Worker {
        WordMap map;
        std::unique_ptr<std::uint32_t[]> ends{new std::uint32_t[SplitRun::block]};
        std::uint64_t words = 0;
    };

    // A text, or a part of one that has the same words as in the whole. `place`: the position of
    // its first byte in all texts.
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
