// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Shared steps of the widths that store where each character begins.
#pragma once

#include <algorithm>

#include "engine/eight_bytes.h"
#include "split_chunk.h"

namespace tokexport {

// The first offset from `at` on that is not inside a character, at most `size`.
inline std::size_t first_lead(const std::uint8_t *text, std::size_t at, std::size_t size) {
    while (at < size && (text[at] & 0xC0) == 0x80) at++;
    return at;
}

// Reads the rest of a chunk from `at` on, which may be inside the last character that was read.
inline void read_rest(const SplitClasses &classes, const std::uint8_t *text, std::size_t at,
                      std::size_t size, SplitChunk &chunk) {
    for (std::size_t k = at; k < size && chunk.is_ascii; k++)
        if (text[k] & 0x80) chunk.add_positions();
    if (!chunk.is_ascii) {
        chunk.add(classes, text, first_lead(text, at, size), size);
        return;
    }
    for (; at < size; at++) chunk.codes[chunk.count++] = classes.ascii[text[at]];
}

inline std::size_t position_noted(const SplitChunk &chunk, std::size_t character) {
    return chunk.is_ascii ? character : chunk.positions[character];
}

inline std::size_t character_noted(const SplitChunk &chunk, std::size_t position) {
    if (chunk.is_ascii) return position;
    const std::uint16_t *const first = chunk.positions, *const last = first + chunk.count;
    return static_cast<std::size_t>(std::lower_bound(first, last, position) - first);
}

// Writes four ends per iteration, even if fewer are left: the number of iterations is easier to
// predict than the number of ends.
inline std::size_t harvest_noted(const SplitChunk &chunk, std::uint32_t base, std::uint32_t *ends) {
    std::uint32_t *out = ends;
    for (std::size_t block = 0; 64 * block < chunk.count; block++) {
        std::uint64_t cuts = chunk.cuts[block];
        std::uint32_t *const next = out + count_bits(cuts);
        for (; out < next; out += 4) {
            for (std::size_t k = 0; k < 4; k++) {
                const std::size_t character = 64 * block + lowest_bit(cuts | UINT64_C(1) << 63);
                out[k] = base + static_cast<std::uint32_t>(position_noted(chunk, character));
                cuts &= cuts - 1;
            }
        }
        out = next;
    }
    return static_cast<std::size_t>(out - ends);
}

}  // namespace tokexport
