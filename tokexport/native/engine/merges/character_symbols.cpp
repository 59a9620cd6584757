// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "character_symbols.h"

#include "character_table.h"
#include "engine/bridge/bridge.h"

namespace tokexport {

CharacterSymbols::CharacterSymbols(const tkx &file, const PairTable &pairs)
    : file_(file),
      pairs_(pairs),
      symbols_(new std::uint32_t[table_size]) {
    for (std::uint32_t c = 0; c < table_size; c++) {
        const std::uint32_t id = tkx_bulk_symbol(&file, c);
        symbols_[c] = id == TKX_NONE ? PairTable::no_id : id;
    }
}

std::uint32_t CharacterSymbols::symbol(std::uint32_t code_point) const {
    if (code_point < table_size) return symbols_[code_point];
    const std::uint32_t id = tkx_bulk_symbol(&file_, code_point);
    return id == TKX_NONE ? PairTable::no_id : id;
}

std::size_t CharacterSymbols::read(const std::uint8_t *bytes, std::size_t size,
                                   std::uint32_t *symbols) const {
    const std::uint32_t tied = pairs_.tied_symbol();
    std::uint32_t *out = symbols, before = PairTable::no_id;
    for (const std::uint8_t *p = bytes, *end = bytes + size; p < end;) {
        const std::uint32_t made = symbol(decode_character(p));
        const std::size_t length = character_size(*p);
        if (made != PairTable::no_id) {
            if (made == before && made == tied) return 0;
            *out++ = before = made;
        } else {
            for (std::size_t i = 0; i < length; i++) {
                *out = pairs_.byte_id(p[i]);
                if (*out == PairTable::no_id) return 0;
                if (*out == before && *out == tied) return 0;
                before = *out++;
            }
        }
        p += length;
    }
    return static_cast<std::size_t>(out - symbols);
}

}  // namespace tokexport
