// Merging many short pre-tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pair_table.h"
#include "word_cache.h"

namespace tokexport {

// A pre-token, or a fragment of one, of 1 to 15 symbols.
struct ShortWord {
    static constexpr std::size_t most_symbols = 15;
    // Ids that are written without counting, if there are fewer.
    static constexpr std::size_t least_room = 4;

    WordKey key;         // its bytes, if `symbols` is 0
    std::uint32_t *ids;  // its symbols, or nothing; then the ids. Room for as many as there are
                         // symbols, and for least_room
    std::uint32_t symbols, count;  // how many symbols are in `ids`, and how many ids
};

// A longer pre-token, given by its bytes.
struct LongWord {
    static constexpr std::size_t most_symbols = 31;

    const std::uint8_t *bytes;
    std::uint32_t *ids;  // as of a short word
    std::uint32_t size, count;
};

// Merges each word, as SPEC.md 3.5. Not the look-up of the whole word.
void merge_words(const PairTable &pairs, ShortWord *words, std::size_t count);
void merge_words(const PairTable &pairs, LongWord *words, std::size_t count);

}  // namespace tokexport
