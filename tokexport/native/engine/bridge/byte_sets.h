// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Finds which of eight sets each of 32 bytes may belong to.
#pragma once

#include <cstdint>

#include "bridge.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TOKEXPORT_AVX2 __attribute__((target("avx2,bmi")))

namespace tokexport {

inline bool has_avx2() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
}

struct ByteSets {
    __m256i low, high;
};

TOKEXPORT_AVX2 inline ByteSets load_sets(const tkx_bulk_byte_sets &sets) {
    return {
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(sets.low))),
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(sets.high)))};
}

// The sets of each byte, one bit per set.
TOKEXPORT_AVX2 inline __m256i sets_of(const std::uint8_t *p, const ByteSets &sets) {
    const __m256i four_bits = _mm256_set1_epi8(15),
                  bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)),
                  low = _mm256_and_si256(bytes, four_bits),
                  high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), four_bits);
    return _mm256_and_si256(_mm256_shuffle_epi8(sets.low, low),
                            _mm256_shuffle_epi8(sets.high, high));
}

// A bit for each byte, set if the byte is not 0.
TOKEXPORT_AVX2 inline std::uint32_t bits_of(__m256i bytes) {
    return ~static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())));
}

}  // namespace tokexport

#endif
