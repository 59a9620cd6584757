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
    std::uint64_t hash = 0;  // of all bytes; 0: it is shorter, and not looked for

    void set_hash();
};

// Bytes and ids in a ring, the oldest of which make room for new ones, and a table of hashes. A
// passage is found if all of its bytes are equal, whatever its hash is.
class PassageCache {
public:
    // `size`: bytes of memory, of which the pages are touched as passages come. `budget`: how many
    // of them may be in use before any passage is found. `set_bits`: the table has 4 << set_bits
    // slots. `is_narrow`: no id has more than 16 bits.
    PassageCache(std::size_t size, std::size_t budget, unsigned set_bits, bool is_narrow);

    void prefetch(const Passage &passage) const {
        if (slots_) __builtin_prefetch(slots_ + set_of(passage));
    }

    // Whether a passage is there.
    bool has(const Passage &passage) const { return find(passage) != nullptr; }

    // Writes at most `room` ids of a passage, and returns how many it has; 0: it is not there.
    std::size_t take(const Passage &passage, std::uint32_t *ids, std::size_t room);

    // Keeps a passage that is not there, with its ids, of which there is at least one: if there is
    // memory, and either budget or the turn of one in `sample`. What is found gives budget for
    // twice as much: to keep all of a corpus, of which nothing comes again, would take 4 to 10 % of
    // the time, most of it for pages that are touched for the first time.
    void add(const Passage &passage, const std::uint32_t *ids, std::size_t count);

private:
    // A set is a line of the machine's cache.
    static constexpr std::size_t set_size = 4;
    static constexpr unsigned sample = 8;

    struct Slot {
        std::uint64_t hash, position;
    };

    struct Header {
        std::uint64_t size_and_is_spaced, count;
    };

    std::size_t set_of(const Passage &passage) const {
        return static_cast<std::size_t>(passage.hash >> set_shift_) * set_size;
    }

    // The bytes of an entry.
    std::size_t size_of(const Passage &passage, std::size_t count) const;
    const std::uint8_t *find(const Passage &passage) const;
    bool allocate();

    const std::size_t table_size_, ring_size_, id_size_;
    const unsigned set_shift_;
    std::unique_ptr<ZeroedPages> pages_;  // the table, then the ring
    Slot *slots_ = nullptr;
    std::uint8_t *ring_ = nullptr;
    std::uint64_t end_ = 0;  // position % ring_size_ is the place
    std::size_t budget_;     // bytes that may be kept
    unsigned turn_ = 0;
};

}  // namespace tokexport
