// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Processing eight bytes at a time in plain C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tokexport {

constexpr std::uint64_t low_bits = UINT64_C(0x0101010101010101);

// Eight bytes, the first one lowest.
inline std::uint64_t load_u64(const std::uint8_t *p) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) word |= std::uint64_t(p[i]) << 8 * i;
#else
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
#endif
    return word;
}

// Whether all of some bytes are below 128.
inline bool is_ascii(const std::uint8_t *bytes, std::size_t size) {
    std::uint64_t bits = 0;
    if (size >= 8) {
        for (std::size_t i = 0; i + 8 < size; i += 8) bits |= load_u64(bytes + i);
        bits |= load_u64(bytes + size - 8);
    } else {
        for (std::size_t i = 0; i < size; i++) bits |= bytes[i];
    }
    return !(bits & low_bits << 7);
}

inline unsigned count_bits(std::uint64_t v) {
#if defined(__GNUC__)
    return static_cast<unsigned>(__builtin_popcountll(v));
#else
    unsigned n = 0;
    for (; v; v &= v - 1) n++;
    return n;
#endif
}

// The lowest bit of each byte, as eight bits in the same order.
inline std::uint64_t gather(std::uint64_t word) {
    return (word & low_bits) * UINT64_C(0x0102040810204080) >> 56;
}

// The number of zero bits below the lowest one; v is not 0.
inline unsigned lowest_bit(std::uint64_t v) {
#if defined(__GNUC__)
    return static_cast<unsigned>(__builtin_ctzll(v));
#else
    unsigned n = 0;
    for (; !(v & 1); v >>= 1) n++;
    return n;
#endif
}

}  // namespace tokexport
