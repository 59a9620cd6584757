// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Runs of unknown text in the word cache: their unknown id does not tell how often the score of an
// unknown character was added to the sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/words/word_cache.h"
#include "tokexport.h"

namespace tokexport {

// Ids beyond those of the file, which stand for the unknown id of one run each, as long as they are
// in the engine.
class UnknownTexts {
public:
    UnknownTexts(std::uint32_t first, std::uint32_t unknown) : first_(first), unknown_(unknown) {}

    // The id of a text, the same for all equal ones; TKX_NONE if it is longer than any word in the
    // cache, or if there are too many.
    std::uint32_t id_of(const std::uint8_t *text, std::size_t size) {
        if (size > WordRing::longest) return TKX_NONE;
        if (places_.empty()) places_.resize(2 * most);
        const std::string_view given(reinterpret_cast<const char *>(text), size);
        std::size_t place = hash_of(text, size) & (2 * most - 1);
        for (; places_[place]; place = (place + 1) & (2 * most - 1))
            if (text_of(texts_[places_[place] - 1]) == given) return first_ + places_[place] - 1;
        if (texts_.size() == most || first_ + texts_.size() >= id_mask) return TKX_NONE;
        std::uint32_t characters = 0;
        for (const char c : given) characters += (c & 0xC0) != 0x80;
        texts_.push_back({bytes_.size(), static_cast<std::uint32_t>(size), characters});
        bytes_ += given;
        places_[place] = static_cast<std::uint32_t>(texts_.size());
        return first_ + places_[place] - 1;
    }

    bool has(std::uint32_t id) const { return id >= first_; }
    std::string_view text(std::uint32_t id) const { return text_of(texts_[id - first_]); }
    std::uint32_t characters(std::uint32_t id) const { return texts_[id - first_].characters; }

    // Puts the unknown id in place of these ids.
    void resolve(std::uint32_t *ids, std::size_t count) const {
        if (texts_.empty()) return;
        for (std::size_t i = 0; i < count; i++) ids[i] = ids[i] < first_ ? ids[i] : unknown_;
    }

private:
    static constexpr std::size_t most = std::size_t(1) << 16;

    struct Text {
        std::size_t from;  // in bytes_
        std::uint32_t size, characters;
    };
    std::string_view text_of(const Text &text) const {
        return std::string_view(bytes_).substr(text.from, text.size);
    }
    static std::size_t hash_of(const std::uint8_t *text, std::size_t size) {
        std::uint64_t h = size, last = 0;
        for (; size >= 8; text += 8, size -= 8) {
            h = (h ^ load64(text)) * WordCache::k1;
            h ^= h >> 32;
        }
        for (; size; size--) last = last << 8 | *text++;
        return static_cast<std::size_t>((h ^ last) * WordCache::k2 >> 40);
    }

    const std::uint32_t first_, unknown_;
    std::string bytes_;
    std::vector<Text> texts_;
    std::vector<std::uint32_t> places_;  // by hash: the number of a text, from 1 on
};

}  // namespace tokexport
