// Merging many short pre-tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pair_table.h"
#include "word_cache.h"

namespace tokexport {

// A pre-token of 1 to 15 bytes, which are in the key.
struct ShortWord {
    // Ids that are written without counting, if there are fewer.
    static constexpr std::size_t least_room = 4;

    WordKey key;
    std::uint32_t *ids;    // room for as many ids as bytes, and for least_room
    std::uint32_t *count;  // how many there are
};

// Merges each word, as SPEC.md 3.5. Not the look-up of the whole word.
void merge_short_words(const PairTable &pairs, const ShortWord *words, std::size_t count);

}  // namespace tokexport
