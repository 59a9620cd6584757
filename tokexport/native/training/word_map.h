// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Words (pre-tokens) and their counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/words/word_cache.h"

namespace tokexport {

// A hash table with open addressing. A word of at most 15 bytes is stored in its slot, with its
// length in the last byte of the key; for a longer one, the slot holds a hash and an offset.
class WordMap {
public:
    struct Slot {
        WordKey key;  // all zeros: free
        std::uint64_t count;
        std::uint64_t first;  // the position of its first occurrence
    };

    WordMap() : slots_(first_size) {}

    // The key of a word of at most WordKey::longest bytes; 16 bytes from `at` must be readable.
    static WordKey key_of(const std::uint8_t *at, std::size_t size) {
        const std::uint64_t full = ~std::uint64_t(0);
        const std::uint64_t low = size >= 8 ? full : (std::uint64_t(1) << 8 * size) - 1;
        const std::uint64_t high = size > 8 ? (std::uint64_t(1) << 8 * (size - 8)) - 1 : 0;
        return {load64(at) & low, (load64(at + 8) & high) | std::uint64_t(size) << 56};
    }

    void prefetch(const WordKey &key) const { __builtin_prefetch(&slots_[slot_of(key)]); }

    // Adds a word of at most WordKey::longest bytes by its key.
    void add_short(const WordKey &key, std::uint64_t count, std::uint64_t first);

    // Adds a longer word.
    void add_long(const std::uint8_t *bytes, std::size_t size, std::uint64_t count,
                  std::uint64_t first);

    // Adds a word of any length except 0.
    void add(const std::uint8_t *bytes, std::size_t size, std::uint64_t count, std::uint64_t first);

    // Adds the words of another map.
    void absorb(const WordMap &other);

    std::size_t size() const { return used_; }

    // The slots of all words.
    std::vector<const Slot *> words() const;

    std::size_t length(const Slot &slot) const;

    // The bytes of a word; of a short one they are in the slot.
    std::string_view view(const Slot &slot) const {
        const std::size_t size = length(slot);
        const void *at = size > WordKey::longest ? static_cast<const void *>(long_bytes(slot.key))
                                                 : static_cast<const void *>(&slot.key);
        return {static_cast<const char *>(at), size};
    }

    // Copies the bytes of a word.
    void copy(const Slot &slot, std::uint8_t *to) const;

private:
    static constexpr std::size_t first_size = std::size_t(1) << 12;
    static constexpr std::uint64_t is_long = 0xFF;
    static constexpr std::uint64_t offset_mask = (std::uint64_t(1) << 56) - 1;

    std::size_t slot_of(const WordKey &key) const {
        // The hash must not depend on the offset of a long word, which a lookup does not know.
        const std::uint64_t b = key.b >> 56 == is_long ? 0 : key.b;
        const std::uint64_t h = (key.a ^ b * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93;
        return static_cast<std::size_t>((h ^ h >> 32) & (slots_.size() - 1));
    }

    std::size_t long_length(const WordKey &key) const {
        std::uint32_t length;
        std::memcpy(&length, &bytes_[key.b & offset_mask], sizeof length);
        return length;
    }

    const std::uint8_t *long_bytes(const WordKey &key) const {
        return &bytes_[key.b & offset_mask] + sizeof(std::uint32_t);
    }

    static void see(Slot &slot, std::uint64_t count, std::uint64_t first) {
        slot.count += count;
        if (first < slot.first) slot.first = first;
    }

    void fill(std::size_t at, const Slot &slot);

    std::vector<Slot> slots_;
    std::vector<std::uint8_t> bytes_;  // of long words, each after its length
    std::size_t used_ = 0;
};

}  // namespace tokexport
