// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// UTF-8 by AVX-512 with VBMI and VBMI2: 16 characters at a time, 64 where all are ASCII.
#include "avx512.h"
#include "utf8.h"

#if defined(__x86_64__) && defined(__GNUC__)

namespace tokexport {

namespace {

AVX512 inline __mmask16 first_lanes(std::size_t count) {
    return static_cast<__mmask16>(_bzhi_u32(0xFFFF, static_cast<unsigned>(count)));
}

AVX512 inline __m512i all(std::uint32_t value) {
    return _mm512_set1_epi32(static_cast<int>(value));
}

// 16 characters, or those that `lanes` selects, then zeros.
AVX512 inline __m512i load(const std::uint8_t *p, __mmask16 lanes) {
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, p));
}
AVX512 inline __m512i load(const std::uint16_t *p, __mmask16 lanes) {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, p));
}
AVX512 inline __m512i load(const std::uint32_t *p, __mmask16 lanes) {
    return _mm512_maskz_loadu_epi32(lanes, p);
}

// Writes 64 characters as one byte each; returns whether that was right: all are ASCII.
AVX512 inline bool write_ascii(const std::uint8_t *p, std::uint8_t *out) {
    const __m512i bytes = _mm512_loadu_si512(p);
    _mm512_storeu_si512(out, bytes);
    return _mm512_movepi8_mask(bytes) == 0;
}
AVX512 inline bool write_ascii(const std::uint16_t *p, std::uint8_t *out) {
    const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 32);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), _mm512_cvtepi16_epi8(a));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + 32), _mm512_cvtepi16_epi8(b));
    return _mm512_test_epi16_mask(_mm512_or_si512(a, b), _mm512_set1_epi16(~0x7F)) == 0;
}
AVX512 inline bool write_ascii(const std::uint32_t *p, std::uint8_t *out) {
    __m512i any = _mm512_setzero_si512();
    for (std::size_t k = 0; k < 64; k += 16) {
        const __m512i four = _mm512_loadu_si512(p + k);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(out + k), _mm512_cvtepi32_epi8(four));
        any = _mm512_or_si512(any, four);
    }
    return _mm512_test_epi32_mask(any, all(~0x7Fu)) == 0;
}

// Writes 16 characters, one per lane: each as four bytes, of which only those it needs are kept.
AVX512 inline std::uint8_t *write_lanes(__m512i c, __mmask16 lanes, std::uint8_t *out) {
    // The character from bit 18, 12, 6 and 0 on, each in a byte, the last one on top.
    const __m512i shifts = _mm512_set1_epi64(0x20262C32'00060C12);
    const __m512i parts = _mm512_multishift_epi64_epi8(shifts, c);
    const __mmask16 two = _mm512_cmpge_epu32_mask(c, all(0x80)),
                    three = _mm512_cmpge_epu32_mask(c, all(0x800)),
                    four = _mm512_cmpge_epu32_mask(c, all(0x10000));
    __m512i taken = all(0x7F000000), marks = _mm512_setzero_si512();
    taken = _mm512_mask_mov_epi32(taken, two, all(0x3F1F0000));
    marks = _mm512_mask_mov_epi32(marks, two, all(0x80C00000));
    taken = _mm512_mask_mov_epi32(taken, three, all(0x3F3F0F00));
    marks = _mm512_mask_mov_epi32(marks, three, all(0x8080E000));
    taken = _mm512_mask_mov_epi32(taken, four, all(0x3F3F3F07));
    marks = _mm512_mask_mov_epi32(marks, four, all(0x808080F0));
    const __m512i bytes = _mm512_or_si512(_mm512_and_si512(parts, taken), marks);
    // All bytes of a multi-byte character have a mark; an ASCII character has one byte, the last.
    const std::uint64_t last = _pdep_u64(lanes, 0x8888888888888888);
    const __mmask64 kept = _mm512_movepi8_mask(marks) | last;
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, bytes));
    return out + _mm_popcnt_u64(kept);
}

template <class Character>
AVX512 std::size_t write_characters(const Character *p, std::size_t count, std::uint8_t *out) {
    std::uint8_t *const first = out;
    const Character *const end = p + count;
    __mmask16 surrogates = 0;
    while (p < end) {
        if (end - p >= 64 && write_ascii(p, out)) {
            p += 64;
            out += 64;
            continue;
        }
        const Character *const stop = end - p >= 64 ? p + 64 : end;
        for (; p < stop; p += std::min<std::ptrdiff_t>(16, stop - p)) {
            const __mmask16 lanes = first_lanes(static_cast<std::size_t>(stop - p));
            const __m512i c = load(p, lanes);
            surrogates |=
                _mm512_cmpeq_epi32_mask(_mm512_and_si512(c, all(0xFFFFF800)), all(0xD800));
            out = write_lanes(c, lanes, out);
        }
    }
    return surrogates ? not_utf8 : static_cast<std::size_t>(out - first);
}

AVX512 std::size_t write(const void *characters, int kind, std::size_t count, std::uint8_t *out) {
    switch (kind) {
        case 1: return write_characters(static_cast<const std::uint8_t *>(characters), count, out);
        case 2: return write_characters(static_cast<const std::uint16_t *>(characters), count, out);
        default:
            return write_characters(static_cast<const std::uint32_t *>(characters), count, out);
    }
}

}  // namespace

WriteUtf8 utf8_writer_avx512() { return has_avx512() ? write : nullptr; }

}  // namespace tokexport

#else

namespace tokexport {

WriteUtf8 utf8_writer_avx512() { return nullptr; }

}  // namespace tokexport

#endif
