// One chunk of a text on its way through the splitter, and the steps that have a version for each
// width of vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "split_classes.h"

namespace tokexport {

// Bytes of a chunk, at most: its codes and verdicts stay in the first-level cache. The text of a
// chunk ends with a character.
constexpr std::size_t split_chunk_size = 8192;

struct SplitChunk {
    static constexpr std::size_t blocks = split_chunk_size / 64 + 1;

    std::size_t count;   // characters
    bool is_ascii;       // each is one byte: `positions` is not filled
    alignas(64) std::uint8_t codes[split_chunk_size + 64];  // classes, and that of the next one
    std::uint16_t pairs[split_chunk_size / 2 + 32];  // codes 1 and 2, 3 and 4, ... as one number
    std::uint8_t verdicts[split_chunk_size + 64];    // of the place before each character
    std::uint64_t cuts[blocks], undecided[blocks];   // the same as bits
    std::uint16_t positions[split_chunk_size + 64];  // where each character begins
};

// The steps. The text of a chunk is never read beyond its end, and none of `ends` is written beyond
// the last one by more than 63.
struct SplitSteps {
    // Fills codes, and where the characters begin.
    void (*read)(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
                 SplitChunk &chunk);
    // Fills the pairs of `count` codes from the second one on.
    void (*pair)(SplitChunk &chunk, std::size_t count, std::uint32_t class_count);
    // Fills cuts and undecided from the verdicts.
    void (*mark)(SplitChunk &chunk);
    // Where a character begins, in bytes from the chunk's first.
    std::size_t (*position)(const SplitChunk &chunk, std::size_t character);
    // Writes base + where each cut is, and returns how many there are.
    std::size_t (*harvest)(const SplitChunk &chunk, std::uint32_t base, std::uint32_t *ends);
};

// By the width of vectors in bits; 0 is without. Null where the processor or the compiler does not
// have it.
const SplitSteps *split_steps(unsigned width);

}  // namespace tokexport
