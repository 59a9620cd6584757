// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// One chunk of a text in the splitter, and the steps that have a version for each width of vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "split_classes.h"

namespace tokexport {

// The most bytes in a chunk: its codes and verdicts stay in the first-level cache. A chunk ends
// with a whole character.
constexpr std::size_t split_chunk_size = 4096;

struct SplitChunk {
    static constexpr std::size_t max_blocks = split_chunk_size / 64;

    std::size_t count;                                      // characters
    bool is_ascii;                                          // each of them is one byte
    alignas(64) std::uint8_t codes[split_chunk_size + 64];  // classes, then that of the next one
    std::uint16_t pairs[split_chunk_size / 2 + 32];  // codes 1 and 2, 3 and 4, ... as one number
    std::uint8_t verdicts[split_chunk_size + 64];    // on the boundary before each character
    std::uint64_t cuts[max_blocks + 1], undecided[max_blocks];  // the verdicts as bits

    // Where the characters begin, as each width needs it. AVX-512: for each 64 bytes, a mask of
    // first bytes, and the number of characters before. Others: offsets, unless all is ASCII.
    std::size_t blocks;
    std::uint64_t leads[max_blocks];
    std::uint16_t positions[split_chunk_size + 64];

    // Adds the characters that begin in [from, to) of the text, one by one; returns the end of the
    // last one, which may be after `to`.
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

// The steps. The text of a chunk is never read beyond its end, and `ends` is never written beyond
// the last end by more than 63 elements.
struct SplitSteps {
    // Fills the codes, and where the characters begin.
    void (*read)(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
                 SplitChunk &chunk);
    // Fills the pairs of `count` codes, from the second code on: first * base + second.
    void (*pair)(SplitChunk &chunk, std::size_t count, std::uint32_t base);
    // Fills `cuts` and `undecided` from the verdicts.
    void (*mark)(SplitChunk &chunk);
    // Where a character begins, in bytes from the start of the chunk.
    std::size_t (*position)(const SplitChunk &chunk, std::size_t character);
    // The number of characters that begin before an offset in bytes, in or at the end of the chunk.
    std::size_t (*character)(const SplitChunk &chunk, std::size_t position);
    // Writes base + offset of each cut, and returns how many there are.
    std::size_t (*harvest)(const SplitChunk &chunk, std::uint32_t base, std::uint32_t *ends);
};

// The steps for a width of vectors in bits, 0 for no vectors. Null if the processor or the compiler
// does not support it.
const SplitSteps *split_steps(unsigned width);

// The candidates for split_steps.
const SplitSteps *split_steps_neon();
const SplitSteps *split_steps_avx2();
const SplitSteps *split_steps_avx512();

}  // namespace tokexport
