// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "added_starts.h"

#include <cstdint>

#include "byte_sets.h"

namespace tokexport {

namespace {

using Skip = decltype(tkx_bulk_starts::skip);

#if defined(__x86_64__) && defined(__GNUC__)

TOKEXPORT_AVX2 const std::uint8_t *skip_avx2(const tkx_bulk_starts *starts, const std::uint8_t *p,
                                             const std::uint8_t *end) {
    const ByteSets first = load_sets(starts->first), second = load_sets(starts->second);
    for (; end - p > 32; p += 32) {
        const std::uint32_t places =
            bits_of(_mm256_and_si256(sets_of(p, first), sets_of(p + 1, second)));
        if (places) return p + __builtin_ctz(places);
    }
    return p;
}

Skip fastest_skip(unsigned width) { return width >= 256 && has_avx2() ? skip_avx2 : nullptr; }

#else

Skip fastest_skip(unsigned) { return nullptr; }

#endif

}  // namespace

AddedStarts::AddedStarts(tkx &file, unsigned width) : raw_{}, normalized_{} {
    raw_.skip = normalized_.skip = fastest_skip(width);
    if (!raw_.skip) return;
    tkx_bulk_find_starts(&file, 0, &raw_);
    tkx_bulk_find_starts(&file, 1, &normalized_);
}

}  // namespace tokexport
