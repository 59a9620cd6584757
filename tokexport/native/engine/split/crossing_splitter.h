// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Where a text can be cut for a model without a pre-tokenizer: where no merge or token crosses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/bridge/bridge.h"
#include "tokexport.h"

namespace tokexport {

// The pairs of characters between which a text can be cut (SPEC.md, annex B), from XPRS. Immutable,
// and shared by threads.
class CrossingSplitter {
public:
    // Null if the file is not BPE over characters with XPRS.
    static std::unique_ptr<const CrossingSplitter> make(const tkx &file);

    // For text that is not normalized, from CUTS; and where the normalizer changes both sides as if
    // the other were not there, and no token joins what becomes of the two characters.
    static std::unique_ptr<const CrossingSplitter> of_cuts(const tkx &file);

    // For two ASCII characters, given as two bytes, the first one lowest.
    bool is_ascii_cut(std::uint32_t two) const { return ascii_cuts_[two >> 6] >> (two & 63) & 1; }

    // For two characters that are not both ASCII. False is always safe. Of CUTS, without
    // cuts_characters: only before a space.
    bool is_cut(std::uint32_t left, std::uint32_t right, bool cuts_characters = true) const {
        if (traits_) return is_cut_by_traits(traits_of(left), traits_of(right), cuts_characters);
        if (!rule_) return !is_joined(left, right);
        return !is_joined(left, right) & (is_known(left) + is_known(right) >= rule_);
    }

    // Of CUTS: whether a part begins with a character that may follow a cut of the second kind, and
    // whether the normalizer does not change a part, which begins with such a character or a space.
    bool begins_inner(const std::uint8_t *part) const;
    bool is_unchanged(const std::uint8_t *part, std::size_t size) const;

    // Whether a text is cut between characters that are not both ASCII. Of CUTS: if it has few
    // spaces. For the first such text this makes the map: 1 to 13 ms.
    bool cuts_characters(const std::uint8_t *text, std::size_t size) const;

    // The last cut of a text that is not normalized, or 0. The text is valid UTF-8, except that its
    // last character may be incomplete.
    std::size_t last_cut(const std::uint8_t *text, std::size_t size) const;

private:
    // Higher code points count as unknown: no emoji, and no Chinese character in use.
    static constexpr std::uint32_t known_count = 1 << 18;
    static constexpr std::uint32_t first_wide = 0x800;  // of three bytes or more

    // A bit of 128 * left + right is `is_cut` where a text can be cut.
    void set_ascii_cuts(const std::uint8_t *bits, bool is_cut);

    unsigned is_known(std::uint32_t c) const {
        const std::uint32_t in_set = c < known_count ? c : 0;
        return known_[in_set >> 6] >> (in_set & 63) & 1 & (c == in_set);
    }

    std::size_t bit_of(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t h = (left * 0x9E3779B97F4A7C15 ^ right) * 0xD6E8FEB86659FD93;
        return static_cast<std::size_t>(h >> shift_);
    }
    bool is_joined(std::uint32_t left, std::uint32_t right) const {
        const std::size_t bit = bit_of(left, right);
        return map_[bit >> 3] >> (bit & 7) & 1;
    }

    // Of CUTS, for a character: the one that it becomes, whether it may be to the left and to the
    // right of a cut, whether the normalizer leaves it unchanged, and whether it becomes a token.
    enum Trait : std::uint32_t {
        image = 0xFFFF,
        before_cut = 1 << 16,
        after_cut = 1 << 17,
        unchanged = 1 << 18,
        space = 1 << 19,  // becomes one that begins a word
        token = 1 << 20
    };
    std::uint32_t traits_of(std::uint32_t c) const { return traits_[c < TKX_BULK_POINTS ? c : 0]; }
    bool is_cut_by_traits(std::uint32_t left, std::uint32_t right, bool cuts_characters) const {
        if (!(left & before_cut) || !(right & (cuts_characters ? after_cut | space : space)))
            return false;
        // A run of unknown text is one id, so one of the two characters is a token.
        return (right & space) ||
               (((left | right) & token) && ((left | right) & image) >= first_wide &&
                !is_joined(left & image, right & image));
    }

    void join_tokens() const;

    mutable const std::uint8_t *map_ = nullptr;  // as in XPRS
    mutable unsigned shift_ = 0;
    unsigned rule_ = 0;
    std::unique_ptr<std::uint64_t[]> ascii_cuts_;  // 8 KB, for all pairs of bytes
    std::unique_ptr<std::uint64_t[]> known_;  // if there is a rule: the characters with a symbol
    // Of CUTS. The map has only pairs with a wide character, so that most tokens can be skipped.
    std::unique_ptr<std::uint32_t[]> traits_;
    bool keeps_space_ = false;
    const tkx *file_ = nullptr;
    mutable std::unique_ptr<std::uint8_t[]> joined_;
    mutable std::once_flag once_;
};

// Splits one text: valid UTF-8 of less than 4 GB, not empty. The splitter and text must outlive it.
class CrossingRun {
public:
    CrossingRun(const CrossingSplitter &splitter, const std::uint8_t *text, std::size_t size);

    // Like SplitRun::next, with the same room.
    std::size_t next(std::uint32_t *ends);

private:
    const CrossingSplitter &splitter_;
    const std::uint8_t *const text_, *const end_;
    const std::uint8_t *at_;  // the next boundary to check
    std::uint32_t left_;      // the character before it
    const bool cuts_characters_;
    bool is_done_ = false;
};

}  // namespace tokexport
