#include "added_starts.h"

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace tokexport {

namespace {

using Skip = decltype(tkx_bulk_starts::skip);

#if defined(__x86_64__) && defined(__GNUC__)

#define AVX2 __attribute__((target("avx2,bmi")))

struct Nibbles {
    __m256i low, high;
};

AVX2 inline Nibbles load(const tkx_bulk_nibbles &sets) {
    return {
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(sets.low))),
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(sets.high)))};
}

// The sets that each of 32 bytes may be in.
AVX2 inline __m256i sets_of(const std::uint8_t *p, const Nibbles &sets) {
    const __m256i four_bits = _mm256_set1_epi8(15),
                  bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)),
                  low = _mm256_and_si256(bytes, four_bits),
                  high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), four_bits);
    return _mm256_and_si256(_mm256_shuffle_epi8(sets.low, low),
                            _mm256_shuffle_epi8(sets.high, high));
}

AVX2 const std::uint8_t *skip_avx2(const tkx_bulk_starts *starts, const std::uint8_t *p,
                                   const std::uint8_t *end) {
    const Nibbles first = load(starts->first), second = load(starts->second);
    for (; end - p > 32; p += 32) {
        const __m256i found = _mm256_and_si256(sets_of(p, first), sets_of(p + 1, second));
        const __m256i none = _mm256_cmpeq_epi8(found, _mm256_setzero_si256());
        const std::uint32_t places = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
        if (places) return p + __builtin_ctz(places);
    }
    return p;
}

Skip fastest_skip(unsigned width) {
    __builtin_cpu_init();
    const bool has_it = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
    return width >= 256 && has_it ? skip_avx2 : nullptr;
}

#else

Skip fastest_skip(unsigned) { return nullptr; }

#endif

}  // namespace

AddedStarts::AddedStarts(tkx &file, unsigned width) : raw_{}, normalized_{} {
    raw_.skip = normalized_.skip = fastest_skip(width);
    if (!raw_.skip) return;
    tkx_bulk_find_starts(&file, 0, &raw_);
    tkx_bulk_find_starts(&file, 1, &normalized_);
}

}  // namespace tokexport
