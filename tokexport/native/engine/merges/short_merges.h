// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Merging many short pre-tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/words/word_cache.h"
#include "pair_table.h"

namespace tokexport {

// A pre-token or fragment of 1 to 15 symbols.
struct ShortWord {
    static constexpr std::size_t most_symbols = 15;
    // At least this many ids are written, without counting.
    static constexpr std::size_t least_room = 4;

    WordKey key;         // its bytes, if `symbols` is 0
    std::uint32_t *ids;  // in: its symbols, or nothing; out: its ids. Must have room for one id per
                         // symbol, and for least_room
    std::uint32_t symbols, count;  // how many symbols are in `ids`, and how many ids

    // How many ids there must be room for.
    std::size_t room() const {
        return std::max<std::size_t>(symbols ? symbols : key.b >> 56, least_room);
    }
};

// A longer pre-token, given by its bytes.
struct LongWord {
    static constexpr std::size_t most_symbols = 31;

    const std::uint8_t *bytes;
    std::uint32_t *ids;  // as in a short word
    std::uint32_t size, count;
};

// Merges each word as in SPEC.md 3.5. Does not look words up as whole tokens.
using MergeShortWords = void (*)(const PairTable &pairs, ShortWord *words, std::size_t count);
void merge_words(const PairTable &pairs, LongWord *words, std::size_t count);

// With vectors of at most `width` bits that the processor supports; merging uses 512 or none.
MergeShortWords short_word_merger(unsigned width);
// Null if the processor or the compiler does not support it.
MergeShortWords short_word_merger_avx512();

}  // namespace tokexport
