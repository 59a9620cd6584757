// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The caches of pre-tokens encoded before, one of each kind per workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tokexport {

constexpr std::uint32_t id_mask = 0x1FFFFF;  // ids are below 2^21 - 1
constexpr unsigned id_count_shift = 28;      // the number of ids is in the upper bits of the first

inline std::uint64_t load64(const std::uint8_t *p) {
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
}

inline bool is_equal16(const std::uint8_t *p, const std::uint8_t *q) {
    return ((load64(p) ^ load64(q)) | (load64(p + 8) ^ load64(q + 8))) == 0;
}

// Zeroed memory, which begins on a large page; untouched pages cost nothing.
class ZeroedPages {
public:
    // Converts to false if there was no memory.
    explicit ZeroedPages(std::size_t size);
    ZeroedPages(const ZeroedPages &) = delete;
    ZeroedPages &operator=(const ZeroedPages &) = delete;
    ~ZeroedPages();

    explicit operator bool() const { return memory_ != nullptr; }
    void *data() const;

private:
    std::size_t size_ = 0;
    void *memory_ = nullptr;
};

// For a pre-token of at most 15 bytes: its bytes, zeros, and in byte 15 its length, with `part` if
// it is a part of a pre-token. For a longer one: a hash and the length, with `hashed` in byte 15.
struct WordKey {
    static constexpr std::size_t longest = 15;
    static constexpr std::uint64_t part = std::uint64_t(0x40) << 56, hashed = std::uint64_t(0x80)
                                                                              << 56;
    std::uint64_t a, b;

    bool is_hashed() const { return b >> 63; }

    // `size`: 16 or more.
    static WordKey of_long(const std::uint8_t *bytes, std::size_t size) {
        std::uint64_t a = size, b = 0;
        const auto mix = [&](const std::uint8_t *p) {
            a = (a ^ load64(p)) * 0x9E3779B97F4A7C15;
            b = (b ^ load64(p + 8)) * 0xC4CEB9FE1A85EC53;
            a ^= a >> 32;
            b ^= b >> 29;
        };
        for (std::size_t i = 0; i + 16 < size; i += 16) mix(bytes + i);
        mix(bytes + size - 16);
        return {a ^ b * 0xFF51AFD7ED558CCD, size | hashed};
    }
};

// A word with more than most_inline ids, or with a hashed key, has its ids in a WordRing: then
// `ids` is the number of ids, with `in_ring` in its upper bits, and the position in the ring. While
// a word waits for its ids, the first element is the number given when the slot was reserved, with
// `pending` in its upper bits, and the second one is 1 if the word had the slot before.
struct WordSlot {
    static constexpr std::size_t most_inline = 4;
    static constexpr std::uint32_t in_ring = std::uint32_t(15) << id_count_shift,
                                   pending = std::uint32_t(14) << id_count_shift;

    WordKey key;
    std::uint32_t ids[most_inline];

    bool is_pending() const { return ids[0] >> id_count_shift == pending >> id_count_shift; }
    std::uint32_t pending_number() const { return ids[0] & ~in_ring; }
    std::size_t ring_count() const { return ids[0] & ~in_ring; }
    std::uint64_t ring_position() const { return ids[2] | std::uint64_t(ids[3]) << 32; }
};

// Entries of any size, one after the other; new ones overwrite the oldest. An entry is the bytes of
// a hashed key, and ids; both begin at multiples of 16 bytes.
class WordRing {
public:
    // The most key bytes and the most ids of an entry.
    static constexpr std::size_t longest = 256, most_ids = 128;
    // At least this many ids can be read from any entry.
    static constexpr std::size_t readable = 12;

    explicit WordRing(std::size_t size);  // a power of 2
    WordRing(const WordRing &) = delete;
    WordRing &operator=(const WordRing &) = delete;

    // `key_size`: 0 if the slot has the key. Returns the entry's position.
    std::uint64_t add(const std::uint8_t *key, std::size_t key_size, const std::uint32_t *ids,
                      std::size_t count);

    // The position of no entry, now or later.
    std::uint64_t nowhere() const { return end_ - size_ - 1; }

    // The ids of an entry; nullptr if it was overwritten, or has another key.
    const std::uint32_t *find(std::uint64_t position, const std::uint8_t *key,
                              std::size_t key_size) const {
        if (__builtin_expect(end_ - position > size_, 0)) return nullptr;
        const std::uint8_t *entry = memory_ + (position & (size_ - 1));
        if (key_size) {
            std::uint64_t i = 0;
            for (; i + 16 < key_size; i += 16)
                if (!is_equal16(entry + i, key + i)) return nullptr;
            if (!is_equal16(entry + key_size - 16, key + key_size - 16)) return nullptr;
        }
        return reinterpret_cast<const std::uint32_t *>(entry + rounded(key_size));
    }

    // Prefetches the cache lines that most entries have.
    void prefetch(std::uint64_t position) const {
        const std::uint8_t *entry = memory_ + (position & (size_ - 1));
        __builtin_prefetch(entry);
        __builtin_prefetch(entry + 64);
    }

private:
    static std::size_t rounded(std::size_t bytes) { return (bytes + 15) & ~std::size_t(15); }

    const std::size_t size_;
    ZeroedPages pages_;
    std::uint8_t *memory_;
    std::uint64_t end_ = 0;  // end_ % size_ is the offset in the ring
};

// Sets of two slots, one cache line each. A hit writes nothing. A new word takes a free slot of its
// set, the first one first; if there is none, a free slot of the set beside it, the second one
// first; if there is none, the second slot of its own set. So the words that came first stay, and
// these are mostly the frequent ones.
class WordCache {
public:
    // The most bytes of the table and of the ring: powers of 2.
    WordCache(std::size_t size, std::size_t ring_size);
    WordCache(const WordCache &) = delete;
    WordCache &operator=(const WordCache &) = delete;

    const WordSlot *slots() const { return slots_; }
    const WordRing &ring() const { return ring_; }
    unsigned shift() const { return shift_; }

    static constexpr std::uint64_t k1 = 0x9E3779B97F4A7C15, k2 = 0xD6E8FEB86659FD93;
    // The first slot of the set of a key.
    static std::size_t set_of(const WordKey &key, unsigned shift) {
        const std::uint64_t h = (key.a ^ key.b * k1) * k2;
        return static_cast<std::size_t>(h >> shift) * 2;
    }

    // Prefetches the ring's entry for a hashed key, if the key is in its set.
    void prefetch_entry(const WordKey &key, std::size_t set) const {
        const WordSlot *slot = slots_ + set;
        slot += !is(*slot, key);
        ring_.prefetch(is(*slot, key) ? slot->ring_position() : 0);
    }

    // The slot of a key, or nullptr.
    const WordSlot *find(const WordKey &key) const { return find(key, set_of(key, shift_)); }
    const WordSlot *find(const WordKey &key, std::size_t set) const {
        const WordSlot *slot = slots_ + set;
        if (is(*slot, key)) return slot;
        if (is(slot[1], key)) return slot + 1;
        if (is_free(slot[1])) return nullptr;
        slot = slots_ + (set ^ 2);
        if (is(slot[1], key)) return slot + 1;
        return is(*slot, key) ? slot : nullptr;
    }

    // Adds a word. `bytes` are needed for a hashed key; words that are too long are not added. At
    // least most_inline elements of `ids` must be readable.
    void insert(const WordKey &key, const std::uint8_t *bytes, std::size_t size,
                const std::uint32_t *ids, std::size_t count) {
        const std::size_t place = place_for(key, set_of(key, shift_));
        used_ += is_free(slots_[place]);
        slots_[place].key = key;
        put_ids(slots_[place], bytes, size, ids, count);
    }

    // Reserves a slot for a key that is not in the cache, until its ids are known: find returns it
    // as pending, with that number. Returns the index of the slot.
    std::uint32_t reserve(const WordKey &key, std::size_t set, std::uint32_t number) {
        const std::size_t place = place_for(key, set);
        used_ += is_free(slots_[place]);
        slots_[place].ids[0] = number | WordSlot::pending;
        slots_[place].ids[1] = is(slots_[place], key);
        slots_[place].key = key;
        return static_cast<std::uint32_t>(place);
    }

    // Like insert, into a reserved slot, unless another word has taken it since.
    void fill(std::uint32_t place, std::uint32_t number, const std::uint8_t *bytes,
              std::size_t size, const std::uint32_t *ids, std::size_t count) {
        if (slots_[place].ids[0] == (number | WordSlot::pending))
            put_ids(slots_[place], bytes, size, ids, count);
    }

    // Frees a reserved slot, if there are no ids for it.
    void release(std::uint32_t place, std::uint32_t number) {
        if (slots_[place].ids[0] == (number | WordSlot::pending)) free(slots_[place]);
    }

    // Grows the table if it is due. Indices of slots, and pointers to them, become invalid.
    void grow_if_full() {
        if (used_ > limit_ && size_ < last_size_) grow();
    }

private:
    // The size in bytes. Pages are touched as words are added, and touching one costs as much as
    // merging some words: so the table starts small and doubles in place when two fifths of it are
    // in use. At a third, texts in many scripts are 3 % slower when new, and 4 % faster when
    // repeated; at a half it is the other way round by 5 % and 15 %.
    static constexpr std::size_t first_size = std::size_t(1) << 22;

    static bool is(const WordSlot &slot, const WordKey &key) {
        return slot.key.a == key.a && slot.key.b == key.b;
    }

    static bool is_free(const WordSlot &slot) { return slot.key.b >> 56 == 0; }

    void set_size(std::size_t size);
    void grow();

    void free(WordSlot &slot) {
        slot = {};
        used_--;
    }

    // The slot that a key has, or will take.
    std::size_t place_for(const WordKey &key, std::size_t set) const {
        const auto takes = [&](std::size_t at) {
            return is_free(slots_[at]) | is(slots_[at], key);
        };
        const std::size_t place = set + !takes(set);  // without a branch: it is unpredictable
        if (__builtin_expect(takes(place), 1)) return place;
        if (takes((set ^ 2) + 1)) return (set ^ 2) + 1;
        return takes(set ^ 2) ? set ^ 2 : place;
    }

    void put_ids(WordSlot &slot, const std::uint8_t *bytes, std::size_t size,
                 const std::uint32_t *ids, std::size_t count) {
        if (__builtin_expect(slot.key.is_hashed() | (count > WordSlot::most_inline), 0)) {
            put_in_ring(slot, bytes, size, ids, count);
            return;
        }
        std::memcpy(slot.ids, ids, sizeof slot.ids);
        slot.ids[0] |= static_cast<std::uint32_t>(count) << id_count_shift;
    }

    void put_in_ring(WordSlot &slot, const std::uint8_t *bytes, std::size_t size,
                     const std::uint32_t *ids, std::size_t count);

    const std::size_t last_size_;
    WordRing ring_;
    ZeroedPages memory_;
    WordSlot *slots_ = nullptr;
    std::size_t size_ = 0, used_ = 0, limit_ = 0;
    unsigned shift_ = 0;
};

}  // namespace tokexport
