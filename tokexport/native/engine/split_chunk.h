// One chunk of a text on its way through the splitter, and the steps that have a version for each
// width of vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "split_classes.h"

namespace tokexport {

// Bytes of a chunk, at most: its codes and verdicts stay in the first-level cache. The text of a
// chunk ends with a character.
constexpr std::size_t split_chunk_size = 4096;

struct SplitChunk {
    static constexpr std::size_t max_blocks = split_chunk_size / 64;

    std::size_t count;                                      // characters
    bool is_ascii;                                          // each of them is one byte
    alignas(64) std::uint8_t codes[split_chunk_size + 64];  // classes, and that of the next one
    std::uint16_t pairs[split_chunk_size / 2 + 32];  // codes 1 and 2, 3 and 4, ... as one number
    std::uint8_t verdicts[split_chunk_size + 64];    // of the place before each character
    std::uint64_t cuts[max_blocks + 1], undecided[max_blocks];  // the same as bits

    // Where the characters are, as each width needs it. AVX-512: for each 64 bytes the bytes that
    // begin one, and how many begin before. Others, where not all is ASCII: where each begins.
    std::size_t blocks;
    std::uint64_t leads[max_blocks];
    std::uint16_t positions[split_chunk_size + 64];

    // Adds the characters of [from, to) of the text, one by one; returns the end of the last one,
    // which may be after `to`.
    std::size_t add(const SplitClasses &classes, const std::uint8_t *text, std::size_t from,
                    std::size_t to) {
        std::size_t length;
        for (; from < to; from += length) {
            positions[count] = static_cast<std::uint16_t>(from);
            codes[count++] = classes.read(text + from, length);
        }
        return from;
    }

    // Fills the positions of the characters so far, which are ASCII.
    void add_positions() {
        is_ascii = false;
        for (std::size_t i = 0; i < count; i++) positions[i] = static_cast<std::uint16_t>(i);
    }
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

// What split_steps chooses from.
const SplitSteps *split_steps_neon();
const SplitSteps *split_steps_avx2();
const SplitSteps *split_steps_avx512();

}  // namespace tokexport
