// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The steps of the splitter with AVX2: 32 bytes at a time. Characters that are not ASCII are looked
// up one by one.
#include "split_positions.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cstring>

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

namespace tokexport {

namespace {

// A table of 128 bytes as eight of 16, each in both halves of a register.
struct AsciiTable {
    __m256i parts[8];
};

AVX2 inline AsciiTable load_table(const std::uint8_t *p) {
    AsciiTable table;
    for (std::size_t i = 0; i < 8; i++)
        table.parts[i] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(p + 16 * i)));
    return table;
}

AVX2 inline __m256i load(const std::uint8_t *p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
}

template <typename T> AVX2 inline void store(T *p, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), v);
}

// Looks up ASCII bytes in a table: the low four bits select a byte of each part, and each of the
// other bits, shifted to the sign bit, halves the number of parts.
AVX2 inline __m256i look_up(const AsciiTable &table, __m256i bytes) {
    __m256i found[8];
    for (std::size_t i = 0; i < 8; i++) found[i] = _mm256_shuffle_epi8(table.parts[i], bytes);
    for (int bit = 4; bit < 7; bit++) {
        const __m256i choice = _mm256_slli_epi16(bytes, 7 - bit);
        for (std::size_t i = 0; i < std::size_t(8) >> (bit - 3); i++)
            found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], choice);
    }
    return found[0];
}

AVX2 inline __m256i all_lanes(unsigned byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }

AVX2 inline __m256i widen(__m256i bytes, int half) {
    return _mm256_cvtepu8_epi16(half ? _mm256_extracti128_si256(bytes, 1)
                                     : _mm256_castsi256_si128(bytes));
}

// Adds the characters of up to three bytes that begin in the 32 bytes at `at`, which two more bytes
// follow. The leaf numbers and the positions in the leaves are computed for all of them together.
AVX2 void add_wide(const SplitClasses &classes, const std::uint8_t *text, std::size_t at,
                   __m256i bytes, SplitChunk &chunk) {
    const __m256i second = load(text + at + 1), third = load(text + at + 2);
    const __m256i wide = _mm256_cmpgt_epi8(_mm256_setzero_si256(), bytes);
    const __m256i three = _mm256_and_si256(wide, _mm256_cmpgt_epi8(bytes, all_lanes(0xDF)));
    const __m256i last = _mm256_blendv_epi8(_mm256_blendv_epi8(bytes, second, wide), third, three);
    // The leaf number has ten bits: `upper` has three of them, `lower` seven.
    const __m256i upper =
        _mm256_and_si256(three, _mm256_and_si256(_mm256_srli_epi16(bytes, 1), all_lanes(7)));
    const __m256i of_three =
        _mm256_or_si256(_mm256_and_si256(second, all_lanes(63)),
                        _mm256_and_si256(_mm256_slli_epi16(bytes, 6), all_lanes(64)));
    const __m256i lower = _mm256_blendv_epi8(
        _mm256_blendv_epi8(_mm256_and_si256(_mm256_srli_epi16(bytes, 6), all_lanes(1)),
                           _mm256_and_si256(bytes, all_lanes(31)), wide),
        of_three, three);
    alignas(32) std::uint16_t numbers[32];
    alignas(32) std::uint8_t places[32];
    store(places, _mm256_and_si256(last, all_lanes(63)));
    for (int half = 0; half < 2; half++)
        store(numbers + 16 * half,
              _mm256_or_si256(_mm256_slli_epi16(widen(upper, half), 7), widen(lower, half)));
    std::uint32_t leads =
        static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(bytes, all_lanes(0xBF))));
    const std::uint16_t *const leaf_of = classes.leaf_of.data();
    const std::uint8_t *const leaves = classes.leaves.data();
    std::size_t count = chunk.count;
    for (; leads; leads = _blsr_u32(leads)) {
        const std::size_t lane = _tzcnt_u32(leads);
        chunk.positions[count] = static_cast<std::uint16_t>(at + lane);
        chunk.codes[count++] =
            leaves[SplitClasses::leaf_size * leaf_of[numbers[lane]] + places[lane]];
    }
    chunk.count = count;
}

AVX2 void read(const SplitClasses &classes, const std::uint8_t *text, std::size_t size,
               SplitChunk &chunk) {
    const AsciiTable table = load_table(classes.ascii.data());
    const __m256i numbers = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::size_t i = 0;
    chunk.is_ascii = true;
    chunk.count = 0;
    for (; size - i >= 34; i += 32) {
        const __m256i bytes = load(text + i);
        if (_mm256_movemask_epi8(bytes)) {
            if (chunk.is_ascii) chunk.add_positions();
            const __m256i fours = _mm256_cmpgt_epi8(bytes, all_lanes(0xEF));
            if (_mm256_movemask_epi8(_mm256_and_si256(bytes, fours))) {
                i = chunk.add(classes, text, first_lead(text, i, size), i + 32) - 32;
            } else {
                add_wide(classes, text, i, bytes, chunk);
            }
            continue;
        }
        store(chunk.codes + chunk.count, look_up(table, bytes));
        if (!chunk.is_ascii) {
            const __m256i places =
                _mm256_add_epi16(_mm256_set1_epi16(static_cast<short>(i)), numbers);
            store(chunk.positions + chunk.count, places);
            store(chunk.positions + chunk.count + 16,
                  _mm256_add_epi16(places, _mm256_set1_epi16(16)));
        }
        chunk.count += 32;
    }
    read_rest(classes, text, i, size, chunk);
}

AVX2 void pair(SplitChunk &chunk, std::size_t count, std::uint32_t base) {
    const __m256i factors = _mm256_set1_epi16(static_cast<short>(1 << 8 | base));
    for (std::size_t i = 0; i < count; i += 32)
        store(chunk.pairs + i / 2, _mm256_maddubs_epi16(load(chunk.codes + 1 + i), factors));
}

// One bit of each byte: the bit that a left shift by `shift` moves to the sign bit.
template <int shift> AVX2 inline std::uint64_t gather(const std::uint8_t *p) {
    const int low = _mm256_movemask_epi8(_mm256_slli_epi16(load(p), shift));
    const int high = _mm256_movemask_epi8(_mm256_slli_epi16(load(p + 32), shift));
    return static_cast<std::uint32_t>(low) | std::uint64_t(static_cast<std::uint32_t>(high)) << 32;
}

AVX2 void mark(SplitChunk &chunk) {
    std::memset(chunk.verdicts + chunk.count, 0, 64);
    for (std::size_t block = 0; 64 * block < chunk.count; block++) {
        chunk.cuts[block] = gather<7>(chunk.verdicts + 64 * block);
        chunk.undecided[block] = gather<6>(chunk.verdicts + 64 * block);
    }
}

// For each byte, the numbers of its bits that are set, in ascending order.
struct BitNumbers {
    std::uint8_t of[256][8] = {};

    constexpr BitNumbers() {
        for (unsigned byte = 0; byte < 256; byte++)
            for (unsigned bit = 0, count = 0; bit < 8; bit++)
                if (byte >> bit & 1) of[byte][count++] = static_cast<std::uint8_t>(bit);
    }
};

constexpr BitNumbers bit_numbers;

// Writes eight ends per byte of the verdicts, even if fewer are set: without a branch on how many.
AVX2 std::size_t harvest(const SplitChunk &chunk, std::uint32_t base, std::uint32_t *ends) {
    std::uint32_t *out = ends;
    for (std::size_t from = 0; from < chunk.count; from += 8) {
        const std::size_t byte = chunk.cuts[from / 64] >> from % 64 & 0xFF;
        const __m128i bits =
            _mm_loadl_epi64(reinterpret_cast<const __m128i *>(bit_numbers.of[byte]));
        __m256i places;
        std::uint32_t first = base;
        if (chunk.is_ascii) {
            places = _mm256_cvtepu8_epi32(bits);
            first += static_cast<std::uint32_t>(from);
        } else {
            // Selects the positions of these characters, of two bytes each.
            const __m128i two =
                _mm_add_epi16(_mm_mullo_epi16(_mm_cvtepu8_epi16(bits), _mm_set1_epi16(0x0202)),
                              _mm_set1_epi16(0x0100));
            places = _mm256_cvtepu16_epi32(_mm_shuffle_epi8(
                _mm_loadu_si128(reinterpret_cast<const __m128i *>(chunk.positions + from)), two));
        }
        store(out, _mm256_add_epi32(places, _mm256_set1_epi32(static_cast<int>(first))));
        out += _mm_popcnt_u64(byte);
    }
    return static_cast<std::size_t>(out - ends);
}

const SplitSteps steps = {read, pair, mark, position_noted, character_noted, harvest};

}  // namespace

const SplitSteps *split_steps_avx2() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") ? &steps : nullptr;
}

}  // namespace tokexport

#else

namespace tokexport {

const SplitSteps *split_steps_avx2() { return nullptr; }

}  // namespace tokexport

#endif
