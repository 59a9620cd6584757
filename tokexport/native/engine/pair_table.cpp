#include "pair_table.h"

#include <algorithm>
#include <cstring>

namespace tokexport {

namespace {

constexpr std::size_t pair_index_header = 16;

std::uint32_t load_u32(const std::uint8_t *p) {
    return p[0] | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 | std::uint32_t(p[3]) << 24;
}

std::uint64_t load_u64(const std::uint8_t *p) {
    return load_u32(p) | std::uint64_t(load_u32(p + 4)) << 32;
}

}  // namespace

bool PairTable::fill(const tkx &file) {
    std::vector<std::uint16_t> byte_of(file.id_count, 256);
    for (std::size_t i = 0; i < 256; i++) {
        byte_ids_[i] = load_u32(file.byte_ids.data + 4 * i);
        // Two bytes with one id have the same products: the table below would miss one of them.
        if (byte_ids_[i] >= file.id_count || byte_of[byte_ids_[i]] != 256) return false;
        byte_of[byte_ids_[i]] = static_cast<std::uint16_t>(i);
    }
    byte_pair_keys_.reset(new std::int32_t[1 << 16]);
    std::fill_n(byte_pair_keys_.get(), 1 << 16, no_pair);

    std::vector<Slot> pairs;
    pairs.reserve(file.pair_slots);
    const std::uint8_t *data = file.pair_index.data + pair_index_header;
    for (std::size_t i = 0; i < file.pair_slots; i++) {
        const Slot slot = load_u64(data + 8 * i);
        const std::uint32_t left = static_cast<std::uint32_t>(slot >> 42),
                            right = slot >> 21 & no_id, product = slot & no_id;
        if (slot == ~Slot(0)) continue;
        if (left >= file.id_count || right >= file.id_count || product >= file.id_count)
            return false;
        pairs.push_back(slot);
        if (byte_of[left] < 256 && byte_of[right] < 256)
            byte_pair_keys_[static_cast<std::size_t>(byte_of[left]) << 8 | byte_of[right]] =
                static_cast<std::int32_t>(product << 5);
    }
    return displace(pairs);
}

// Hash and displace: the buckets with the most pairs first, each gets the least displacement that
// puts all its pairs on free slots.
bool PairTable::displace(const std::vector<Slot> &pairs) {
    constexpr std::size_t largest_bucket = 64;
    const std::size_t count = pairs.size();
    unsigned slot_bits = 6, bucket_bits = 6;
    while ((std::size_t(1) << slot_bits) < count + count / 4) slot_bits++;
    while ((std::size_t(1) << bucket_bits) < count / 3) bucket_bits++;
    const std::size_t slot_count = std::size_t(1) << slot_bits, bucket_count = std::size_t(1)
                                                                               << bucket_bits;
    slot_mask_ = slot_count - 1;
    bucket_shift_ = 64 - bucket_bits;

    std::vector<std::uint32_t> firsts(bucket_count + 1, 0);
    for (Slot pair : pairs) firsts[((pair >> 21) * multiplier >> bucket_shift_) + 1]++;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < bucket_count; i++) {
        largest = std::max<std::size_t>(largest, firsts[i + 1]);
        firsts[i + 1] += firsts[i];
    }
    if (largest > largest_bucket) return false;
    std::vector<Slot> sorted(count);
    {
        std::vector<std::uint32_t> at(firsts.begin(), firsts.end() - 1);
        for (Slot pair : pairs) sorted[at[(pair >> 21) * multiplier >> bucket_shift_]++] = pair;
    }

    slots_.reset(new Slot[slot_count]);
    std::fill_n(slots_.get(), slot_count, ~Slot(0));
    displacements_.reset(new std::uint16_t[bucket_count]());
    std::vector<std::uint64_t> used((slot_count + 63) / 64, 0);
    for (std::size_t size = largest; size > 0; size--) {
        for (std::size_t bucket = 0; bucket < bucket_count; bucket++) {
            const std::size_t first = firsts[bucket];
            if (firsts[bucket + 1] - first != size) continue;
            std::uint64_t hashes[largest_bucket];
            for (std::size_t i = 0; i < size; i++)
                hashes[i] = (sorted[first + i] >> 21) * multiplier;
            std::uint32_t displacement = 0;
            for (;; displacement++) {
                if (displacement > 0xFFFF) return false;
                std::size_t i = 0;
                for (; i < size; i++) {
                    const std::uint64_t at = place(hashes[i], displacement) & slot_mask_;
                    if (used[at >> 6] >> (at & 63) & 1) break;
                    used[at >> 6] |= std::uint64_t(1) << (at & 63);
                }
                if (i == size) break;
                while (i-- > 0) {
                    const std::uint64_t at = place(hashes[i], displacement) & slot_mask_;
                    used[at >> 6] &= ~(std::uint64_t(1) << (at & 63));
                }
            }
            displacements_[bucket] = static_cast<std::uint16_t>(displacement);
            for (std::size_t i = 0; i < size; i++)
                slots_[place(hashes[i], displacement) & slot_mask_] = sorted[first + i];
        }
    }
    return true;
}

}  // namespace tokexport
