// The first symbols of BPE over characters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pair_table.h"
#include "tokexport.h"

namespace tokexport {

// A character has a symbol, or its bytes have one each (SPEC.md 3.5). Immutable, and shared by
// threads.
class CharacterSymbols {
public:
    // Of a file that tkx_bulk_is_characters.
    CharacterSymbols(const tkx &file, const PairTable &pairs);

    // Writes the symbols of a text, at most as many as it has bytes, and returns how many; 0: the
    // core has to merge it. It has a character that is unknown, or the order of its merges is not
    // that of symbols.
    std::size_t read(const std::uint8_t *bytes, std::size_t size, std::uint32_t *symbols) const;

    // Of a character; PairTable::no_id: its bytes have symbols, or nothing has.
    std::uint32_t symbol(std::uint32_t code_point) const;

private:
    static constexpr std::uint32_t table_size = 1 << 16;  // others are rare

    const tkx &file_;
    const PairTable &pairs_;
    std::unique_ptr<std::uint32_t[]> symbols_;  // of code points; PairTable::no_id: none
};

}  // namespace tokexport
