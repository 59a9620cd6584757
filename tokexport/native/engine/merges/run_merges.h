// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Merging a text that is a few runs of one character each: indentation, rulers, "aaaa".
#pragma once

#include <cstddef>
#include <cstdint>

#include "character_symbols.h"
#include "pair_table.h"

namespace tokexport {

// A pre-token of BPE over bytes; or, with `symbols`, of BPE over characters, possibly preceded by a
// space that is not in `bytes`.
struct RunText {
    const std::uint8_t *bytes;
    std::size_t size;
    const CharacterSymbols *symbols = nullptr;
    bool is_spaced = false;
};

// Merges the text as in SPEC.md 3.5, in time that hardly grows with its length, since the pairs of
// a run are merged together: a million letters a take 0.3 ms to read; the core takes 17 with
// cl100k, 44 with Llama 2. Writes the ids, and returns how many there are; 0 if it does not support
// this text, or if there is no room.
std::size_t merge_runs(const PairTable &pairs, const RunText &text, std::uint32_t *ids,
                       std::size_t capacity);

}  // namespace tokexport
