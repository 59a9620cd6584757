// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Looking up consecutive pre-tokens in the word cache, in passes: keys and prefetches first, then
// ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "word_cache.h"

namespace tokexport {

// Turns the 16 bytes from the start of a pre-token on into its key: first `and`, then `or`. A
// pre-token of more than 15 bytes gets a key that no entry has.
struct KeyMask {
    std::uint64_t kept[2] = {}, added[2] = {};
};

struct KeyMasks {
    alignas(64) KeyMask masks[17] = {};

    constexpr KeyMasks() {
        for (unsigned size = 0; size <= WordKey::longest; size++) {
            for (unsigned i = 0; i < size; i++)
                masks[size].kept[i / 8] |= std::uint64_t(0xFF) << i % 8 * 8;
            masks[size].added[1] = std::uint64_t(size) << 56;
        }
        masks[16].added[1] = ~std::uint64_t(0);
    }

    const KeyMask &of(std::uint32_t size) const { return masks[size < 16 ? size : 16]; }
};

inline constexpr KeyMasks key_masks;

// A pre-token that is not in the cache.
struct Miss {
    static constexpr std::uint32_t no_place = ~std::uint32_t(0), one_long_word = no_place;

    WordKey key;
    const std::uint8_t *bytes;
    std::uint32_t size;
    std::uint32_t at;     // where its ids go, not counting the ids of misses
    std::uint32_t first;  // where its ids begin, among those of misses
    std::uint32_t count;
    std::uint32_t words;  // how many short words make its ids, or one_long_word
    std::uint32_t place;  // the slot reserved for it, or no_place
    std::uint32_t same;   // the number of an earlier miss with the same bytes, or its own
};

// How many more ids than bytes a pre-token may have: in T5, U+2581 is put before a word.
constexpr std::size_t most_more_ids = 1;

// The misses that wait to be encoded together.
class Misses {
public:
    explicit Misses(std::size_t most) : list_(new Miss[most]) {}

    std::size_t count = 0, bytes = 0;
    std::size_t total = 0;  // since the beginning

    Miss &operator[](std::size_t i) { return list_[i]; }

    // Adds a miss, and reserves a slot for it: a pre-token that is repeated before it is encoded
    // (in code two of five are) is encoded only once. `pending`: the slot it has, or null.
    void add(WordCache &words, const WordKey &key, std::size_t set, const WordSlot *pending,
             const std::uint8_t *bytes, std::uint32_t size, std::size_t at);

    void clear() { count = bytes = 0; }

private:
    std::unique_ptr<Miss[]> list_;
};

// Consecutive pre-tokens.
struct WordBlock {
    // The keys and slots of two blocks fit into L1; 64 and 256 pre-tokens perform the same.
    static constexpr std::size_t most = 128;

    // In: the pre-tokens of `text` that end at `ends`, the first of which begins at `start`.
    const std::uint8_t *text;
    std::uint32_t start;
    const std::uint32_t *ends;
    std::size_t count;

    alignas(64) WordKey keys[most];
    alignas(64) std::uint32_t sets[most];  // the first slot of each set
    std::uint8_t hashed[most];             // the numbers of those whose keys are hashed
    std::size_t hashed_count;
    unsigned shift;  // of the cache when the sets were found

    std::uint32_t begin_of(std::size_t i) const { return i ? ends[i - 1] : start; }
    std::uint32_t size_of(std::size_t i) const { return ends[i] - begin_of(i); }

    // Replaces the keys that are hashed, and prefetches their ids.
    void find_hashed(const WordCache &words);

    // Writes the ids of number `i` at `at` if it is in the cache, else adds it to the misses: for
    // those whose ids are not in the slots of its set. Returns the end of the ids, which begin at
    // `out`.
    std::uint32_t *take_elsewhere(WordCache &words, std::size_t i, const std::uint32_t *out,
                                  std::uint32_t *at, Misses &misses) const;
};

// Reads from the text, or from a copy of its last bytes, since nothing after the end may be read.
struct TailReader {
    const std::uint8_t *text;
    std::uint32_t tail_from;
    std::uint8_t tail[48];

    TailReader(const std::uint8_t *t, const std::uint8_t *limit) : text(t), tail{} {
        const std::size_t size = static_cast<std::size_t>(limit - t),
                          last = std::min<std::size_t>(size, 16);
        tail_from = static_cast<std::uint32_t>(size - last);
        std::memcpy(tail, t + tail_from, last);
    }

    const std::uint8_t *operator()(std::uint32_t at) const {
        return at < tail_from ? text + at : tail + (at - tail_from);
    }
};

// Calls `find` with a function that returns where the 16 bytes from an offset on can be read.
template <class Find>
inline std::uint32_t with_reader(const WordBlock &block, const std::uint8_t *limit, Find find) {
    const std::uint8_t *text = block.text;
    if (limit - text >= static_cast<std::ptrdiff_t>(block.begin_of(block.count - 1)) + 16)
        return find([text](std::uint32_t at) { return text + at; });
    return find(TailReader(text, limit));
}

// The passes, as the processor's vectors allow.
struct WordLookup {
    // Fills keys and sets, and prefetches the sets. Nothing from `limit` on is read. Returns the
    // bitwise or of the sizes.
    std::uint32_t (*find)(const WordCache &words, WordBlock &block, const std::uint8_t *limit);
    // Writes the ids of the pre-tokens that are in the cache at `at`, and adds the others to the
    // misses. Returns the end of the ids, which begin at `out`; up to 12 more may be overwritten.
    std::uint32_t *(*take)(WordCache &words, const WordBlock &block, const std::uint32_t *out,
                           std::uint32_t *at, Misses &misses);
};

// With vectors of at most `width` bits.
WordLookup word_lookup(unsigned width);
// Null if the processor or the compiler does not support it.
const WordLookup *word_lookup_avx2();
const WordLookup *word_lookup_avx512();

}  // namespace tokexport
