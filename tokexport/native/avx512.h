// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// What is needed to use AVX-512 with CD, DQ, VBMI and VBMI2, if the compiler supports it.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#if !defined(__clang__)
// GCC 12 reports the lanes that the intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,"    \
                          "bmi,bmi2,popcnt")))

namespace tokexport {

// Whether the processor supports it.
inline bool has_avx512() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi2");
}

}  // namespace tokexport

#endif
