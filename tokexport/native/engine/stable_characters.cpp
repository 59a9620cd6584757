#include "stable_characters.h"

#include <cstring>

#include "split_words.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace tokexport {

namespace {

// Of a character that is not ASCII.
inline bool is_stable(const tkx_bulk_stable &stable, const std::uint8_t *p) {
    const unsigned lead = *p;
    if (lead >= 0xF0) return false;
    const bool is_wide = lead >= 0xE0;
    const unsigned block = is_wide ? (lead & 15) << 6 | (p[1] & 63u) : lead & 31;
    return stable.points[block] >> (p[is_wide ? 2 : 1] & 63) & 1;
}

const std::uint8_t *skip(const tkx_bulk_stable *stable, const std::uint8_t *p,
                         const std::uint8_t *end) {
    while (p < end) {
        if (*p < 0x80) {
            p++;
            while (end - p >= 8 && !(load_u64(p) & low_bits << 7)) p += 8;
        } else {
            if (!is_stable(*stable, p)) break;
            p += *p < 0xE0 ? 2 : 3;
        }
    }
    return p;
}

#if defined(__x86_64__) && defined(__GNUC__)

// 32 bytes at a time, of which the characters are looked up that begin with a byte with which others
// begin that are not stable.
__attribute__((target("avx2,bmi"))) const std::uint8_t *skip_avx2(const tkx_bulk_stable *stable,
                                                                  const std::uint8_t *p,
                                                                  const std::uint8_t *end) {
    const __m256i mixed = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(stable->mixed_leads)));
    const __m256i rows =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8));
    const __m256i four_bits = _mm256_set1_epi8(15);
    for (; end - p >= 32; p += 32) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
        const __m256i low = _mm256_and_si256(bytes, four_bits),
                      high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), four_bits);
        const __m256i found =
            _mm256_and_si256(_mm256_shuffle_epi8(mixed, low), _mm256_shuffle_epi8(rows, high));
        std::uint32_t others = ~static_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())));
        for (; others; others &= others - 1) {
            const std::uint8_t *at = p + lowest_bit(others);
            if (!is_stable(*stable, at)) return at;
        }
    }
    while (p < end && (*p & 0xC0) == 0x80) p++;
    return skip(stable, p, end);
}

auto fastest_skip(unsigned width) {
    __builtin_cpu_init();
    const bool has_it = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
    return width >= 256 && has_it ? skip_avx2 : skip;
}

#else

auto fastest_skip(unsigned) { return skip; }

#endif

// Sets what the vectors need.
void find_mixed_leads(tkx_bulk_stable &stable) {
    std::memset(stable.mixed_leads, 0, sizeof stable.mixed_leads);
    for (unsigned lead = 0xC2; lead < 0xF8; lead++) {
        const unsigned first = lead < 0xE0 ? lead & 31 : (lead & 15) << 6;
        const unsigned end = lead < 0xE0 ? first + 1 : first + 64;
        // U+0080 to U+07FF do not begin with 0xE0.
        unsigned block = lead == 0xE0 ? 32 : first;
        if (lead < 0xF0)
            while (block < end && !~stable.points[block]) block++;
        if (block != end)
            stable.mixed_leads[lead & 15] |= static_cast<std::uint8_t>(1 << (lead >> 4 & 3));
    }
}

}  // namespace

StableCharacters::StableCharacters(tkx &file, unsigned width) {
    auto stable = std::make_unique<tkx_bulk_stable>();
    for (std::uint32_t i = 0; i < file.op_count; i++) {
        if (!tkx_bulk_find_stable(&file, i, stable.get())) continue;
        find_mixed_leads(*stable);
        stable->skip = fastest_skip(width);
        forms_.push_back(std::move(stable));
        stable = std::make_unique<tkx_bulk_stable>();
    }
}

}  // namespace tokexport
