// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// UTF-8 by AVX2: 8 characters at a time, 32 where all are ASCII.
#include "utf8.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,popcnt")))

namespace tokexport {

namespace {

constexpr std::size_t lanes = 8, block = 32;

// How to move the bytes of four characters together. Each has four bytes, of which the last ones
// count; how many is 1 more than two bits of the index: bit i for character i, and bit 4 + i.
struct Shuffles {
    std::uint8_t bytes[256][16];
};

constexpr Shuffles make_shuffles() {
    Shuffles made{};
    for (unsigned index = 0; index < 256; index++) {
        unsigned used = 0;
        for (unsigned i = 0; i < 4; i++) {
            const unsigned size = 1 + (index >> i & 1) + 2 * (index >> (4 + i) & 1);
            for (unsigned k = 4 - size; k < 4; k++)
                made.bytes[index][used++] = static_cast<std::uint8_t>(4 * i + k);
        }
    }
    return made;
}

constexpr Shuffles shuffles = make_shuffles();

AVX2 inline __m256i all(std::uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }

AVX2 inline __m256i load256(const void *p) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(p));
}

// 8 characters.
AVX2 inline __m256i load(const std::uint8_t *p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
}
AVX2 inline __m256i load(const std::uint16_t *p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
}
AVX2 inline __m256i load(const std::uint32_t *p) { return load256(p); }

// Writes 32 characters as one byte each; returns whether that was right: all are ASCII.
AVX2 inline bool write_ascii(const std::uint8_t *p, std::uint8_t *out) {
    const __m256i bytes = load256(p);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), bytes);
    return _mm256_movemask_epi8(bytes) == 0;
}
AVX2 inline bool write_ascii(const std::uint16_t *p, std::uint8_t *out) {
    const __m256i a = load256(p), b = load256(p + 16);
    const __m256i packed = _mm256_packus_epi16(a, b);  // by halves: a, b, a, b
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), _mm256_permute4x64_epi64(packed, 0xD8));
    return _mm256_testz_si256(_mm256_or_si256(a, b), _mm256_set1_epi16(~0x7F)) != 0;
}
AVX2 inline bool write_ascii(const std::uint32_t *p, std::uint8_t *out) {
    const __m256i a = load256(p), b = load256(p + 8), c = load256(p + 16), d = load256(p + 24);
    const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out),
                        _mm256_permutevar8x32_epi32(packed, order));
    const __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
    return _mm256_testz_si256(any, all(~0x7Fu)) != 0;
}

// The first bit of each lane.
AVX2 inline unsigned bits_of(__m256i v) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(v)));
}

AVX2 inline std::uint8_t *write_four(__m128i bytes, unsigned index, std::uint8_t *out) {
    const __m128i order = _mm_loadu_si128(reinterpret_cast<const __m128i *>(shuffles.bytes[index]));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out), _mm_shuffle_epi8(bytes, order));
    return out + 4 + _mm_popcnt_u32(index) + _mm_popcnt_u32(index >> 4);
}

// Writes 8 characters: each as four bytes, of which only those it needs are moved to the output.
AVX2 inline std::uint8_t *write_lanes(__m256i c, std::uint8_t *out) {
    const __m256i two = _mm256_cmpgt_epi32(c, all(0x7F)), three = _mm256_cmpgt_epi32(c, all(0x7FF)),
                  four = _mm256_cmpgt_epi32(c, all(0xFFFF));
    // The character from bit 18, 12, 6 and 0 on, each in a byte, the last one on top.
    const __m256i ends = _mm256_or_si256(
        _mm256_srli_epi32(c, 18),
        _mm256_and_si256(_mm256_slli_epi32(c, 24),
                         _mm256_blendv_epi8(all(0x7F000000), all(0x3F000000), two)));
    const __m256i middle =
        _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(c, 4), all(0x3F00)),
                        _mm256_and_si256(_mm256_slli_epi32(c, 10), all(0x3F0000)));
    __m256i marks = _mm256_and_si256(two, all(0x80C00000));
    marks = _mm256_blendv_epi8(marks, all(0x8080E000), three);
    marks = _mm256_blendv_epi8(marks, all(0x808080F0), four);
    const __m256i bytes = _mm256_or_si256(_mm256_or_si256(ends, middle), marks);
    const unsigned odd = bits_of(_mm256_xor_si256(_mm256_xor_si256(two, three), four)),
                   high = bits_of(three);
    out = write_four(_mm256_castsi256_si128(bytes), (odd & 15) | (high & 15) << 4, out);
    return write_four(_mm256_extracti128_si256(bytes, 1), odd >> 4 | (high & 0xF0), out);
}

template <class Character>
AVX2 std::size_t write_characters(const Character *p, std::size_t count, std::uint8_t *out) {
    std::uint8_t *const first = out;
    const Character *const end = p + count;
    __m256i surrogates = _mm256_setzero_si256();
    while (end - p >= static_cast<std::ptrdiff_t>(block)) {
        if (write_ascii(p, out)) {
            p += block;
            out += block;
            continue;
        }
        for (const Character *const stop = p + block; p < stop; p += lanes) {
            const __m256i c = load(p);
            surrogates = _mm256_or_si256(
                surrogates, _mm256_cmpeq_epi32(_mm256_and_si256(c, all(0xFFFFF800)), all(0xD800)));
            out = write_lanes(c, out);
        }
    }
    const std::size_t rest = utf8_writer(0)(p, sizeof *p, static_cast<std::size_t>(end - p), out);
    if (rest == not_utf8 || !_mm256_testz_si256(surrogates, surrogates)) return not_utf8;
    return static_cast<std::size_t>(out - first) + rest;
}

AVX2 std::size_t write(const void *characters, int kind, std::size_t count, std::uint8_t *out) {
    switch (kind) {
        case 1: return write_characters(static_cast<const std::uint8_t *>(characters), count, out);
        case 2: return write_characters(static_cast<const std::uint16_t *>(characters), count, out);
        default:
            return write_characters(static_cast<const std::uint32_t *>(characters), count, out);
    }
}

}  // namespace

WriteUtf8 utf8_writer_avx2() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? write : nullptr;
}

}  // namespace tokexport

#else

namespace tokexport {

WriteUtf8 utf8_writer_avx2() { return nullptr; }

}  // namespace tokexport

#endif
