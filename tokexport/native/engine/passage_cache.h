// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// A cache of passages encoded before: the beginning of a conversation, a system prompt or a
// document that is repeated is found as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/words/word_cache.h"

namespace tokexport {

// A text that is encoded on its own.
struct Passage {
    // A shorter segment is not looked up: that takes as long as encoding it. In a batch, or as a
    // text of its own, it is.
    static constexpr std::size_t shortest = 64;

    const std::uint8_t *bytes;
    std::size_t size;
    std::size_t kind;        // TKX_BULK_SEGMENT or another; below 4
    std::uint64_t hash = 0;  // of all bytes; 0: not looked up

    void set_hash();
};

// Bytes and ids are in a ring, where new entries overwrite the oldest, and a hash table refers to
// them. A hit requires that all bytes are equal, not just the hash.
class PassageCache {
public:
    // `size`: bytes of memory, whose pages are touched as passages are added; nearly a quarter may
    // be in use before the first hit. `set_bits`: the table has at most 4 << set_bits slots, fewer
    // if the size is small. `is_narrow`: all ids fit into 16 bits.
    PassageCache(std::size_t size, unsigned set_bits, bool is_narrow);

    void prefetch(const Passage &passage) const {
        if (slots_) __builtin_prefetch(slots_ + set_of(passage));
    }

    // Whether a passage is in the cache.
    bool has(const Passage &passage) const { return find(passage) != nullptr; }

    // Writes at most `room` ids of a passage, and returns how many it has; 0 if it is not cached.
    std::size_t take(const Passage &passage, std::uint32_t *ids, std::size_t room);

    // Adds a passage that is not cached, with at least one id, if there is memory, and if budget is
    // left or this is one in `sample` such passages. A hit adds budget of twice the entry's size:
    // storing a whole corpus in which nothing is repeated would take 4 to 10 % of the time, most of
    // it for touching pages for the first time. `is_costly`: encoding it took so long that storing
    // it adds little; such passages are added until the ring is full, whatever the budget.
    void add(const Passage &passage, const std::uint32_t *ids, std::size_t count, bool is_costly);

private:
    // A set is one cache line.
    static constexpr std::size_t set_size = 4;
    static constexpr unsigned sample = 8;

    struct Slot {
        std::uint64_t hash, position;
    };

    struct Header {
        std::uint64_t size_and_kind, count;
    };

    static unsigned fitting_bits(std::size_t size, unsigned most);

    std::size_t set_of(const Passage &passage) const {
        return static_cast<std::size_t>(passage.hash >> set_shift_) * set_size;
    }

    // The size of an entry in bytes.
    std::size_t size_of(const Passage &passage, std::size_t count) const;
    const std::uint8_t *find(const Passage &passage) const;
    bool allocate();

    const std::size_t table_size_, ring_size_, id_size_;
    const unsigned set_shift_;
    std::unique_ptr<ZeroedPages> pages_;  // the table, then the ring
    Slot *slots_ = nullptr;
    std::uint8_t *ring_ = nullptr;
    std::uint64_t end_ = 0;  // end_ % ring_size_ is the offset in the ring
    std::size_t budget_;     // bytes that may be added
    unsigned turn_ = 0;
};

}  // namespace tokexport
