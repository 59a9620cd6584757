// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "short_merges.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/eight_bytes.h"

namespace tokexport {

namespace {

// Several words are merged in turn, one step of each at a time, so that while one word waits for a
// slot in L2 or farther, work on the others continues. No step has an unpredictable branch: a
// misprediction costs about 25 cycles, and a word has 6 merges. With 8 words at a time a new
// English word takes 15 % longer, with 40 the same. Prefetching the displacements of pairs in a
// pass before their slots took 10 % longer, and was no faster with 16 at a time.
constexpr std::size_t lanes = 32;

// The key of a pair: its product << 5 | the position of its left symbol. So the smallest key has
// the smallest rank, and is the leftmost of equals.
constexpr std::int32_t no_pair = PairTable::no_pair;
constexpr std::uint32_t position_mask = 31;

// The symbols of a word are at positions 1 to n. Positions 0, n + 1 and `parked`, where a word
// starts, hold guards: no_id, which has no pair.
template <class Word> struct alignas(64) Lane {
    static constexpr std::uint32_t positions = Word::most_symbols + 1, parked = positions + 1;
    using Bits = std::conditional_t < positions<32, std::uint32_t, std::uint64_t>;

    std::int32_t keys[parked + 1];
    std::uint32_t ids[parked + 1];
    Bits alive;                             // of positions: symbols and both guards
    std::int32_t least;                     // of the keys, but for those of the last merge
    std::uint32_t left, at, next;           // the symbol merged last, between its neighbours
    const PairTable::Slot *before, *after;  // of the pairs that it forms with them
    Word *word;
};

inline std::uint32_t highest_bit(std::uint32_t v) {
    return 31 - static_cast<std::uint32_t>(__builtin_clz(v));
}

inline std::uint32_t highest_bit(std::uint64_t v) {
    return 63 - static_cast<std::uint32_t>(__builtin_clzll(v));
}

// The key of a pair at a position, given its slot. The compiler must not make a branch of it:
// 129 -> 190 ns a word.
inline std::int32_t key_in(PairTable::Slot slot, std::uint32_t left, std::uint32_t right,
                           std::uint32_t position) {
    const std::uint64_t difference = slot >> 21 ^ (std::uint64_t(left) << 21 | right);
    const std::int64_t none = static_cast<std::int64_t>(0 - difference) >> 63;  // 0 or all ones
    return static_cast<std::int32_t>((slot & PairTable::no_id) << 5 | position |
                                     static_cast<std::uint64_t>(none)) &
           no_pair;
}

// Reads a word given by its bytes. Returns the number of symbols.
inline std::uint32_t take_bytes(Lane<ShortWord> &lane, const PairTable &pairs, const WordKey &key) {
    std::uint8_t bytes[lane.positions];
    std::memcpy(bytes, &key, sizeof bytes);
    const std::uint32_t size = bytes[WordKey::longest];
    for (std::uint32_t i = 1; i < lane.positions; i++) {
        lane.ids[i] = pairs.byte_id(bytes[i - 1]);
        // All ones at and after the last symbol, where no pair begins.
        const std::int32_t none = -static_cast<std::int32_t>(i >= size) & no_pair;
        lane.keys[i] =
            pairs.byte_pair_key(bytes[i - 1], bytes[i]) | static_cast<std::int32_t>(i) | none;
    }
    return size;
}

// Reads a word given by its symbols.
inline std::uint32_t take_symbols(Lane<ShortWord> &lane, const PairTable &pairs,
                                  const ShortWord &word) {
    for (std::uint32_t i = 1; i < lane.positions; i++) lane.keys[i] = no_pair;
    std::memcpy(lane.ids + 1, word.ids, word.symbols * sizeof *word.ids);
    for (std::uint32_t i = 1; i < word.symbols; i++)
        lane.keys[i] =
            key_in(*pairs.slot(lane.ids[i], lane.ids[i + 1]), lane.ids[i], lane.ids[i + 1], i);
    return word.symbols;
}

inline std::uint32_t take(Lane<ShortWord> &lane, const PairTable &pairs, const ShortWord &word) {
    return word.symbols ? take_symbols(lane, pairs, word) : take_bytes(lane, pairs, word.key);
}

inline std::uint32_t take(Lane<LongWord> &lane, const PairTable &pairs, const LongWord &word) {
    for (std::uint32_t i = 1; i < lane.positions; i++) lane.keys[i] = no_pair;
    for (std::uint32_t i = 1; i <= word.size; i++) lane.ids[i] = pairs.byte_id(word.bytes[i - 1]);
    for (std::uint32_t i = 1; i < word.size; i++)
        lane.keys[i] =
            (pairs.byte_pair_key(word.bytes[i - 1], word.bytes[i]) | static_cast<std::int32_t>(i));
    return word.size;
}

// All ones for a guard, else 0: turns the other symbol of the pair into a guard, too, so that all
// such pairs, a quarter of the lookups (half of them in Chinese), read one slot, which is in L1.
inline std::uint32_t ones_for_guard(std::uint32_t id) {
    return (0 - static_cast<std::uint32_t>(id == PairTable::no_id)) & PairTable::no_id;
}

template <class Word> inline void start(Lane<Word> &lane, const PairTable &pairs, Word &word) {
    const std::uint32_t size = take(lane, pairs, word);
    lane.word = &word;
    lane.keys[0] = no_pair;
    lane.ids[0] = lane.ids[size + 1] = PairTable::no_id;
    lane.ids[lane.positions] = lane.ids[lane.parked] = PairTable::no_id;
    lane.alive = (typename Lane<Word>::Bits(1) << (size + 2)) - 1;
    lane.left = lane.at = lane.next = lane.parked;
    lane.before = lane.after = pairs.any_slot();
}

template <class Word> inline void finish(const Lane<Word> &lane) {
    using Bits = typename Lane<Word>::Bits;
    Bits alive = lane.alive & ~(Bits(1) | Bits(1) << highest_bit(lane.alive));
    std::uint32_t *ids = lane.word->ids;
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < ShortWord::least_room; i++) {
        ids[i] = lane.ids[lowest_bit(alive | Bits(1) << lane.parked)];
        count += alive != 0;
        alive &= alive - (alive != 0);
    }
    for (; alive; alive &= alive - 1) ids[count++] = lane.ids[lowest_bit(alive)];
    lane.word->count = count;
}

template <class Word> inline std::int32_t least_key(const Lane<Word> &lane) {
    std::int32_t four[4];
    std::copy_n(lane.keys, 4, four);
    for (std::uint32_t k = 4; k < lane.positions; k += 4)
        for (std::uint32_t i = 0; i < 4; i++) four[i] = std::min(four[i], lane.keys[k + i]);
    return std::min(std::min(four[0], four[1]), std::min(four[2], four[3]));
}

template <class Word> void merge_all(const PairTable &pairs, Word *words, std::size_t count) {
    using Bits = typename Lane<Word>::Bits;
    Lane<Word> room[lanes];
    Lane<Word> *active[lanes];
    std::size_t started = std::min(count, lanes), running = started;
    for (std::size_t i = 0; i < started; i++) {
        active[i] = &room[i];
        start(room[i], pairs, words[i]);
    }
    while (running) {
        // The least key of the pairs that the last merge left: found while the slots of the pairs
        // that it made are on their way, and in a pass of its own, since wide loads of keys right
        // after they are stored would stall.
        for (std::size_t i = 0; i < running; i++) active[i]->least = least_key(*active[i]);
        for (std::size_t i = 0; i < running;) {
            Lane<Word> &lane = *active[i];
            const std::uint32_t made = lane.ids[lane.at];
            const std::int32_t before_key =
                                   key_in(*lane.before, lane.ids[lane.left], made, lane.left),
                               after_key = key_in(*lane.after, made, lane.ids[lane.next], lane.at),
                               key = std::min(lane.least, std::min(before_key, after_key));
            lane.keys[lane.left] = before_key;
            lane.keys[lane.at] = after_key;
            if (__builtin_expect(key == no_pair, 0)) {
                finish(lane);
                if (started < count) start(lane, pairs, words[started++]), i++;
                else std::swap(active[i], active[--running]);
                continue;
            }
            const std::uint32_t at = static_cast<std::uint32_t>(key) & position_mask;
            const Bits above = lane.alive & ~Bits(1) << at;
            const std::uint32_t right = lowest_bit(above);
            lane.at = at;
            lane.next = lowest_bit(above & (above - 1));
            lane.left = highest_bit(lane.alive & ((Bits(1) << at) - 1));
            lane.alive &= ~(Bits(1) << right);
            lane.keys[lane.left] = lane.keys[at] = lane.keys[right] = no_pair;
            const std::uint32_t id = pairs.id_of(static_cast<std::uint32_t>(key) >> 5);
            lane.ids[at] = id;
            const std::uint32_t before = lane.ids[lane.left], after = lane.ids[lane.next];
            lane.before = pairs.slot(before, id | ones_for_guard(before));
            lane.after = pairs.slot(id | ones_for_guard(after), after);
            __builtin_prefetch(lane.before);
            __builtin_prefetch(lane.after);
            i++;
        }
    }
}

}  // namespace

MergeShortWords short_word_merger(unsigned width) {
    const MergeShortWords widest = width >= 512 ? short_word_merger_avx512() : nullptr;
    return widest ? widest : merge_all<ShortWord>;
}

void merge_words(const PairTable &pairs, LongWord *words, std::size_t count) {
    merge_all(pairs, words, count);
}

}  // namespace tokexport
