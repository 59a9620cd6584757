// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// What merges do at the boundaries of characters; derived from the vocabulary of a file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pair_table.h"
#include "tokexport.h"

namespace tokexport {

// A boundary between two characters x and y of a pre-token is crossed if some token has both of
// them, whole and adjacent; it is crossed in part if some token has, at its own end, only a part of
// one of them next to the other or a part of it. A merge across the boundary makes such a token: if
// there is none, no merge crosses, and a pre-token may be cut there. If no boundary of a character
// is crossed in part, merges with its neighbours take it whole, after its own bytes are merged. A
// file has XPRS only if all such merges have greater ranks than those of the bytes: then the bytes
// of all characters may be merged first.
class CharacterTable {
public:
    static constexpr std::uint32_t no_symbol = 0x1FFFFF;
    // `symbol` knows the code points below this; others are rare.
    static constexpr std::size_t symbol_count = 1 << 16;

    // False: the file is damaged, or has keys that differ from the bytes of its tokens.
    bool fill(const tkx &file, const PairTable &pairs);

    // May be true for a boundary that is not crossed: in ASCII, or by a hash collision.
    bool is_crossed(std::uint32_t x, std::uint32_t y) const {
        const std::size_t bit = place(x, y);
        return ((crossed_[bit >> 6] >> (bit & 63)) & 1) | ((x | y) < 128);
    }

    // False: certainly not crossed in part. `last` and `first` are the bytes at the boundary.
    bool may_be_crossed_in_part(std::uint8_t last, std::uint8_t first) const {
        const std::size_t bit = std::size_t(last) << 8 | first;
        return (part_filter_[bit >> 6] >> (bit & 63)) & 1;
    }

    // `before` and `after`: the sizes in bytes of the characters before and after `at`, at most 4.
    bool is_crossed_in_part(const std::uint8_t *at, std::size_t before, std::size_t after) const;

    // Whether `symbol` knows a code point.
    static bool has_symbol(std::uint32_t code_point) { return code_point < symbol_count; }

    // The single symbol that the bytes of a character merge to; no_symbol if there is none, or if
    // it is not known.
    std::uint32_t symbol(std::uint32_t code_point) const {
        return code_point < symbol_count ? symbols_[code_point] : no_symbol;
    }

private:
    static constexpr unsigned crossed_bits = 19;  // 64 KB; 2^22 bits: 1 to 3 % more cuts

    static std::size_t place(std::uint32_t x, std::uint32_t y) {
        return static_cast<std::size_t>((x * 0x9E3779B97F4A7C15 ^ y) * 0xD6E8FEB86659FD93 >>
                                        (64 - crossed_bits));
    }

    static std::uint64_t pattern(const std::uint8_t *at, std::size_t before, std::size_t after);
    void note_crossed(std::uint32_t x, std::uint32_t y) {
        const std::size_t bit = place(x, y);
        crossed_[bit >> 6] |= std::uint64_t(1) << (bit & 63);
    }

    bool add_characters(const std::uint8_t *bytes, std::size_t size);
    void add_token(const std::uint8_t *bytes, std::size_t size);
    std::uint64_t *slot(std::uint64_t wanted);
    void add_pattern(const std::uint8_t *at, std::size_t before, std::size_t after);

    // A pattern has a shape: how many bytes are on each side. Of most pairs of characters, two or
    // three of the up to 15 shapes are possible.
    static std::uint32_t shape(std::size_t before, std::size_t after) {
        return std::uint32_t(1) << (4 * (before - 1) + (after - 1));
    }

    std::unique_ptr<std::uint64_t[]> crossed_, part_filter_;
    std::array<std::uint16_t, 256> shapes_by_last_{}, shapes_by_first_{};  // bytes at the boundary
    std::unique_ptr<std::uint32_t[]> symbols_;
    std::vector<std::uint64_t> patterns_;  // a hash table with linear probing; its size is a power
    std::size_t pattern_count_ = 0;        // of 2, and 0 is a free slot
};

// The size in bytes of a character with this first byte; 1 for a byte that begins none.
inline std::size_t character_size(std::uint8_t first) {
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// Decodes a character of valid UTF-8.
inline std::uint32_t decode_character(const std::uint8_t *p) {
    if (p[0] < 0x80) return p[0];
    if (p[0] < 0xE0) return (p[0] & 31u) << 6 | (p[1] & 63u);
    if (p[0] < 0xF0) return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    return (p[0] & 7u) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
}

}  // namespace tokexport
