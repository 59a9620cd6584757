// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The classes of a splitter: characters that all stages of a file treat alike share a class.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tokexport.h"

namespace tokexport {

struct SplitClasses {
    static constexpr std::size_t leaf_size = 64;
    static constexpr std::size_t leaf_count = 0x110000 / leaf_size;

    std::array<std::uint8_t, 128> ascii;
    // [code point / 64]: the number of its leaf; [leaf * 64 + code point % 64]: the class
    std::vector<std::uint16_t> leaf_of;
    std::vector<std::uint8_t> leaves;
    // [leaf number], for characters of two and three bytes: the class that all of them have, or
    // not_shared
    static constexpr std::uint8_t not_shared = 255;
    std::array<std::uint8_t, 1024> shared;
    std::vector<std::vector<std::uint8_t>> of_stages;  // [class][stage]: the stage's class

    const std::uint8_t *leaf(std::uint32_t number) const {
        return leaves.data() + leaf_size * leaf_of[number];
    }

    // The leaf number of a character of more than one byte: its code point / 64.
    static std::uint32_t leaf_number(const std::uint8_t *p) {
        if (*p < 0xE0) return p[0] & 31u;
        if (*p < 0xF0) return (p[0] & 15u) << 6 | (p[1] & 63u);
        return (p[0] & 7u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    }

    // The class and the length of the character at p, which is valid UTF-8.
    std::uint8_t read(const std::uint8_t *p, std::size_t &length) const {
        length = *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
        return length == 1 ? ascii[*p] : leaf(leaf_number(p))[p[length - 1] & 63];
    }
};

// The classes of a file's stages, whose programs must read characters. False if there are more than
// 254.
bool make_classes(const tkx &file, SplitClasses &classes);

}  // namespace tokexport
