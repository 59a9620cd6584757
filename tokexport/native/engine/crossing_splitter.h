// Where a text can be cut for a model without a pre-tokenizer: where no merge crosses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tokexport.h"

namespace tokexport {

// The pairs of characters between which a text can be cut (SPEC.md, annex B), from XPRS. Immutable,
// and shared by threads.
class CrossingSplitter {
public:
    // Null if the file is not BPE over characters with XPRS.
    static std::unique_ptr<const CrossingSplitter> make(const tkx &file);

    // For text that is not normalized, from CUTS.
    static std::unique_ptr<const CrossingSplitter> of_cuts(const tkx &file);

    // For two ASCII characters, given as two bytes, the first one lowest.
    bool is_ascii_cut(std::uint32_t two) const { return ascii_cuts_[two >> 6] >> (two & 63) & 1; }

    // For two characters that are not both ASCII. False is always safe.
    bool is_cut(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t h = (left * 0x9E3779B97F4A7C15 ^ right) * 0xD6E8FEB86659FD93;
        const std::size_t bit = static_cast<std::size_t>(h >> shift_);
        return !(map_[bit >> 3] >> (bit & 7) & 1) &&
               (!rule_ || is_known(left) + is_known(right) >= rule_);
    }

    // The last cut of a text that is not normalized, or 0. The text is valid UTF-8, except that its
    // last character may be incomplete.
    std::size_t last_cut(const std::uint8_t *text, std::size_t size) const;

private:
    // Higher code points count as unknown: no emoji, and no Chinese character in use.
    static constexpr std::uint32_t known_count = 1 << 18;

    // A bit of 128 * left + right is `is_cut` where a text can be cut.
    void set_ascii_cuts(const std::uint8_t *bits, bool is_cut);

    unsigned is_known(std::uint32_t c) const {
        return c < known_count ? known_[c >> 6] >> (c & 63) & 1 : 0;
    }

    const std::uint8_t *map_ = nullptr;  // as in XPRS
    unsigned shift_ = 0, rule_ = 0;
    std::unique_ptr<std::uint64_t[]> ascii_cuts_;  // 8 KB, for all pairs of bytes
    std::unique_ptr<std::uint64_t[]> known_;       // if there is a rule
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
    bool is_done_ = false;
};

}  // namespace tokexport
