// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "token_words.h"

#include <algorithm>
#include <cstring>

namespace tokexport {

namespace {

constexpr std::uint32_t most_ids = 1 << 16;

bool is_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

}  // namespace

std::unique_ptr<const TokenWords> TokenWords::make(const tkx &file) {
    auto made = std::make_unique<TokenWords>();
    const std::uint8_t *bytes;
    std::size_t size;
    std::uint32_t id, flags, i;
    for (i = 0; tkx_added_token(&file, i, &id, &bytes, &size, &flags) == TKX_OK; i++) {
        const bool is_always_found = !(flags & (TKX_ADDED_SPECIAL | TKX_ADDED_SINGLE_WORD));
        // Where such a token is not recognised, others inside it are not looked for.
        if (!is_always_found && std::any_of(bytes, bytes + size, is_space)) return nullptr;
        // The normalizer might make the bytes of a token that is searched for before it.
        if (is_always_found && (flags & TKX_ADDED_NORMALIZED) &&
            !(flags & (TKX_ADDED_LSTRIP | TKX_ADDED_RSTRIP)) && size <= most_bytes &&
            std::all_of(bytes, bytes + size, is_space))
            made->words_.push_back({bytes, size, id});
    }
    if (!made->number_ids()) return nullptr;
    std::size_t count = 0;
    for (i = 0; tkx_added_token(&file, i, &id, &bytes, &size, &flags) == TKX_OK; i++)
        count += made->has(id);
    return count == made->words_.size() ? std::move(made) : nullptr;
}

bool TokenWords::number_ids() {
    if (words_.empty()) return false;
    const auto [least, most] = std::minmax_element(
        words_.begin(), words_.end(), [](const Word &a, const Word &b) { return a.id < b.id; });
    first_id_ = least->id;
    if (most->id - first_id_ >= most_ids) return false;
    has_.resize(most->id - first_id_ + std::size_t(1));
    for (const Word &word : words_) has_[word.id - first_id_] = true;
    return true;
}

std::uint32_t TokenWords::find(const std::uint8_t *bytes, std::size_t size) const {
    for (const Word &word : words_)
        if (word.size == size && !std::memcmp(word.bytes, bytes, size)) return word.id;
    return TKX_NONE;
}

}  // namespace tokexport
