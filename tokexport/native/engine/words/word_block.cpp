// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "word_block.h"

#include <algorithm>

namespace tokexport {

namespace {

template <class Read>
inline std::uint32_t find_with(const WordCache &words, WordBlock &block, Read read) {
    std::uint32_t sizes = 0, from = block.start;
    block.hashed_count = 0;
    for (std::size_t i = 0; i < block.count; from = block.ends[i++]) {
        const std::uint32_t size = block.ends[i] - from;
        const KeyMask &mask = key_masks.of(size);
        const std::uint8_t *p = read(from);
        const WordKey key{load64(p) & mask.kept[0], (load64(p + 8) & mask.kept[1]) | mask.added[1]};
        const std::size_t set = WordCache::set_of(key, words.shift());
        __builtin_prefetch(words.slots() + set);
        block.keys[i] = key;
        block.sets[i] = static_cast<std::uint32_t>(set);
        sizes |= size;
        block.hashed[block.hashed_count] = static_cast<std::uint8_t>(i);
        block.hashed_count += size > WordKey::longest;
    }
    block.shift = words.shift();
    block.find_hashed(words);
    return sizes;
}

std::uint32_t find(const WordCache &words, WordBlock &block, const std::uint8_t *limit) {
    return with_reader(block, limit, [&](auto read) { return find_with(words, block, read); });
}

std::uint32_t *take(WordCache &words, const WordBlock &block, const std::uint32_t *out,
                    std::uint32_t *at, Misses &misses) {
    for (std::size_t i = 0; i < block.count; i++) {
        const WordKey key = block.keys[i];
        const WordSlot *slot = words.slots() + block.sets[i];
        // Selects one of the two slots of the set without a branch, which could not be predicted.
        slot += ((slot->key.a ^ key.a) | (slot->key.b ^ key.b)) != 0;
        const bool is_hit = ((slot->key.a ^ key.a) | (slot->key.b ^ key.b)) == 0;
        std::uint64_t two[2];
        std::memcpy(two, slot->ids, sizeof two);
        const std::size_t count = (two[0] & 0xFFFFFFFF) >> id_count_shift;
        if (__builtin_expect(is_hit & (count <= WordSlot::most_inline), 1)) {
            two[0] &= ~std::uint64_t(0xFFFFFFFF) | id_mask;
            std::memcpy(at, two, sizeof two);
            at += count;
        } else {
            at = block.take_elsewhere(words, i, out, at, misses);
        }
    }
    return at;
}

}  // namespace

void WordBlock::find_hashed(const WordCache &words) {
    for (std::size_t k = 0; k < hashed_count; k++) {
        const std::size_t i = hashed[k];
        const std::uint32_t size = size_of(i);
        if (size > WordRing::longest) continue;
        keys[i] = WordKey::of_long(text + begin_of(i), size);
        sets[i] = static_cast<std::uint32_t>(WordCache::set_of(keys[i], words.shift()));
        __builtin_prefetch(words.slots() + sets[i]);
    }
    for (std::size_t k = 0; k < hashed_count; k++)
        words.prefetch_entry(keys[hashed[k]], sets[hashed[k]]);
}

inline void Misses::add(WordCache &words, const WordKey &key, std::size_t set,
                        const WordSlot *pending, const std::uint8_t *bytes_, std::uint32_t size,
                        std::size_t at) {
    const std::uint32_t number = static_cast<std::uint32_t>(count++);
    Miss &miss = list_[number];
    miss = {key, bytes_, size, static_cast<std::uint32_t>(at), 0, 0, 0, Miss::no_place, number};
    if (pending) {
        const std::uint32_t same = pending->pending_number();
        // Hashed keys of different pre-tokens can collide.
        if (!key.is_hashed() || std::memcmp(list_[same].bytes, bytes_, size) == 0) miss.same = same;
    } else if (size <= WordRing::longest) {
        miss.place = words.reserve(key, set, number);
    }
    bytes += size + most_more_ids;
    total++;
}

std::uint32_t *WordBlock::take_elsewhere(WordCache &words, std::size_t i, const std::uint32_t *out,
                                         std::uint32_t *at, Misses &misses) const {
    const WordKey &key = keys[i];
    const std::uint32_t from = begin_of(i), size = ends[i] - from;
    const WordSlot *slot = words.find(key, sets[i]);
    const bool is_pending = slot && slot->is_pending();
    if (slot && !is_pending) {
        const std::size_t count = slot->ids[0] >> id_count_shift;
        if (count <= WordSlot::most_inline) {
            std::memcpy(at, slot->ids, sizeof slot->ids);
            *at &= id_mask;
            return at + count;
        }
        const std::size_t number = slot->ring_count();
        const std::uint32_t *found =
            words.ring().find(slot->ring_position(), text + from, key.is_hashed() ? size : 0);
        if (found) {
            std::memcpy(at, found, WordRing::readable * sizeof *at);
            for (std::size_t k = WordRing::readable; k < number; k++) at[k] = found[k];
            return at + number;
        }
    }
    misses.add(words, key, sets[i], is_pending ? slot : nullptr, text + from, size,
               static_cast<std::size_t>(at - out));
    return at;
}

WordLookup word_lookup(unsigned width) {
    const WordLookup *widest = width >= 512 ? word_lookup_avx512() : nullptr;
    if (!widest && width >= 256) widest = word_lookup_avx2();
    return widest ? *widest : WordLookup{find, take};
}

}  // namespace tokexport
