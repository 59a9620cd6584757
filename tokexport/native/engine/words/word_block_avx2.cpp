// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Looking up pre-tokens with AVX2: a key is made with two operations, and the keys of both slots of
// a set are compared without a branch.
#include "word_block_x86.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define AVX2 __attribute__((target("avx2,bmi")))

namespace tokexport {

namespace {

AVX2 inline __m128i load(const void *p) { return _mm_loadu_si128(static_cast<const __m128i *>(p)); }

template <class Read>
AVX2 std::uint32_t find_with(const WordCache &words, WordBlock &block, Read read) {
    const WordSlot *slots = words.slots();
    const unsigned shift = words.shift();
    const std::size_t count = block.count;
    std::uint32_t sizes = 0, from = block.start;
    std::size_t hashed_count = 0;
    UNROLLED for (std::size_t i = 0; i < count; from = block.ends[i++]) {
        const std::uint32_t size = block.ends[i] - from;
        const KeyMask &mask = key_masks.of(size);
        const __m128i key =
            _mm_or_si128(_mm_and_si128(load(read(from)), load(mask.kept)), load(mask.added));
        _mm_store_si128(reinterpret_cast<__m128i *>(&block.keys[i]), key);
        sizes |= size;
        block.hashed[hashed_count] = static_cast<std::uint8_t>(i);
        hashed_count += size > WordKey::longest;
    }
    UNROLLED for (std::size_t i = 0; i < count; i++) {
        const std::size_t set = WordCache::set_of(block.keys[i], shift);
        __builtin_prefetch(slots + set);
        block.sets[i] = static_cast<std::uint32_t>(set);
    }
    block.hashed_count = hashed_count;
    block.shift = shift;
    block.find_hashed(words);
    return sizes;
}

std::uint32_t find(const WordCache &words, WordBlock &block, const std::uint8_t *limit) {
    return with_reader(block, limit, [&](auto read) { return find_with(words, block, read); });
}

// Writes the offsets of eight slots: the second ones of their sets where `second` has all ones.
AVX2 inline void store_offsets(std::uint32_t *offsets, const std::uint32_t *sets, __m128i second) {
    const __m256i slots = _mm256_sub_epi32(
        _mm256_load_si256(reinterpret_cast<const __m256i *>(sets)), _mm256_cvtepi16_epi32(second));
    _mm256_store_si256(reinterpret_cast<__m256i *>(offsets), _mm256_slli_epi32(slots, 5));
}

AVX2 std::uint32_t *take(WordCache &words, const WordBlock &block, const std::uint32_t *out,
                         std::uint32_t *at, Misses &misses) {
    const WordSlot *slots = words.slots();
    const std::size_t count = block.count;
    alignas(32) std::uint16_t equal[WordBlock::most];  // bytes of both keys of a set, as bits
    Found found;
    UNROLLED for (std::size_t i = 0; i < count; i++) {
        const WordSlot *set = slots + block.sets[i];
        const __m128i key = load(&block.keys[i]);
        const __m128i words_of = _mm_packs_epi32(_mm_cmpeq_epi64(key, load(&set[0].key)),
                                                 _mm_cmpeq_epi64(key, load(&set[1].key)));
        equal[i] = static_cast<std::uint16_t>(_mm_movemask_epi8(words_of));
    }
    const __m256i all = _mm256_set1_epi16(-1), low = _mm256_set1_epi16(0xFF);
    for (std::size_t i = 0; i < count; i += 16) {
        const __m256i bits = _mm256_load_si256(reinterpret_cast<const __m256i *>(equal + i)),
                      first = _mm256_cmpeq_epi16(
                          _mm256_or_si256(bits, _mm256_andnot_si256(low, all)), all),
                      second = _mm256_cmpeq_epi16(_mm256_or_si256(bits, low), all);
        store_offsets(found.offsets + i, block.sets + i, _mm256_castsi256_si128(second));
        store_offsets(found.offsets + i + 8, block.sets + i + 8,
                      _mm256_extracti128_si256(second, 1));
        const __m256i either = _mm256_or_si256(first, second);
        _mm_store_si128(
            reinterpret_cast<__m128i *>(found.is_hit + i),
            _mm_packs_epi16(_mm256_castsi256_si128(either), _mm256_extracti128_si256(either, 1)));
    }
    return take_found(words, block, found, out, at, misses);
}

constexpr WordLookup lookup = {find, take};

}  // namespace

const WordLookup *word_lookup_avx2() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? &lookup : nullptr;
}

}  // namespace tokexport

#else

namespace tokexport {

const WordLookup *word_lookup_avx2() { return nullptr; }

}  // namespace tokexport

#endif
