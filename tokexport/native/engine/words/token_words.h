// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Added tokens of white space, such as the indentations of GPT-NeoX, as pre-tokens: texts are split
// around them, and the word cache finds them by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tokexport.h"

namespace tokexport {

class TokenWords {
public:
    // Published ones have up to 31 bytes.
    static constexpr std::size_t most_bytes = 256;

    // Null if a file has none, or if a segment between added tokens might have the bytes of one.
    static std::unique_ptr<const TokenWords> make(const tkx &file);

    // Whether an added token is one of them; they cover just their bytes in a text.
    bool has(std::uint32_t id) const {
        return id - first_id_ < has_.size() && has_[id - first_id_];
    }

    // The id of the one that a pre-token is, or TKX_NONE.
    std::uint32_t find(const std::uint8_t *bytes, std::size_t size) const;

private:
    struct Word {
        const std::uint8_t *bytes;
        std::size_t size;
        std::uint32_t id;
    };

    bool number_ids();

    std::vector<Word> words_;
    std::vector<bool> has_;  // the ids from first_id_ on
    std::uint32_t first_id_ = 0;
};

}  // namespace tokexport
