// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The last pass of taking ids from the word cache, for x86-64 with any vectors.
#pragma once

#include "word_block.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define UNROLLED _Pragma("GCC unroll 4")

namespace tokexport {

// What the first passes found for each pre-token of a block; nothing is used after its last one.
struct Found {
    // In bytes: that of the one slot of its set whose ids are read.
    alignas(64) std::uint32_t offsets[WordBlock::most];
    alignas(64) std::uint8_t is_hit[WordBlock::most];  // not 0: that slot has its key
};
static_assert(sizeof(WordSlot) == 32);  // offsets are made by shifts

// Writes the ids. A pass of its own, since the address of a slot waits for a comparison: in one
// pass, instructions that wait fill the scheduler, which takes half as long again.
inline std::uint32_t *take_found(WordCache &words, const WordBlock &block, const Found &found,
                                 const std::uint32_t *out, std::uint32_t *at, Misses &misses) {
    const char *slots = reinterpret_cast<const char *>(words.slots());
    const __m128i mask = _mm_setr_epi32(id_mask, -1, -1, -1);
    const std::size_t count = block.count;
    UNROLLED for (std::size_t i = 0; i < count; i++) {
        const auto *slot = reinterpret_cast<const WordSlot *>(slots + found.offsets[i]);
        const __m128i ids = _mm_load_si128(reinterpret_cast<const __m128i *>(slot->ids));
        const std::size_t made = slot->ids[0] >> id_count_shift;
        // A slot that an earlier miss of the block has taken since is pending.
        if (__builtin_expect(found.is_hit[i] != 0, 1) &&
            __builtin_expect(made <= WordSlot::most_inline, 1)) {
            _mm_storeu_si128(reinterpret_cast<__m128i *>(at), _mm_and_si128(ids, mask));
            at += made;
        } else {
            at = block.take_elsewhere(words, i, out, at, misses);
        }
    }
    return at;
}

}  // namespace tokexport

#endif
