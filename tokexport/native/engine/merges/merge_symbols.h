// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Merging a few symbols, one pair at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pair_table.h"

namespace tokexport {

constexpr std::size_t most_symbols = 64;

// Merges 1 to `most_symbols` symbols in place, as in SPEC.md 3.5; returns how many are left.
inline std::size_t merge_symbols(const PairTable &pairs, std::uint32_t *symbols,
                                 std::size_t count) {
    // products[i] belongs to the pair of symbols i and i + 1
    std::uint32_t products[most_symbols];
    for (std::size_t i = 0; i + 1 < count; i++)
        products[i] = pairs.product(symbols[i], symbols[i + 1]);
    while (count > 1) {
        std::size_t at = 0;
        std::uint32_t best = products[0];
        for (std::size_t i = 1; i + 1 < count; i++) {
            at = products[i] < best ? i : at;
            best = products[i] < best ? products[i] : best;
        }
        if (best == PairTable::no_id) break;
        symbols[at] = pairs.id_of(best);
        count--;
        for (std::size_t i = at + 1; i < count; i++) symbols[i] = symbols[i + 1];
        for (std::size_t i = at; i + 1 < count; i++) products[i] = products[i + 1];
        if (at > 0) products[at - 1] = pairs.product(symbols[at - 1], symbols[at]);
        if (at + 1 < count) products[at] = pairs.product(symbols[at], symbols[at + 1]);
    }
    return count;
}

}  // namespace tokexport
