// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Which pairs of symbols a byte-level BPE learns to merge, the most frequent one first.
//
// The distinct words are stored one after another, with one place per byte. All occurrences of a
// pair appear when the newer of its two symbols is made; after that it only loses some. So each
// pair has one list of places, whose size is known when it is written, and each place says which
// pair begins there. No pair is looked up by its symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "word_map.h"

namespace tokexport {

// Which pair is merged if several are the most frequent.
enum class TieBreak {
    lowest_ids,       // the smallest pair of ids
    lowest_gpt2_ids,  // the same, with bytes in the order of GPT-2's vocabulary
    greatest_bytes,   // the lexicographically greatest pair of byte strings
    first_seen        // the one that occurs first in the text
};

struct LearnedMerge {
    std::uint32_t left, right;
    std::uint64_t count;
};

class PairMerger {
public:
    // A pair of more than `longest` bytes is never merged. Throws std::length_error if the words
    // have 4 GB or more.
    PairMerger(const WordMap &words, TieBreak tie_break, std::size_t longest);

    // Learns up to `count` merges, fewer if no pair is left. `progress` is called from time to time
    // with the number of merges so far; it returns false to stop.
    std::vector<LearnedMerge> run(std::size_t count,
                                  const std::function<bool(std::size_t)> &progress);

    // How often each symbol occurs in the words, weighted by the counts of the words.
    std::vector<std::uint64_t> uses() const;

    // The number of pairs that were the most frequent one, but too long.
    std::size_t too_long() const { return too_long_; }

private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;
    static constexpr std::size_t most_places = 0xFFFFFFFE;

    // The first and the last place of a symbol hold its id; the first, also the pair it begins.
    struct Place {
        std::uint32_t symbol;  // none: between words
        std::uint32_t pair;    // none: the last symbol of a word, or no symbol begins here
        std::uint32_t word;
    };

    struct Pair {
        std::uint32_t left, right;
        std::uint64_t first;  // its occurrences, ascending, begin here in occurrences_
        std::uint32_t size;   // the number of occurrences when the pair was created
    };

    // An entry of the heap; of equal counts, the smallest `key` is merged first.
    struct Candidate {
        std::uint64_t count, key;
        std::uint32_t pair;
    };

    struct Event {
        std::uint32_t pair, place;
    };

    void read_words(const WordMap &words);
    void count_byte_pairs();
    std::uint32_t pair_with(std::uint32_t other, bool is_left);
    void merge(std::uint32_t pair, std::uint32_t product);
    void write_occurrences();
    std::uint32_t next_best();
    void offer(std::uint32_t pair);
    void warm_up();
    std::uint64_t key_of(std::uint32_t pair);
    std::uint32_t first_place(std::uint32_t pair);
    bool comes_later(const Candidate &a, const Candidate &b) const;
    int compare_bytes(std::uint32_t a, std::uint32_t b) const;

    const TieBreak tie_break_;
    const std::size_t longest_;
    std::size_t too_long_ = 0;
    std::vector<Place> places_;
    std::vector<std::uint64_t> word_counts_;
    std::vector<std::uint64_t> single_uses_;  // of bytes, in words of one, which are not in places_
    std::vector<std::uint32_t> lengths_;      // of symbols, in bytes
    std::vector<std::uint32_t> examples_;     // a place where the bytes of a symbol are
    std::vector<std::uint8_t> bytes_;         // by place; only for greatest_bytes
    std::vector<Pair> pairs_;
    std::vector<std::uint64_t> pair_counts_;
    std::vector<std::uint32_t> occurrences_;
    std::vector<std::uint32_t> orders_;  // of bytes, for keys

    // Of the current merge: the new pairs by their other symbol, on each side.
    std::uint32_t product_ = 0;
    std::size_t first_new_ = 0;
    std::vector<std::uint32_t> with_left_, with_right_;
    std::vector<Event> left_events_, right_events_;

    // Pairs of at least 2^level_ occurrences are in the heap; the others wait in lists by
    // logarithm. A count may be out of date in both: then it was larger.
    std::vector<Candidate> heap_;
    std::vector<std::uint32_t> waiting_[64];
    unsigned level_ = 64;
};

}  // namespace tokexport
