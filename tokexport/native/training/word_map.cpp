// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "word_map.h"

namespace tokexport {

void WordMap::add_short(const WordKey &key, std::uint64_t count, std::uint64_t first) {
    std::size_t at = slot_of(key);
    for (; slots_[at].key.b; at = (at + 1) & (slots_.size() - 1)) {
        Slot &slot = slots_[at];
        if (slot.key.a == key.a && slot.key.b == key.b) return see(slot, count, first);
    }
    fill(at, {key, count, first});
}

void WordMap::add_long(const std::uint8_t *bytes, std::size_t size, std::uint64_t count,
                       std::uint64_t first) {
    std::uint64_t hash = size;
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
        hash = (hash ^ load64(bytes + i)) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 29;
    }
    hash ^= load64(bytes + size - 8) * 0xD6E8FEB86659FD93;
    WordKey key{hash, is_long << 56};
    std::size_t at = slot_of(key);
    for (; slots_[at].key.b; at = (at + 1) & (slots_.size() - 1)) {
        Slot &slot = slots_[at];
        if (slot.key.b >> 56 == is_long && slot.key.a == hash && long_length(slot.key) == size &&
            std::memcmp(long_bytes(slot.key), bytes, size) == 0)
            return see(slot, count, first);
    }
    key.b |= bytes_.size();
    const auto length = static_cast<std::uint32_t>(size);
    const auto *length_bytes = reinterpret_cast<const std::uint8_t *>(&length);
    bytes_.insert(bytes_.end(), length_bytes, length_bytes + sizeof length);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
    fill(at, {key, count, first});
}

void WordMap::add(const std::uint8_t *bytes, std::size_t size, std::uint64_t count,
                  std::uint64_t first) {
    if (size > WordKey::longest) return add_long(bytes, size, count, first);
    std::uint8_t padded[16] = {};
    std::memcpy(padded, bytes, size);
    add_short(key_of(padded, size), count, first);
}

void WordMap::fill(std::size_t at, const Slot &slot) {
    slots_[at] = slot;
    if (2 * ++used_ < slots_.size()) return;
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot &moved : before) {
        if (!moved.key.b) continue;
        std::size_t to = slot_of(moved.key);
        while (slots_[to].key.b) to = (to + 1) & (slots_.size() - 1);
        slots_[to] = moved;
    }
}

void WordMap::absorb(const WordMap &other) {
    for (const Slot &slot : other.slots_) {
        if (!slot.key.b) continue;
        if (slot.key.b >> 56 != is_long) add_short(slot.key, slot.count, slot.first);
        else
            add_long(other.long_bytes(slot.key), other.long_length(slot.key), slot.count,
                     slot.first);
    }
}

std::vector<const WordMap::Slot *> WordMap::words() const {
    std::vector<const Slot *> found;
    found.reserve(used_);
    for (const Slot &slot : slots_)
        if (slot.key.b) found.push_back(&slot);
    return found;
}

std::size_t WordMap::length(const Slot &slot) const {
    return slot.key.b >> 56 == is_long ? long_length(slot.key) : slot.key.b >> 56;
}

void WordMap::copy(const Slot &slot, std::uint8_t *to) const {
    const std::string_view bytes = view(slot);
    std::memcpy(to, bytes.data(), bytes.size());
}

}  // namespace tokexport
