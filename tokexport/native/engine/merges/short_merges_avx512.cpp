// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Merging short pre-tokens with AVX-512: 16 words side by side, one merge of each at a time.
#include "pair_vectors.h"
#include "short_merges.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <algorithm>
#include <cstring>

namespace tokexport {

namespace {

constexpr std::size_t lanes = PairVectors::count;
constexpr std::int32_t no_pair = PairTable::no_pair;

std::uint32_t size_of(const ShortWord &word) {
    return word.symbols ? word.symbols : static_cast<std::uint32_t>(word.key.b >> 56);
}

AVX512 inline __m512i all_lanes(std::uint32_t v) {
    return _mm512_set1_epi32(static_cast<std::int32_t>(v));
}

AVX512 inline __m512i lowest_bit_alone(__m512i v) {
    return _mm512_and_si512(v, _mm512_sub_epi32(_mm512_setzero_si512(), v));
}

AVX512 inline __m512i highest_bit(__m512i v) {
    return _mm512_sub_epi32(all_lanes(31), _mm512_lzcnt_epi32(v));
}

// 16 words, a lane for each. As in short_merges.cpp, the symbols of a word are at positions 1 to n,
// between two guards, and the key of a pair is its product << 5 | the position of its left symbol:
// so the smallest key of a lane belongs to its next merge.
class alignas(64) Group {
public:
    // Takes up to 16 words.
    AVX512 void start(const PairTable &pairs, ShortWord *const *words, std::size_t count);

    // Merges one pair of each word, and prefetches the slots of the pairs that the merged symbol
    // forms with its neighbours. False: no word has a pair left.
    AVX512 bool merge(const PairTable &pairs);

    // Looks up those pairs.
    AVX512 void look_up(const PairTable &pairs);

    // Writes the ids of the words.
    void finish();

private:
    static constexpr std::size_t positions = ShortWord::most_symbols + 2;
    static constexpr std::uint32_t no_row = 31;

    void take_bytes(const PairTable &pairs, std::size_t lane, const WordKey &key);
    AVX512 void find_pairs(const PairTable &pairs);
    AVX512 void update(__m512i key_before, __m512i key_after);

    std::int32_t keys_[positions][lanes];  // none at position 0
    std::uint32_t ids_[positions][lanes];
    std::uint32_t alive_[lanes];  // bits of positions
    std::int32_t least_[lanes];   // of the keys
    // What was merged last: the id, its position, those of the symbol before it and of its right
    // part, and the ids beside it.
    std::uint32_t id_[lanes], at_[lanes], left_[lanes], right_[lanes];
    std::uint32_t before_[lanes], after_[lanes];
    std::uint32_t slots_before_[lanes], slots_after_[lanes];
    std::uint32_t longest_;
    std::size_t count_;
    ShortWord *words_[lanes];
};

AVX512 void Group::start(const PairTable &pairs, ShortWord *const *words, std::size_t count) {
    count_ = count;
    longest_ = 0;
    bool has_symbols = false;
    for (std::size_t lane = 0; lane < count; lane++) {
        words_[lane] = words[lane];
        longest_ = std::max(longest_, size_of(*words[lane]));
        has_symbols |= words[lane]->symbols != 0;
    }
    std::fill_n(keys_[0], lanes * (longest_ + 1), no_pair);
    std::fill_n(ids_[0], lanes * (longest_ + 2), PairTable::no_id);
    for (std::size_t lane = 0; lane < count; lane++) {
        const ShortWord &word = *words[lane];
        alive_[lane] = (std::uint32_t(1) << (size_of(word) + 2)) - 1;
        if (!word.symbols) take_bytes(pairs, lane, word.key);
        for (std::uint32_t i = 0; i < word.symbols; i++) ids_[i + 1][lane] = word.ids[i];
    }
    if (has_symbols) find_pairs(pairs);
    for (auto *positions_of : {at_, left_, right_}) std::fill_n(positions_of, lanes, no_row);
    update(_mm512_setzero_si512(), _mm512_setzero_si512());
}

inline void Group::take_bytes(const PairTable &pairs, std::size_t lane, const WordKey &key) {
    std::uint8_t bytes[sizeof key];
    std::memcpy(bytes, &key, sizeof key);
    const std::uint32_t size = bytes[WordKey::longest];
    ids_[1][lane] = pairs.byte_id(bytes[0]);
    for (std::uint32_t i = 1; i < size; i++) {
        ids_[i + 1][lane] = pairs.byte_id(bytes[i]);
        keys_[i][lane] = pairs.byte_pair_key(bytes[i - 1], bytes[i]) | static_cast<std::int32_t>(i);
    }
}

// Looks up all pairs.
AVX512 void Group::find_pairs(const PairTable &pairs) {
    const __m512i guard = all_lanes(PairTable::no_id);
    for (std::uint32_t i = 1; i < longest_; i++) {
        const __m512i left = _mm512_load_si512(ids_[i]), right = _mm512_load_si512(ids_[i + 1]);
        const __mmask16 both =
            _mm512_mask_cmpneq_epi32_mask(_mm512_cmpneq_epi32_mask(left, guard), right, guard);
        const __m512i slots = PairVectors::slots(pairs, left, right, both);
        _mm512_store_si512(
            keys_[i],
            _mm512_or_si512(PairVectors::keys(pairs, slots, left, right, both), all_lanes(i)));
    }
}

// Puts the keys of the pairs beside the symbols merged last into their rows, and finds the least
// key of each lane. Comparing each row takes half as long as gathers and scatters, for the 9 rows
// that words usually need.
AVX512 inline void Group::update(__m512i key_before, __m512i key_after) {
    const __m512i left = _mm512_load_si512(left_), at = _mm512_load_si512(at_),
                  right = _mm512_load_si512(right_), none = all_lanes(no_pair);
    __m512i least = none;
    for (std::uint32_t i = 1; i < longest_; i++) {
        const __m512i row = all_lanes(i);
        __m512i keys = _mm512_load_si512(keys_[i]);
        keys = _mm512_mask_mov_epi32(keys, _mm512_cmpeq_epi32_mask(left, row), key_before);
        keys = _mm512_mask_mov_epi32(keys, _mm512_cmpeq_epi32_mask(at, row), key_after);
        keys = _mm512_mask_mov_epi32(keys, _mm512_cmpeq_epi32_mask(right, row), none);
        _mm512_store_si512(keys_[i], keys);
        least = _mm512_min_epi32(least, keys);
    }
    _mm512_store_si512(least_, least);
}

AVX512 inline bool Group::merge(const PairTable &pairs) {
    const __m512i least = _mm512_load_si512(least_);
    const __mmask16 merging = _mm512_cmpneq_epi32_mask(least, all_lanes(no_pair));
    if (!merging) return false;

    // In other lanes, all positions are those of no row.
    const __m512i at = _mm512_and_si512(least, all_lanes(no_row)),
                  id = PairVectors::ids(pairs, _mm512_srli_epi32(least, 5), merging);
    const __m512i alive = _mm512_load_si512(alive_),
                  upper = _mm512_and_si512(alive, _mm512_sllv_epi32(all_lanes(~1u), at)),
                  lower = _mm512_andnot_si512(_mm512_sllv_epi32(all_lanes(~0u), at), alive),
                  right = lowest_bit_alone(upper),
                  next = highest_bit(lowest_bit_alone(_mm512_xor_si512(upper, right)));
    const __m512i left = _mm512_mask_mov_epi32(all_lanes(no_row), merging, highest_bit(lower));
    _mm512_store_si512(alive_, _mm512_xor_si512(alive, right));
    const __m512i guard = all_lanes(PairTable::no_id);
    __m512i before = guard, after = guard;
    for (std::uint32_t i = 1; i <= longest_; i++) {
        const __m512i row = all_lanes(i), ids = _mm512_load_si512(ids_[i]);
        before = _mm512_mask_mov_epi32(before, _mm512_cmpeq_epi32_mask(left, row), ids);
        after = _mm512_mask_mov_epi32(after, _mm512_cmpeq_epi32_mask(next, row), ids);
        _mm512_store_si512(ids_[i],
                           _mm512_mask_mov_epi32(ids, _mm512_cmpeq_epi32_mask(at, row), id));
    }
    _mm512_store_si512(id_, id);
    _mm512_store_si512(at_, at);
    _mm512_store_si512(left_, left);
    _mm512_store_si512(right_, highest_bit(right));
    _mm512_store_si512(before_, before);
    _mm512_store_si512(after_, after);
    _mm512_store_si512(slots_before_, PairVectors::slots(pairs, before, id,
                                                         _mm512_cmpneq_epi32_mask(before, guard)));
    _mm512_store_si512(
        slots_after_, PairVectors::slots(pairs, id, after, _mm512_cmpneq_epi32_mask(after, guard)));
    for (std::size_t lane = 0; lane < lanes; lane++) {
        __builtin_prefetch(pairs.any_slot() + slots_before_[lane]);
        __builtin_prefetch(pairs.any_slot() + slots_after_[lane]);
    }
    return true;
}

AVX512 inline void Group::look_up(const PairTable &pairs) {
    const __m512i guard = all_lanes(PairTable::no_id);
    const __m512i id = _mm512_load_si512(id_), before = _mm512_load_si512(before_),
                  after = _mm512_load_si512(after_);
    const __m512i key_before = PairVectors::keys(pairs, _mm512_load_si512(slots_before_), before,
                                                 id, _mm512_cmpneq_epi32_mask(before, guard)),
                  key_after = PairVectors::keys(pairs, _mm512_load_si512(slots_after_), id, after,
                                                _mm512_cmpneq_epi32_mask(after, guard));
    update(_mm512_or_si512(key_before, _mm512_load_si512(left_)),
           _mm512_or_si512(key_after, _mm512_load_si512(at_)));
}

void Group::finish() {
    for (std::size_t lane = 0; lane < count_; lane++) {
        ShortWord &word = *words_[lane];
        std::uint32_t count = 0;
        // Bit 0 and the highest bit are guards.
        for (std::uint32_t rest = alive_[lane] & ~std::uint32_t(1); rest & (rest - 1);
             rest &= rest - 1)
            word.ids[count++] = ids_[__builtin_ctz(rest)][lane];
        word.count = count;
    }
}

// At most `most_words` words are sorted by size, so that the words of a group need about the same
// number of merges. While one group waits for its slots, the others are merged. Fewer words than
// `least_words` would leave most lanes of a group unused.
constexpr std::size_t least_words = 8, most_words = 256, group_count = 6;

AVX512 void merge_sorted(const PairTable &pairs, ShortWord *const *words, std::size_t count) {
    Group groups[group_count];
    Group *active[group_count];
    std::size_t started = 0, running = 0;
    const auto start = [&](Group &group) {
        const std::size_t size = std::min(lanes, count - started);
        group.start(pairs, words + started, size);
        started += size;
    };
    while (running < group_count && started < count) {
        active[running] = &groups[running];
        start(*active[running++]);
    }
    while (running) {
        for (std::size_t i = 0; i < running;) {
            if (active[i]->merge(pairs)) {
                i++;
                continue;
            }
            active[i]->finish();
            if (started < count) start(*active[i]);
            else active[i] = active[--running];
        }
        for (std::size_t i = 0; i < running; i++) active[i]->look_up(pairs);
    }
}

void merge_words_avx512(const PairTable &pairs, ShortWord *words, std::size_t count) {
    if (count < least_words) return short_word_merger(0)(pairs, words, count);
    for (ShortWord *end = words + count; words < end;) {
        const std::size_t size =
            std::min<std::size_t>(most_words, static_cast<std::size_t>(end - words));
        std::size_t places[ShortWord::most_symbols + 2] = {};
        for (std::size_t i = 0; i < size; i++) places[size_of(words[i]) + 1]++;
        for (std::size_t i = 1; i < ShortWord::most_symbols + 2; i++) places[i] += places[i - 1];
        ShortWord *sorted[most_words];
        for (std::size_t i = 0; i < size; i++) sorted[places[size_of(words[i])]++] = &words[i];
        merge_sorted(pairs, sorted, size);
        words += size;
    }
}

}  // namespace

MergeShortWords short_word_merger_avx512() { return has_avx512() ? merge_words_avx512 : nullptr; }

}  // namespace tokexport

#else

namespace tokexport {

MergeShortWords short_word_merger_avx512() { return nullptr; }

}  // namespace tokexport

#endif
