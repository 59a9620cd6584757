// The classes of a splitter: characters that all stages of a file treat alike have one.
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
    // [code point / 64]: the leaf, as its number; [leaf * 64 + code point % 64]: the class
    std::vector<std::uint16_t> leaf_of;
    std::vector<std::uint8_t> leaves;
    std::vector<std::vector<std::uint8_t>> of_stages;  // [class][stage]: the stage's class

    // The class of the character at p, which is valid UTF-8, and its length.
    std::uint8_t read(const std::uint8_t *p, std::size_t &length) const {
        std::uint32_t leaf;
        if (*p < 0x80) {
            length = 1;
            return ascii[*p];
        }
        if (*p < 0xE0) {
            length = 2;
            leaf = p[0] & 31u;
        } else if (*p < 0xF0) {
            length = 3;
            leaf = (p[0] & 15u) << 6 | (p[1] & 63u);
        } else {
            length = 4;
            leaf = (p[0] & 7u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
        }
        return leaves[leaf_size * leaf_of[leaf] + (p[length - 1] & 63u)];
    }
};

// The classes of a file's stages, which have programs that read characters. False where there are
// more than 254.
bool make_classes(const tkx &file, SplitClasses &classes);

}  // namespace tokexport
