// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The symbols that BPE over characters starts from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pair_table.h"
#include "tokexport.h"

namespace tokexport {

// A character is one symbol, or its bytes are one symbol each (SPEC.md 3.5). Immutable, and shared
// by threads.
class CharacterSymbols {
public:
    // The file must satisfy tkx_bulk_is_characters.
    CharacterSymbols(const tkx &file, const PairTable &pairs);

    // Writes the symbols of a text, at most one per byte, and returns their number. 0: the core has
    // to merge the text, because it has an unknown character, or because it repeats the tied symbol
    // (PairTable::tied_symbol).
    std::size_t read(const std::uint8_t *bytes, std::size_t size, std::uint32_t *symbols) const;

    // The symbol of a character; PairTable::no_id if only its bytes have symbols, or not even they.
    std::uint32_t symbol(std::uint32_t code_point) const;

private:
    static constexpr std::uint32_t table_size = 1 << 16;  // other code points are rare

    const tkx &file_;
    const PairTable &pairs_;
    std::unique_ptr<std::uint32_t[]> symbols_;  // by code point; PairTable::no_id: none
};

}  // namespace tokexport
