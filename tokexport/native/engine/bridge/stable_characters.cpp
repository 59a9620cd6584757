// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "stable_characters.h"

#include "byte_sets.h"
#include "engine/eight_bytes.h"

namespace tokexport {

namespace {

// For a character that is not ASCII.
inline bool is_stable(const tkx_bulk_stable &stable, const std::uint8_t *p) {
    const unsigned lead = *p;
    if (lead >= 0xF0) return false;
    const bool is_wide = lead >= 0xE0;
    const unsigned block = is_wide ? (lead & 15) << 6 | (p[1] & 63u) : lead & 31;
    return stable.points[block] >> (p[is_wide ? 2 : 1] & 63) & 1;
}

const std::uint8_t *skip(const tkx_bulk_stable *stable, const std::uint8_t *p,
                         const std::uint8_t *end) {
    while (p < end) {
        if (*p < 0x80) {
            p++;
            while (end - p >= 8 && !(load_u64(p) & low_bits << 7)) p += 8;
        } else {
            if (!is_stable(*stable, p)) break;
            p += *p < 0xE0 ? 2 : 3;
        }
    }
    return p;
}

#if defined(__x86_64__) && defined(__GNUC__)

// 32 bytes at a time; only characters that may not be stable are looked up.
TOKEXPORT_AVX2 const std::uint8_t *skip_avx2(const tkx_bulk_stable *stable, const std::uint8_t *p,
                                             const std::uint8_t *end) {
    const ByteSets first = load_sets(stable->first), second = load_sets(stable->second),
                   third = load_sets(stable->third);
    for (; end - p >= 34; p += 32) {
        const __m256i leads = sets_of(p, first);
        if (_mm256_testz_si256(leads, leads)) continue;
        const __m256i inner = _mm256_and_si256(sets_of(p + 1, second), sets_of(p + 2, third));
        std::uint32_t places = bits_of(_mm256_and_si256(leads, inner));
        for (; places; places &= places - 1) {
            const std::uint8_t *at = p + lowest_bit(places);
            if (!is_stable(*stable, at)) return at;
        }
    }
    while (p < end && (*p & 0xC0) == 0x80) p++;
    return skip(stable, p, end);
}

auto fastest_skip(unsigned width) { return width >= 256 && has_avx2() ? skip_avx2 : skip; }

#else

auto fastest_skip(unsigned) { return skip; }

#endif

// The set for the characters that begin with these two bytes. Any choice is correct; this one
// separates frequent stable characters from those that are not stable: kana, General Punctuation,
// and full-width punctuation.
unsigned set_of(unsigned lead, unsigned second) {
    if (lead < 0xE0) return 0;
    switch (lead) {
        case 0xE2: return second == 0x80 ? 1 : 2;
        case 0xE3: return 3;
        case 0xEF: return second < 0xB0 ? 4 : 5;
        default: return lead < 0xF0 ? 6 : 7;
    }
}

void add(tkx_bulk_byte_sets &sets, unsigned byte, unsigned set) {
    sets.low[byte & 15] |= static_cast<std::uint8_t>(1 << set);
    sets.high[byte >> 4] |= static_cast<std::uint8_t>(1 << set);
}

// Fills the sets with the characters that are not stable.
void fill_sets(tkx_bulk_stable &stable) {
    stable.first = stable.second = stable.third = {};
    // In sets 0 and of 0xF0, later bytes are not checked; a short character may end before them.
    for (unsigned byte = 0; byte < 256; byte++) {
        for (unsigned set : {0u, set_of(0xF0, byte)}) {
            add(stable.second, byte, set);
            add(stable.third, byte, set);
        }
    }
    for (unsigned byte = 0xF0; byte < 0xF8; byte++) add(stable.first, byte, set_of(byte, 0));
    for (unsigned block = 2; block < 1024; block++) {
        std::uint64_t others = ~stable.points[block];
        if (!others) continue;
        const unsigned lead = block < 32 ? 0xC0 | block : 0xE0 | block >> 6,
                       second = 0x80 | (block & 63), set = set_of(lead, second);
        add(stable.first, lead, set);
        if (set == 0) continue;
        add(stable.second, second, set);
        for (; others; others &= others - 1) add(stable.third, 0x80 | lowest_bit(others), set);
    }
}

}  // namespace

StableCharacters::StableCharacters(tkx &file, unsigned width) {
    auto stable = std::make_unique<tkx_bulk_stable>();
    for (std::uint32_t i = 0; i < file.op_count; i++) {
        if (!tkx_bulk_find_stable(&file, i, stable.get())) continue;
        fill_sets(*stable);
        stable->skip = fastest_skip(width);
        forms_.push_back(std::move(stable));
        stable = std::make_unique<tkx_bulk_stable>();
    }
    auto pairs = std::make_unique<tkx_bulk_pairs>();
    for (std::uint32_t i = 0; i < file.op_count; i++) {
        if (!tkx_bulk_find_pairs(&file, i, pairs.get())) continue;
        charsmaps_.push_back(std::move(pairs));
        pairs = std::make_unique<tkx_bulk_pairs>();
    }
}

}  // namespace tokexport
