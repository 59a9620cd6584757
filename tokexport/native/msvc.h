// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Replacements for builtins of GCC and Clang. Microsoft's compiler includes this before each source
// of the extension (CMakeLists.txt); no other compiler sees it.
#pragma once

#include <intrin.h>

#define __builtin_expect(value, expected) (value)
#define __builtin_prefetch(address) ((void)(address))

// The number must not be 0.
inline int __builtin_ctz(unsigned number) {
    unsigned long bit;
    _BitScanForward(&bit, number);
    return static_cast<int>(bit);
}

inline int __builtin_clz(unsigned number) {
    unsigned long bit;
    _BitScanReverse(&bit, number);
    return 31 - static_cast<int>(bit);
}

inline int __builtin_clzll(unsigned long long number) {
    const unsigned high = static_cast<unsigned>(number >> 32);
    return high ? __builtin_clz(high) : 32 + __builtin_clz(static_cast<unsigned>(number));
}

template <class Unsigned>
inline bool __builtin_add_overflow(Unsigned a, Unsigned b, Unsigned *sum) {
    *sum = a + b;
    return *sum < a;
}

template <class Unsigned>
inline bool __builtin_mul_overflow(Unsigned a, Unsigned b, Unsigned *product) {
    *product = a * b;
    return a != 0 && *product / a != b;
}
