// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "passage_cache.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace tokexport {

namespace {

constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;

// Rounds up to where a part of an entry can begin.
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 15) & ~std::size_t(15); }

// The bytes of a text of less than eight.
std::uint64_t load_short(const std::uint8_t *p, std::size_t size) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; i++) word = word << 8 | p[i];
    return word;
}

}  // namespace

// Eight lanes: a multiplication depends only on the one 64 bytes before. The last round, or the
// last word of a short text, reads bytes again that were read before.
void Passage::set_hash() {
    hash = size << 2 | kind;
    const auto mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    };
    if (size < 64) {
        for (std::size_t i = 0; i + 8 < size; i += 8) mix(load64(bytes + i));
        mix(size < 8 ? load_short(bytes, size) : load64(bytes + size - 8));
    } else {
        std::uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        const auto round = [&](const std::uint8_t *p) {
            for (std::size_t k = 0; k < 8; k++) {
                const std::uint64_t product = (lanes[k] ^ load64(p + 8 * k)) * factor;
                lanes[k] = product << 31 | product >> 33;
            }
        };
        for (std::size_t i = 0; i + 64 < size; i += 64) round(bytes + i);
        round(bytes + size - 64);
        for (const std::uint64_t lane : lanes) mix(lane);
    }
    hash |= 1;  // the lowest bit is not used as part of the hash
}

PassageCache::PassageCache(std::size_t size, unsigned set_bits, bool is_narrow)
    : table_size_(sizeof(Slot) * set_size << fitting_bits(size, set_bits)),
      ring_size_((size - table_size_) / 16 * 16),
      id_size_(is_narrow ? 2 : 4),
      set_shift_(64 - fitting_bits(size, set_bits)),
      budget_(size / 4 - size / 256 - table_size_) {}

// The table takes at most a sixteenth of the memory.
unsigned PassageCache::fitting_bits(std::size_t size, unsigned most) {
    while (most > 1 && sizeof(Slot) * set_size << most > size / 16) most--;
    return most;
}

std::size_t PassageCache::size_of(const Passage &passage, std::size_t count) const {
    return sizeof(Header) + rounded(passage.size) + rounded(count * id_size_);
}

// The entry of a passage, or nullptr.
const std::uint8_t *PassageCache::find(const Passage &passage) const {
    if (!slots_ || !passage.hash) return nullptr;
    const Slot *slot = slots_ + set_of(passage);
    for (const Slot *last = slot + set_size; slot < last; slot++) {
        if (slot->hash != passage.hash || end_ - slot->position > ring_size_) continue;
        const std::uint8_t *entry = ring_ + slot->position % ring_size_;
        Header header;
        std::memcpy(&header, entry, sizeof header);
        if (header.size_and_kind == (passage.size << 2 | passage.kind) &&
            std::memcmp(entry + sizeof header, passage.bytes, passage.size) == 0)
            return entry;
    }
    return nullptr;
}

std::size_t PassageCache::take(const Passage &passage, std::uint32_t *ids, std::size_t room) {
    const std::uint8_t *entry = find(passage);
    if (!entry) return 0;
    Header header;
    std::memcpy(&header, entry, sizeof header);
    entry += sizeof header + rounded(passage.size);
    const std::size_t count = static_cast<std::size_t>(header.count),
                      copied = std::min(count, room);
    budget_ = std::min(ring_size_, budget_ + 2 * size_of(passage, count));
    if (id_size_ == 4) {
        if (copied) std::memcpy(ids, entry, copied * sizeof *ids);
    } else {
        const auto *narrow = reinterpret_cast<const std::uint16_t *>(entry);
        for (std::size_t i = 0; i < copied; i++) ids[i] = narrow[i];
    }
    return count;
}

void PassageCache::add(const Passage &passage, const std::uint32_t *ids, std::size_t count,
                       bool is_costly) {
    const bool is_free = is_costly && end_ < ring_size_;
    if (!is_free && !budget_ && ++turn_ % sample) return;
    const std::size_t ids_from = sizeof(Header) + rounded(passage.size),
                      room = size_of(passage, count);
    // One passage must not displace many.
    if (room > ring_size_ / 16 || (!slots_ && !allocate())) return;
    std::size_t place = static_cast<std::size_t>(end_ % ring_size_);
    if (place + room > ring_size_) {
        end_ += ring_size_ - place;
        place = 0;
    }
    // Replaces the oldest passage of the set; a free slot counts as the oldest.
    Slot *const set = slots_ + set_of(passage);
    *std::min_element(set, set + set_size, [](const Slot &a, const Slot &b) {
        return a.position < b.position;
    }) = {passage.hash, end_};
    end_ += room;
    budget_ -= std::min(budget_, room);
    const Header header{passage.size << 2 | passage.kind, count};
    std::uint8_t *const entry = ring_ + place;
    std::memcpy(entry, &header, sizeof header);
    std::memcpy(entry + sizeof header, passage.bytes, passage.size);
    if (id_size_ == 4) {
        std::memcpy(entry + ids_from, ids, count * sizeof *ids);
    } else {
        auto *narrow = reinterpret_cast<std::uint16_t *>(entry + ids_from);
        for (std::size_t i = 0; i < count; i++) narrow[i] = static_cast<std::uint16_t>(ids[i]);
    }
}

bool PassageCache::allocate() {
    auto pages = std::make_unique<ZeroedPages>(table_size_ + ring_size_);
    if (!*pages) return false;
    auto *memory = static_cast<std::uint8_t *>(pages->data());
    slots_ = reinterpret_cast<Slot *>(memory);
    ring_ = memory + table_size_;
    pages_ = std::move(pages);
    return true;
}

}  // namespace tokexport
