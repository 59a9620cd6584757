// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "score_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/bridge/bridge.h"

namespace tokexport {

namespace {

constexpr float limit = TKX_BULK_RESET;

}  // namespace

std::unique_ptr<const ScoreSum> ScoreSum::make(const tkx &file) {
    if (!tkx_bulk_has_sum(&file)) return nullptr;
    std::unique_ptr<ScoreSum> made(new ScoreSum(file));
    std::memcpy(&made->unknown_, file.trie.data + 16, sizeof made->unknown_);
    float largest = std::abs(static_cast<float>(made->unknown_));
    std::size_t longest = 0;
    for (std::uint32_t id = 0; id < file.id_count; id++) {
        const std::uint8_t *bytes;
        std::size_t size;
        std::uint32_t flags;
        if (tkx_token_bytes(&file, id, &bytes, &size) != TKX_OK ||
            tkx_token_flags(&file, id, &flags) != TKX_OK || (flags & TKX_SPECIAL) || !size ||
            id == file.unknown_id)
            continue;
        if (std::memchr(bytes + 1, ' ', size - 1)) return nullptr;
        longest = std::max(longest, size);
        largest = std::max(largest, std::abs(made->score(id)));
    }
    made->largest_ = largest + 0.01f;  // for rounding
    made->near_limit_ = limit - static_cast<float>(longest) * made->largest_;
    return made;
}

inline float ScoreSum::score(std::uint32_t id) const {
    float found;
    std::memcpy(&found, file_.scores.data + 4 * std::size_t(id), sizeof found);
    return found;
}

bool ScoreSum::begins_word(std::uint32_t id) const {
    const std::uint8_t *bytes;
    std::size_t size;
    return tkx_token_bytes(&file_, id, &bytes, &size) == TKX_OK && size && *bytes == ' ';
}

void ScoreSum::add_unknown(float &sum, std::uint32_t characters) const {
    for (; characters; characters--) sum = static_cast<float>(static_cast<double>(sum) + unknown_);
}

// Adds ids with which the sum does not pass the limit.
void ScoreSum::add_all(const UnknownTexts &unknown, float &sum, const std::uint32_t *ids,
                       const std::uint32_t *end) const {
    for (; ids < end; ids++) {
        if (unknown.has(*ids)) add_unknown(sum, unknown.characters(*ids));
        else sum += score(*ids);
    }
}

int ScoreSum::add(tkx_context *ctx, const UnknownTexts &unknown, float &sum,
                  const std::uint32_t *ids, std::size_t count) const {
    const std::uint32_t *const end = ids + count;
    int code = TKX_OK;
    while (ids < end && code == TKX_OK) {
        const std::uint32_t *p = ids;
        float after = sum;
        for (; p < end && std::abs(after) <= near_limit_; p++) {
            if (!unknown.has(*p)) {
                after += score(*p);
                continue;
            }
            const std::uint32_t characters = unknown.characters(*p);
            if (std::abs(after) + static_cast<float>(characters) * largest_ > limit) break;
            add_unknown(after, characters);
        }
        if (p == end) {
            sum = after;
            return TKX_OK;
        }
        while (p > ids && !begins_word(*p)) p--;
        add_all(unknown, sum, ids, p);
        ids = p;
        do ids = add_word(ctx, unknown, sum, ids, end, code);
        while (ids < end && std::abs(sum) > near_limit_ && code == TKX_OK);
    }
    return code;
}

// Adds a word, whose text the core looks at once more if the sum may pass the limit in it.
const std::uint32_t *ScoreSum::add_word(tkx_context *ctx, const UnknownTexts &unknown, float &sum,
                                        const std::uint32_t *ids, const std::uint32_t *end,
                                        int &code) const {
    std::string text;
    const std::uint32_t *const first = ids;
    do {
        const std::uint8_t *bytes;
        std::size_t size;
        if (unknown.has(*ids)) {
            text += unknown.text(*ids);
            continue;
        }
        code = tkx_token_bytes(&file_, *ids, &bytes, &size);
        if (code != TKX_OK) return end;
        text.append(reinterpret_cast<const char *>(bytes), size);
    } while (++ids < end && !begins_word(*ids));
    if (std::abs(sum) + static_cast<float>(text.size()) * largest_ <= limit) {
        add_all(unknown, sum, first, ids);
        return ids;
    }
    *tkx_bulk_sum(ctx) = sum;
    code = tkx_bulk_add_text(ctx, reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
    sum = static_cast<float>(*tkx_bulk_sum(ctx));
    return ids;
}

}  // namespace tokexport
