// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Runs of unknown text in the word cache: their unknown id does not tell how often the score of an
// unknown character was added to the sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tokexport.h"
#include "word_cache.h"

namespace tokexport {

// Ids beyond those of the file, which stand for the unknown id of one run each, as long as they are
// in the engine.
class UnknownTexts {
public:
    UnknownTexts(std::uint32_t first, std::uint32_t unknown) : first_(first), unknown_(unknown) {}

    // The id of a text, the same for all equal ones; TKX_NONE if there are too many.
    std::uint32_t id_of(const std::uint8_t *text, std::size_t size) {
        if (texts_.size() == most || first_ + texts_.size() >= id_mask) return TKX_NONE;
        const auto id = static_cast<std::uint32_t>(first_ + texts_.size());
        const auto [place, is_new] =
            ids_.emplace(std::string(reinterpret_cast<const char *>(text), size), id);
        if (is_new) texts_.push_back(&place->first);
        return place->second;
    }

    bool has(std::uint32_t id) const { return id >= first_; }
    const std::string &text(std::uint32_t id) const { return *texts_[id - first_]; }

    // Puts the unknown id in place of these ids.
    void resolve(std::uint32_t *ids, std::size_t count) const {
        if (texts_.empty()) return;
        for (std::size_t i = 0; i < count; i++) ids[i] = ids[i] < first_ ? ids[i] : unknown_;
    }

private:
    static constexpr std::size_t most = std::size_t(1) << 16;

    const std::uint32_t first_, unknown_;
    std::unordered_map<std::string, std::uint32_t> ids_;
    std::vector<const std::string *> texts_;
};

}  // namespace tokexport
