// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Looking up pre-tokens with AVX-512: keys are hashed eight at a time, and both slots of a set are
// compared at once.
#include "avx512.h"
#include "word_block_x86.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <algorithm>

namespace tokexport {

namespace {

AVX512 inline __m512i all_lanes(std::uint64_t v) {
    return _mm512_set1_epi64(static_cast<long long>(v));
}

// WordCache::set_of for eight keys.
AVX512 inline __m256i sets_of(const WordKey *keys, unsigned shift) {
    const __m512i low = _mm512_load_si512(keys), high = _mm512_load_si512(keys + 4);
    const __m512i a = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                                                high),
                  b = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15),
                                                high);
    const __m512i h =
        _mm512_mullo_epi64(_mm512_xor_si512(a, _mm512_mullo_epi64(b, all_lanes(WordCache::k1))),
                           all_lanes(WordCache::k2));
    const __m512i set = _mm512_srl_epi64(h, _mm_cvtsi32_si128(static_cast<int>(shift)));
    return _mm256_slli_epi32(_mm512_cvtepi64_epi32(set), 1);
}

AVX512 inline __m128i load(const void *p) {
    return _mm_loadu_si128(static_cast<const __m128i *>(p));
}

template <class Read>
AVX512 std::uint32_t find_with(const WordCache &words, WordBlock &block, Read read) {
    const WordSlot *slots = words.slots();
    const unsigned shift = words.shift();
    const std::uint32_t *ends = block.ends;
    const std::size_t count = block.count;
    std::uint32_t masks[WordBlock::most], begins[WordBlock::most];
    __m512i sizes = _mm512_setzero_si512(),
            before = _mm512_set1_epi32(static_cast<int>(block.start));
    std::size_t hashed_count = 0;
    for (std::size_t i = 0; i < count; i += 16) {
        const __mmask16 lanes = static_cast<__mmask16>(
            _bzhi_u32(0xFFFF, static_cast<unsigned>(std::min<std::size_t>(count - i, 16))));
        const __m512i end = _mm512_maskz_loadu_epi32(lanes, ends + i),
                      begin = _mm512_alignr_epi32(end, before, 15),
                      size = _mm512_maskz_sub_epi32(lanes, end, begin);
        before = end;
        sizes = _mm512_or_si512(sizes, size);
        _mm512_storeu_si512(begins + i, begin);
        _mm512_storeu_si512(masks + i, _mm512_min_epu32(size, _mm512_set1_epi32(16)));
        for (unsigned longer = _mm512_cmpgt_epu32_mask(size, _mm512_set1_epi32(WordKey::longest));
             longer; longer &= longer - 1)
            block.hashed[hashed_count++] = static_cast<std::uint8_t>(i + _tzcnt_u32(longer));
    }
    UNROLLED for (std::size_t i = 0; i < count; i++) {
        const KeyMask &mask = key_masks.masks[masks[i]];
        const __m128i key = _mm_ternarylogic_epi32(load(read(begins[i])), load(mask.kept),
                                                   load(mask.added), 0xEA);  // (a & b) | c
        _mm_store_si128(reinterpret_cast<__m128i *>(&block.keys[i]), key);
    }
    // In a pass of its own: loading keys right after they are stored, four at once, would stall.
    for (std::size_t i = 0; i < count; i += 8) {
        _mm256_store_si256(reinterpret_cast<__m256i *>(block.sets + i),
                           sets_of(block.keys + i, shift));
        for (std::size_t k = i; k < i + 8; k++) __builtin_prefetch(slots + block.sets[k]);
    }
    block.hashed_count = hashed_count;
    block.shift = shift;
    block.find_hashed(words);
    return _mm512_reduce_or_epi32(sizes);
}

std::uint32_t find(const WordCache &words, WordBlock &block, const std::uint8_t *limit) {
    return with_reader(block, limit, [&](auto read) { return find_with(words, block, read); });
}

AVX512 std::uint32_t *take(WordCache &words, const WordBlock &block, const std::uint32_t *out,
                           std::uint32_t *at, Misses &misses) {
    const WordSlot *slots = words.slots();
    const std::size_t count = block.count;
    // Which words of a set equal the key's: bits 0 and 1 for the first slot, 4 and 5 for the
    // second.
    alignas(16) std::uint8_t equal[WordBlock::most];
    Found found;
    UNROLLED for (std::size_t i = 0; i < count; i++) {
        const __m512i key = _mm512_broadcast_i64x2(load(&block.keys[i])),
                      set = _mm512_load_si512(slots + block.sets[i]);
        equal[i] = static_cast<std::uint8_t>(_cvtmask8_u32(_mm512_cmpeq_epi64_mask(key, set)));
    }
    for (std::size_t i = 0; i < count; i += 16) {
        const __m512i bits = _mm512_cvtepu8_epi32(load(equal + i)),
                      both = _mm512_and_si512(bits, _mm512_srli_epi32(bits, 1)),
                      set = _mm512_slli_epi32(_mm512_load_si512(block.sets + i), 5),
                      second = _mm512_and_si512(_mm512_slli_epi32(both, 1), _mm512_set1_epi32(32));
        _mm512_store_si512(found.offsets + i, _mm512_or_si512(set, second));
        _mm_store_si128(reinterpret_cast<__m128i *>(found.is_hit + i),
                        _mm512_cvtepi32_epi8(_mm512_and_si512(both, _mm512_set1_epi32(0x11))));
    }
    return take_found(words, block, found, out, at, misses);
}

constexpr WordLookup lookup = {find, take};

}  // namespace

const WordLookup *word_lookup_avx512() { return has_avx512() ? &lookup : nullptr; }

}  // namespace tokexport

#else

namespace tokexport {

const WordLookup *word_lookup_avx512() { return nullptr; }

}  // namespace tokexport

#endif
