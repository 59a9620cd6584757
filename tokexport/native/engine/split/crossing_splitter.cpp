// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "crossing_splitter.h"

#include <algorithm>

#include "engine/eight_bytes.h"
#include "engine/merges/character_table.h"
#include "splitter.h"

namespace tokexport {

namespace {

constexpr std::uint64_t high = UINT64_C(0x8080808080808080);

constexpr std::size_t map_offset = 8 + 2048;  // in XPRS: a header, and the map for ASCII

// What the normalizer makes of a space. In text that is not normalized, the maps do not cover it.
constexpr std::uint32_t space_mark = 0x2581;

std::uint32_t load_u32(const std::uint8_t *p) {
    return p[0] | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 | std::uint32_t(p[3]) << 24;
}

// Whether the next four characters have three bytes each, in valid UTF-8.
inline bool are_of_three_bytes(const std::uint8_t *p) {
    const unsigned all = p[0] & p[3] & p[6] & p[9], any = p[0] | p[3] | p[6] | p[9];
    return all >= 0xE0 && any < 0xF0;
}

inline std::uint32_t decode_three_bytes(const std::uint8_t *p) {
    return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
}

// Whether a character of three bytes begins here. There are bytes that are no UTF-8.
bool is_wide(const std::uint8_t *p) {
    return p[0] >= 0xE0 && p[0] < 0xF0 && (p[1] & p[2] & 0xC0) == 0x80 && (p[1] | p[2]) < 0xC0;
}

// The character before a wide one, or its last 16 bits; any number where there are no characters.
std::uint32_t character_before(const std::uint8_t *begin, const std::uint8_t *p) {
    const std::uint8_t *q = p - 1;
    while (q > begin && p - q < 4 && (*q & 0xC0) == 0x80) q--;
    return decode_character(q) & (TKX_BULK_POINTS - 1);
}

}  // namespace

std::unique_ptr<const CrossingSplitter> CrossingSplitter::of_cuts(const tkx &file) {
    auto made = std::make_unique<CrossingSplitter>();
    made->set_ascii_cuts(file.cuts.data, true);
    made->file_ = &file;
    made->traits_.reset(new std::uint32_t[TKX_BULK_POINTS]());
    const auto points = std::make_unique<tkx_bulk_points>();
    if (!tkx_bulk_find_points(&file, points.get())) return made;
    const auto has = [](const std::uint64_t *set, std::uint32_t c) {
        return static_cast<std::uint32_t>(set[c >> 6] >> (c & 63) & 1);
    };
    for (std::uint32_t c = 0; c < TKX_BULK_POINTS; c++)
        made->traits_[c] =
            points->images[c] | has(points->left, c) * before_cut |
            has(points->right, c) * after_cut | has(points->tokens, points->images[c]) * token |
            has(points->unchanged, c) * unchanged | (c < 128 ? has(points->spaces, c) * space : 0);
    made->keeps_space_ = points->keeps_space;
    return made;
}

// Makes the map of the pairs with a wide character that a token joins: most tokens have none. With
// 16 bits or more per token, 3 to 6 % of all other pairs have the bit of one.
void CrossingSplitter::join_tokens() const {
    unsigned bits = 12;
    while (std::size_t(1) << bits < 16 * std::size_t(file_->id_count)) bits++;
    joined_.reset(new std::uint8_t[std::size_t(1) << (bits - 3)]());
    map_ = joined_.get();
    shift_ = 64 - bits;
    const auto join = [this](std::uint32_t left, std::uint32_t right) {
        const std::size_t bit = bit_of(left, right);
        joined_[bit >> 3] |= static_cast<std::uint8_t>(1 << (bit & 7));
    };
    const std::uint8_t *const limit = file_->bytes.data + file_->bytes.size;
    for (std::uint32_t id = 0; id < file_->id_count; id++) {
        const std::uint8_t *bytes;
        std::size_t size;
        if (tkx_token_bytes(file_, id, &bytes, &size) != TKX_OK) continue;
        const std::uint8_t *const end = bytes + size;
        for (const std::uint8_t *p = bytes; end - p >= 3;) {
            if (limit - p >= 8) {
                const std::uint64_t word = load_u64(p), wide = word & word << 1 & word << 2 & high;
                p += wide ? lowest_bit(wide) / 8 : 8;
                if (!wide || end - p < 3) continue;
            }
            if (!is_wide(p)) {
                p++;
                continue;
            }
            const std::uint32_t c = decode_three_bytes(p);
            if (p > bytes) join(character_before(bytes, p), c);
            p += 3;
            if (p < end && *p < 0xE0 && end - p >= std::ptrdiff_t(character_size(*p)))
                join(c, decode_character(p));
        }
    }
}

bool CrossingSplitter::cuts_characters(const std::uint8_t *text, std::size_t size) const {
    if (!file_) return true;
    // A space in 64 bytes: with more, most parts recur, and are short.
    const std::uint8_t *const end = text + std::min<std::size_t>(size, 8192);
    if (64 * std::count(text, end, ' ') > end - text) return false;
    std::call_once(once_, [this] { join_tokens(); });
    return true;
}

bool CrossingSplitter::begins_inner(const std::uint8_t *part) const {
    return (traits_of(decode_character(part)) & after_cut) != 0;
}

bool CrossingSplitter::is_unchanged(const std::uint8_t *part, std::size_t size) const {
    std::size_t at = *part == ' ' && keeps_space_ && size > 1;
    while (at < size && (traits_of(decode_character(part + at)) & unchanged))
        at += character_size(part[at]);
    return at >= size;
}

void CrossingSplitter::set_ascii_cuts(const std::uint8_t *bits, bool is_cut) {
    ascii_cuts_.reset(new std::uint64_t[(1 << 16) / 64]());
    for (std::uint32_t left = 0; left < 128; left++) {
        for (std::uint32_t right = 0; right < 128; right++) {
            const std::size_t bit = 128 * left + right, two = left | right << 8;
            if ((bits[bit >> 3] >> (bit & 7) & 1) == is_cut)
                ascii_cuts_[two >> 6] |= std::uint64_t(1) << (two & 63);
        }
    }
}

std::unique_ptr<const CrossingSplitter> CrossingSplitter::make(const tkx &file) {
    if (!tkx_bulk_is_characters(&file)) return nullptr;
    auto made = std::make_unique<CrossingSplitter>();
    made->map_ = file.crossings.data + map_offset;
    made->shift_ = file.crossing_shift;
    made->rule_ = load_u32(file.crossings.data);
    made->set_ascii_cuts(file.crossings.data + 8, false);
    if (!made->rule_) return made;
    made->known_.reset(new std::uint64_t[known_count / 64]());
    for (std::uint32_t c = 0; c < known_count; c++)
        if (tkx_bulk_symbol(&file, c) != TKX_NONE)
            made->known_[c >> 6] |= std::uint64_t(1) << (c & 63);
    return made;
}

std::size_t CrossingSplitter::last_cut(const std::uint8_t *text, std::size_t size) const {
    std::size_t right = size;
    const auto step_back = [&](std::size_t at) {
        while (at > 0 && (text[--at] & 0xC0) == 0x80) continue;
        return at;
    };
    // The last character may be incomplete.
    for (right = step_back(step_back(size)); right > 0;) {
        const std::size_t left = step_back(right);
        const std::uint32_t x = decode_character(text + left), y = decode_character(text + right);
        const bool has_mark = x == space_mark || y == space_mark;
        if (!has_mark && ((x | y) < 128 ? is_ascii_cut(x | y << 8) : is_cut(x, y))) return right;
        right = left;
    }
    return 0;
}

CrossingRun::CrossingRun(const CrossingSplitter &splitter, const std::uint8_t *text,
                         std::size_t size)
    : splitter_(splitter),
      text_(text),
      end_(text + size),
      at_(text + character_size(*text)),
      left_(decode_character(text)),
      cuts_characters_(splitter.cuts_characters(text, size)) {}

std::size_t CrossingRun::next(std::uint32_t *ends) {
    const std::uint32_t *const full = ends + SplitRun::block - 9;
    const std::uint8_t *at = at_;
    std::uint32_t *out = ends, left = left_;
    while (at < end_ && out < full) {
        if (end_ - at >= 8 && left < 128 && !(load_u64(at) & high)) {
            // Eight boundaries: each is written, and kept if it is a cut. A branch could not be
            // predicted.
            const std::uint64_t word = load_u64(at);
            const std::uint32_t from = static_cast<std::uint32_t>(at - text_);
            *out = from;
            out += splitter_.is_ascii_cut(left | (word & 0xFF) << 8);
            for (std::uint32_t i = 1; i < 8; i++) {
                *out = from + i;
                out += splitter_.is_ascii_cut(word >> 8 * (i - 1) & 0xFFFF);
            }
            left = static_cast<std::uint32_t>(word >> 56);
            at += 8;
            continue;
        }
        if (end_ - at >= 12 && are_of_three_bytes(at)) {
            // Four at once: no load waits for the size of the character before.
            for (std::uint32_t i = 0; i < 12; i += 3) {
                const std::uint32_t right = decode_three_bytes(at + i);
                *out = static_cast<std::uint32_t>(at - text_) + i;
                out += splitter_.is_cut(left, right, cuts_characters_);
                left = right;
            }
            at += 12;
            continue;
        }
        const std::uint32_t right = decode_character(at);
        *out = static_cast<std::uint32_t>(at - text_);
        out += (left | right) < 128 ? splitter_.is_ascii_cut(left | right << 8)
                                    : splitter_.is_cut(left, right, cuts_characters_);
        left = right;
        at += character_size(*at);
    }
    at_ = at;
    left_ = left;
    if (at == end_ && !is_done_) {
        *out++ = static_cast<std::uint32_t>(at - text_);
        is_done_ = true;
    }
    return static_cast<std::size_t>(out - ends);
}

}  // namespace tokexport
