// The caches of pre-tokens that were encoded before, one of each in a workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>

namespace tokexport {

constexpr std::uint32_t id_mask = 0x1FFFFF;  // ids are below 2^21 - 1
constexpr unsigned id_count_shift = 28;      // the number of ids is in the upper bits of the first

inline std::uint64_t load64(const std::uint8_t *p) {
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
}

// The bytes of a pre-token of at most 15 bytes, zeros, and in byte 15 its length, with `part` if
// it is a part of a pre-token.
struct WordKey {
    static constexpr std::size_t longest = 15;
    static constexpr std::uint64_t part = std::uint64_t(0x40) << 56;
    std::uint64_t a, b;
};

struct WordSlot {
    WordKey key;
    std::uint32_t ids[4];
};

// Sets of two slots in one line of the machine's cache. A hit writes nothing; a new word takes the
// first slot if it is free, else the second. So the words that came first stay, which are nearly
// the frequent ones.
class WordCache {
public:
    static constexpr std::size_t most_ids = 4;

    WordCache() { allocate(first_size); }
    WordCache(const WordCache &) = delete;
    WordCache &operator=(const WordCache &) = delete;

    const WordSlot *slots() const { return slots_; }
    unsigned shift() const { return shift_; }

    // The first slot of the set of a key.
    static std::size_t set_of(const WordKey &key, unsigned shift) {
        const std::uint64_t h = (key.a ^ key.b * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93;
        return static_cast<std::size_t>(h >> shift) * 2;
    }

    // The slot of a key, or nullptr.
    const WordSlot *find(const WordKey &key) const {
        const WordSlot *slot = slots_ + set_of(key, shift_);
        if (is(*slot, key)) return slot;
        return is(slot[1], key) ? slot + 1 : nullptr;
    }

    // `count`: 1 to most_ids. Pointers to slots become invalid.
    void insert(const WordKey &key, const std::uint32_t *ids, std::size_t count) {
        if (used_ > limit_ && size_ < last_size) grow();
        put(key, ids, count);
    }

private:
    // The size in bytes. Pages are touched as words come, and a fresh one costs as much as merging
    // some words: the table starts small and doubles when a third of it is in use. At a half, one
    // word in ten would not find a place.
    static constexpr std::size_t first_size = std::size_t(1) << 21;
    static constexpr std::size_t last_size = std::size_t(1) << 24;

    static bool is(const WordSlot &slot, const WordKey &key) {
        return slot.key.a == key.a && slot.key.b == key.b;
    }

    static bool is_free(const WordSlot &slot) { return slot.key.b >> 56 == 0; }

    // False: there is no memory, and everything is as before.
    bool allocate(std::size_t size);
    void grow();

    void put(const WordKey &key, const std::uint32_t *ids, std::size_t count) {
        WordSlot *slot = slots_ + set_of(key, shift_);
        if (!is_free(*slot) && !is(*slot, key)) slot++;
        used_ += is_free(*slot);
        slot->key = key;
        for (std::size_t i = 0; i < most_ids; i++) slot->ids[i] = i < count ? ids[i] : 0;
        slot->ids[0] |= static_cast<std::uint32_t>(count) << id_count_shift;
    }

    std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
    WordSlot *slots_ = nullptr;
    std::size_t size_ = 0, used_ = 0, limit_ = 0;
    unsigned shift_ = 0;
};

// What is too long for a WordSlot, in bytes or in ids: two lines of the machine's cache.
struct LongWordSlot {
    static constexpr std::size_t longest = 48, most_ids = 19;
    std::uint64_t key[6];
    std::uint32_t size_and_count;  // size << 8 | count; 0: free
    std::uint32_t ids[most_ids];
};

// The key of a pre-token of at most 48 bytes: its WordKey and zeros; or, from 16 bytes on, the
// first 16, 16 of the middle, and the last 16, which may overlap.
struct LongWordKey {
    std::uint64_t words[6];

    LongWordKey(const WordKey &key, const std::uint8_t *bytes, std::size_t size)
        : words{key.a, key.b, 0, 0, 0, 0} {
        if (size <= WordKey::longest) return;
        std::memcpy(words, bytes, 16);
        std::memcpy(words + 2, bytes + (size < 32 ? size - 16 : 16), 16);
        std::memcpy(words + 4, bytes + size - 16, 16);
    }

    std::size_t hash(unsigned bits) const {
        std::uint64_t h = words[0] ^ words[1] * 0x9E3779B97F4A7C15;
        h = (h ^ words[2]) * 0xC4CEB9FE1A85EC53 ^ words[3] * 0xFF51AFD7ED558CCD;
        h ^= h >> 32;
        h = (h ^ words[4]) * 0xC4CEB9FE1A85EC53 ^ words[5] * 0xFF51AFD7ED558CCD;
        return static_cast<std::size_t>((h ^ h >> 29) * 0xD6E8FEB86659FD93 >> (64 - bits));
    }
};

class LongWordCache {
public:
    LongWordCache();
    LongWordCache(const LongWordCache &) = delete;
    LongWordCache &operator=(const LongWordCache &) = delete;

    // Whether a pre-token may be here. Few of those of at most 15 bytes are, and their bits of 4 KB
    // spare the others a look into the table.
    bool may_have(const WordKey &key, std::size_t size) const {
        if (size > WordKey::longest) return size <= LongWordSlot::longest;
        const std::size_t bit = bit_of(key);
        return short_[bit >> 6] >> (bit & 63) & 1;
    }

    // The only slot that may hold a pre-token.
    LongWordSlot *slot(const LongWordKey &key) const { return slots_ + key.hash(bits); }

    static bool is(const LongWordSlot &slot, const LongWordKey &key, std::size_t size) {
        return slot.size_and_count >> 8 == size && std::memcmp(slot.key, key.words, 48) == 0;
    }

    // `short_key`: of a pre-token of at most 15 bytes. `count`: 1 to most_ids.
    void put(const WordKey &short_key, const std::uint8_t *bytes, std::size_t size,
             const std::uint32_t *ids, std::size_t count) {
        const LongWordKey key(short_key, bytes, size);
        LongWordSlot &slot = *this->slot(key);
        const std::size_t bit = bit_of(short_key);
        if (size <= WordKey::longest) short_[bit >> 6] |= std::uint64_t(1) << (bit & 63);
        std::memcpy(slot.key, key.words, sizeof slot.key);
        slot.size_and_count = static_cast<std::uint32_t>(size << 8 | count);
        std::memcpy(slot.ids, ids, count * sizeof *ids);
    }

private:
    static constexpr unsigned bits = 15;  // 4 MB, touched as words come
    static constexpr unsigned short_bits = 15;

    static std::size_t bit_of(const WordKey &key) {
        return WordCache::set_of(key, 64 - short_bits) / 2;
    }

    std::uint64_t short_[(1 << short_bits) / 64] = {};

    std::unique_ptr<void, decltype(&std::free)> memory_;
    LongWordSlot *slots_;
};

}  // namespace tokexport
