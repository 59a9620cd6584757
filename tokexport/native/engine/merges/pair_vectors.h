// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Looks up 16 pairs at once in a PairTable, with AVX-512.
#pragma once

#include "avx512.h"
#include "pair_table.h"

#if defined(__x86_64__) && defined(__GNUC__)

namespace tokexport {

// Pairs are given by 16 left and 16 right symbols; those outside of `lanes` are not looked up.
struct PairVectors {
    static constexpr unsigned count = 16;

    // PairTable::slot, as indices of slots.
    AVX512 static __m512i slots(const PairTable &pairs, __m512i left, __m512i right,
                                __mmask16 lanes) {
        return join(eight_slots(pairs, low(left), low(right), static_cast<__mmask8>(lanes)),
                    eight_slots(pairs, high(left), high(right), static_cast<__mmask8>(lanes >> 8)));
    }

    // The product << 5 for each pair that is in its slot, no_pair for the others.
    AVX512 static __m512i keys(const PairTable &pairs, __m512i slots, __m512i left, __m512i right,
                               __mmask16 lanes) {
        return join(
            eight_keys(pairs, low(slots), low(left), low(right), static_cast<__mmask8>(lanes)),
            eight_keys(pairs, high(slots), high(left), high(right),
                       static_cast<__mmask8>(lanes >> 8)));
    }

    // PairTable::id_of.
    AVX512 static __m512i ids(const PairTable &pairs, __m512i products, __mmask16 lanes) {
        if (!pairs.ids_) return products;
        return _mm512_mask_i32gather_epi32(products, lanes, products, pairs.ids_, 4);
    }

private:
    AVX512 static __m256i low(__m512i v) { return _mm512_castsi512_si256(v); }
    AVX512 static __m256i high(__m512i v) { return _mm512_extracti64x4_epi64(v, 1); }
    AVX512 static __m512i join(__m256i low, __m256i high) {
        return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }

    AVX512 static __m512i all(std::uint64_t v) {
        return _mm512_set1_epi64(static_cast<long long>(v));
    }

    // What a slot holds above the product.
    AVX512 static __m512i pair(__m256i left, __m256i right) {
        return _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(left), 21),
                               _mm512_cvtepu32_epi64(right));
    }

    AVX512 static __m256i eight_slots(const PairTable &pairs, __m256i left, __m256i right,
                                      __mmask8 lanes) {
        __m512i h = _mm512_mullo_epi64(pair(left, right), all(PairTable::k1));
        h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
        h = _mm512_mullo_epi64(h, all(PairTable::k2));
        h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 29));
        const __m512i bucket = _mm512_srli_epi64(_mm512_mul_epu32(h, all(pairs.bucket_count_)), 32);
        // The upper half of 4 bytes is the displacement: slots precede the first one, but nothing
        // may follow the last one.
        const __m256i bytes = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), lanes, bucket,
                                                          pairs.displacements_ - 2, 2);
        const __m512i displacement = _mm512_cvtepu32_epi64(_mm256_srli_epi32(bytes, 16));
        const __m256i row = _mm256_min_epu32(
            _mm256_srl_epi32(left, _mm_cvtsi32_si128(static_cast<int>(pairs.row_shift_))),
            _mm256_set1_epi32(static_cast<int>(pairs.last_row_)));
        const __m512i bounds =
            _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), lanes, row, pairs.rows_, 4);
        const __m512i first = _mm512_and_si512(bounds, all(0xFFFFFFFF));
        const __m512i size = _mm512_sub_epi64(_mm512_srli_epi64(bounds, 32), first);
        h = _mm512_xor_si512(h, _mm512_mullo_epi64(displacement, all(PairTable::k3)));
        h = _mm512_srli_epi64(_mm512_mullo_epi64(h, all(PairTable::k1)), 32);
        h = _mm512_srli_epi64(_mm512_mul_epu32(h, size), 32);
        return _mm512_cvtepi64_epi32(_mm512_add_epi64(h, first));
    }

    AVX512 static __m256i eight_keys(const PairTable &pairs, __m256i slots, __m256i left,
                                     __m256i right, __mmask8 lanes) {
        const __m512i found =
            _mm512_mask_i32gather_epi64(all(~std::uint64_t(0)), lanes, slots, pairs.slots_, 8);
        const __mmask8 is_pair =
            _mm512_mask_cmpeq_epi64_mask(lanes, _mm512_srli_epi64(found, 21), pair(left, right));
        const __m256i products =
            _mm512_cvtepi64_epi32(_mm512_and_si512(found, all(PairTable::no_id)));
        return _mm256_mask_slli_epi32(_mm256_set1_epi32(PairTable::no_pair), is_pair, products, 5);
    }
};

}  // namespace tokexport

#endif
