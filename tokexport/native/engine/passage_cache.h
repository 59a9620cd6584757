// A cache of passages that were encoded before: the beginning of a conversation, a system prompt or
// a document that comes again is found whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "word_cache.h"

namespace tokexport {

// A text that is encoded alone, of `shortest` bytes at least: to look for less costs as much as to
// encode it.
struct Passage {
    static constexpr std::size_t shortest = 64;

    const std::uint8_t *bytes;
    std::size_t size;
    bool is_spaced;          // bridge.h
    std::uint64_t hash = 0;  // of all bytes; 0: not looked for, and not kept

    void set_hash();

    // A number that is 0 for one passage in eight.
    unsigned sample() const;
};

// Bytes and ids in a ring, the oldest of which make room for new ones, and a table of hashes. A
// passage is found if all of its bytes are equal, whatever its hash is.
class PassageCache {
public:
    // `size`: bytes of memory, of which the pages are touched as passages come. `set_bits`: the
    // table has 4 << set_bits slots. `is_narrow`: no id has more than 16 bits.
    PassageCache(std::size_t size, unsigned set_bits, bool is_narrow);

    // Whether a passage is looked for, and kept. When as much was kept as there is room for, and
    // nothing of it came again, this is a corpus: then only a sample is, until one comes again.
    bool wants(const Passage &passage) const {
        return kept_since_hit_ < ring_size_ || passage.sample() == 0;
    }

    void prefetch(const Passage &passage) const {
        if (slots_) __builtin_prefetch(slots_ + set_of(passage));
    }

    // Whether a passage is there.
    bool has(const Passage &passage) const { return find(passage) != nullptr; }

    // Writes at most `room` ids of a passage, and returns how many it has; 0: it is not there.
    std::size_t take(const Passage &passage, std::uint32_t *ids, std::size_t room);

    // Keeps a passage that is not there, with its ids, of which there is at least one; if there is
    // memory.
    void add(const Passage &passage, const std::uint32_t *ids, std::size_t count);

private:
    // A set is a line of the machine's cache.
    static constexpr std::size_t set_size = 4;

    struct Slot {
        std::uint64_t hash, position;
    };

    struct Header {
        std::uint64_t size_and_is_spaced, count;
    };

    std::size_t set_of(const Passage &passage) const {
        return static_cast<std::size_t>(passage.hash >> set_shift_) * set_size;
    }

    const std::uint8_t *find(const Passage &passage) const;
    bool allocate();

    const std::size_t table_size_, ring_size_, id_size_;
    const unsigned set_shift_;
    std::unique_ptr<ZeroedPages> pages_;  // the table, then the ring
    Slot *slots_ = nullptr;
    std::uint8_t *ring_ = nullptr;
    std::uint64_t end_ = 0;  // position % ring_size_ is the place
    std::uint64_t kept_since_hit_ = 0;
};

}  // namespace tokexport
