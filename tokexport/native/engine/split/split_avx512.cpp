// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The steps of the splitter with AVX-512, VBMI and VBMI2: 64 bytes at a time.
#include "avx512.h"
#include "split_chunk.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <algorithm>
#include <cstring>

namespace tokexport {

namespace {

// A mask of the first `count` lanes; all of them from 64 on.
AVX512 inline __mmask64 first_lanes(std::size_t count) {
    return _bzhi_u64(~UINT64_C(0), static_cast<unsigned>(std::min<std::size_t>(count, 64)));
}

AVX512 inline __m512i all_lanes(unsigned byte) { return _mm512_set1_epi8(static_cast<char>(byte)); }

// Looks up the low 7 bits of each lane in a table of 128 bytes.
AVX512 inline __m512i look_up(const std::uint8_t *table, __m512i index) {
    return _mm512_permutex2var_epi8(_mm512_loadu_si512(table), index,
                                    _mm512_loadu_si512(table + 64));
}

// The leaves used last, of those whose characters differ in class. A text uses few of them, and
// their lookups do not wait for one another.
struct RecentLeaves {
    static constexpr unsigned count = 4;
    struct Leaf {
        __m512i lower, upper;  // the leaf number
        __m512i classes;

        AVX512 __mmask64 lanes(__mmask64 of, __m512i lowers, __m512i uppers) const {
            return _mm512_mask_cmpeq_epi8_mask(_mm512_mask_cmpeq_epi8_mask(of, lowers, lower),
                                               uppers, upper);
        }
    };
    Leaf leaves[count];
    unsigned oldest;
};

// Sets those lanes of `found` to their classes where characters of more than one byte begin; `size`
// bytes follow at p. Most leaves have one class; if a leaf has several, all characters of that leaf
// are looked up together.
AVX512 __m512i add_wide(const SplitClasses &classes, RecentLeaves &recent, const std::uint8_t *p,
                        std::size_t size, __m512i bytes, __mmask64 wide, __m512i found) {
    const __m512i second = _mm512_maskz_loadu_epi8(first_lanes(size - 1), p + 1);
    const __m512i third = _mm512_maskz_loadu_epi8(first_lanes(size < 2 ? 0 : size - 2), p + 2);
    const __mmask64 fours = _mm512_mask_cmpge_epu8_mask(wide, bytes, all_lanes(0xF0));
    const __mmask64 threes = _mm512_mask_cmpge_epu8_mask(wide & ~fours, bytes, all_lanes(0xE0));
    const __m512i last =
        _mm512_and_si512(_mm512_mask_blend_epi8(threes, second, third), all_lanes(63));
    // The leaf number has ten bits: `upper` has three of them, `lower` seven.
    const __m512i upper =
        _mm512_and_si512(_mm512_maskz_mov_epi8(threes, _mm512_srli_epi16(bytes, 1)), all_lanes(7));
    const __m512i middle =
        _mm512_or_si512(_mm512_and_si512(second, all_lanes(63)),
                        _mm512_and_si512(_mm512_slli_epi16(bytes, 6), all_lanes(64)));
    const __m512i lower =
        _mm512_mask_blend_epi8(threes, _mm512_and_si512(bytes, all_lanes(31)), middle);
    __m512i shared = look_up(classes.shared.data(), lower);
    for (unsigned k = 1; k < 8 && threes; k++) {
        const __mmask64 here = _mm512_mask_cmpeq_epi8_mask(threes, upper, all_lanes(k));
        shared =
            _mm512_mask_blend_epi8(here, shared, look_up(classes.shared.data() + 128 * k, lower));
    }
    found = _mm512_mask_blend_epi8(wide & ~fours, found, shared);
    __mmask64 rest =
        _mm512_mask_cmpeq_epi8_mask(wide & ~fours, shared, all_lanes(SplitClasses::not_shared));
    if (rest) {
        __mmask64 known = 0;
        for (const RecentLeaves::Leaf &leaf : recent.leaves) {
            const __mmask64 here = leaf.lanes(rest, lower, upper);
            found = _mm512_mask_permutexvar_epi8(found, here, last, leaf.classes);
            known |= here;
        }
        for (rest &= ~known; rest;) {
            const std::uint32_t number = SplitClasses::leaf_number(p + _tzcnt_u64(rest));
            RecentLeaves::Leaf &leaf = recent.leaves[recent.oldest];
            recent.oldest = (recent.oldest + 1) % RecentLeaves::count;
            leaf = {all_lanes(number & 127), all_lanes(number >> 7),
                    _mm512_loadu_si512(classes.leaf(number))};
            const __mmask64 here = leaf.lanes(rest, lower, upper);
            found = _mm512_mask_permutexvar_epi8(found, here, last, leaf.classes);
            rest &= ~here;
        }
    }
    if (fours) {
        alignas(64) std::uint8_t lanes[64];
        _mm512_store_si512(lanes, found);
        for (__mmask64 left = fours; left; left = _blsr_u64(left)) {
            std::size_t lane = _tzcnt_u64(left), length;
            lanes[lane] = classes.read(p + lane, length);
        }
        found = _mm512_load_si512(lanes);
    }
    return found;
}

AVX512 void read(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
                 SplitChunk &chunk) {
    const std::uint8_t *const ascii = classes.ascii.data();
    std::size_t count = 0;
    RecentLeaves recent = {};
    for (RecentLeaves::Leaf &leaf : recent.leaves) leaf.upper = all_lanes(0xFF);  // matches no leaf
    chunk.is_ascii = true;
    for (std::size_t block = 0; 64 * block < size; block++) {
        const std::uint8_t *p = text + 64 * block;
        const std::size_t left = size - 64 * block;
        const __mmask64 lanes = first_lanes(left);
        const __m512i bytes = _mm512_maskz_loadu_epi8(lanes, p);
        const __mmask64 high = _mm512_movepi8_mask(bytes);
        __m512i found = look_up(ascii, bytes);
        __mmask64 leads = lanes;
        if (high) {
            leads = _mm512_mask_cmpgt_epi8_mask(lanes, bytes, all_lanes(0xBF));
            found = add_wide(classes, recent, p, left, bytes, leads & high, found);
            found = _mm512_maskz_compress_epi8(leads, found);
            chunk.is_ascii = false;
        }
        _mm512_storeu_si512(chunk.codes + count, found);
        chunk.leads[block] = leads;
        chunk.positions[block] = static_cast<std::uint16_t>(count);
        count += static_cast<std::size_t>(_mm_popcnt_u64(leads));
    }
    chunk.blocks = (size + 63) / 64;
    chunk.count = count;
}

AVX512 void pair(SplitChunk &chunk, std::size_t count, std::uint32_t base) {
    const __m512i factors = _mm512_set1_epi16(static_cast<short>(1 << 8 | base));
    for (std::size_t i = 0; i < count; i += 64)
        _mm512_storeu_si512(chunk.pairs + i / 2,
                            _mm512_maddubs_epi16(_mm512_loadu_si512(chunk.codes + 1 + i), factors));
}

AVX512 void mark(SplitChunk &chunk) {
    std::memset(chunk.verdicts + chunk.count, 0, 64);
    std::size_t block = 0;
    for (; 64 * block < chunk.count; block++) {
        const __m512i verdicts = _mm512_loadu_si512(chunk.verdicts + 64 * block);
        chunk.cuts[block] = _mm512_test_epi8_mask(verdicts, all_lanes(1));
        chunk.undecided[block] = _mm512_test_epi8_mask(verdicts, all_lanes(2));
    }
    chunk.cuts[block] = 0;
}

AVX512 std::size_t position(const SplitChunk &chunk, std::size_t character) {
    if (chunk.is_ascii) return character;
    const std::uint16_t *first = chunk.positions, *last = first + chunk.blocks;
    const std::size_t block =
        static_cast<std::size_t>(std::upper_bound(first, last, character) - first - 1);
    const std::uint64_t bit = UINT64_C(1) << (character - first[block]);
    return 64 * block + _tzcnt_u64(_pdep_u64(bit, chunk.leads[block]));
}

AVX512 std::size_t character(const SplitChunk &chunk, std::size_t position) {
    if (chunk.is_ascii) return position;
    const std::size_t block = position / 64;
    if (block == chunk.blocks) return chunk.count;
    const std::uint64_t before = _bzhi_u64(chunk.leads[block], position % 64);
    return chunk.positions[block] + static_cast<std::size_t>(_mm_popcnt_u64(before));
}

// 0, 1, ... 63.
AVX512 inline __m512i number_lanes() {
    alignas(64) std::uint8_t numbers[64];
    for (unsigned i = 0; i < 64; i++) numbers[i] = static_cast<std::uint8_t>(i);
    return _mm512_load_si512(numbers);
}

// Writes 16 bytes as 32-bit numbers, each with `base` added.
AVX512 inline void put(std::uint32_t *ends, __m128i bytes, __m512i base) {
    _mm512_storeu_si512(ends, _mm512_add_epi32(_mm512_cvtepu8_epi32(bytes), base));
}

AVX512 std::size_t harvest(const SplitChunk &chunk, std::uint32_t base, std::uint32_t *ends) {
    const __m512i lane_numbers = number_lanes();
    std::uint32_t *out = ends;
    for (std::size_t block = 0; block < chunk.blocks; block++) {
        std::uint64_t cuts = chunk.cuts[block];
        if (!chunk.is_ascii) {
            const std::uint64_t leads = chunk.leads[block];
            const std::size_t from = chunk.positions[block], shift = from % 64;
            cuts = chunk.cuts[from / 64] >> shift;
            if (shift) cuts |= chunk.cuts[from / 64 + 1] << (64 - shift);
            cuts = _pdep_u64(cuts, leads);  // uses only as many low bits as there are leads
        }
        const __m512i found = _mm512_maskz_compress_epi8(cuts, lane_numbers);
        const __m512i first =
            _mm512_set1_epi32(static_cast<int>(base + static_cast<std::uint32_t>(64 * block)));
        const std::size_t count = static_cast<std::size_t>(_mm_popcnt_u64(cuts));
        put(out, _mm512_castsi512_si128(found), first);
        put(out + 16, _mm512_extracti32x4_epi32(found, 1), first);
        if (count > 32) {
            put(out + 32, _mm512_extracti32x4_epi32(found, 2), first);
            put(out + 48, _mm512_extracti32x4_epi32(found, 3), first);
        }
        out += count;
    }
    return static_cast<std::size_t>(out - ends);
}

const SplitSteps steps = {read, pair, mark, position, character, harvest};

}  // namespace

const SplitSteps *split_steps_avx512() { return has_avx512() ? &steps : nullptr; }

}  // namespace tokexport

#else

namespace tokexport {

const SplitSteps *split_steps_avx512() { return nullptr; }

}  // namespace tokexport

#endif
