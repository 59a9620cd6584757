// The merges of a file, found by one displacement and one slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tokexport.h"

namespace tokexport {

// PIDX of the file finds the slot of a pair by a row, a displacement and four multiplications; here
// it takes a displacement and two, and no index can be out of range. 226 -> 129 ns for a missed
// word of English, together with short_merges.h. The ids of pairs, and of a symbol that has no
// pair, are at most `no_id`.
class PairTable {
public:
    static constexpr std::uint32_t no_id = 0x1FFFFF;
    // left << 42 | right << 21 | product; a free slot has all ones
    using Slot = std::uint64_t;

    // False: the file is damaged, or there is no such table for its pairs.
    bool fill(const tkx &file);

    const Slot *slot(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t h = (std::uint64_t(left) << 21 | right) * multiplier;
        return &slots_[place(h, displacements_[h >> bucket_shift_]) & slot_mask_];
    }

    // The product, or no_id.
    std::uint32_t product(std::uint32_t left, std::uint32_t right) const {
        const Slot found = *slot(left, right);
        return found >> 21 == (std::uint64_t(left) << 21 | right) ? found & no_id : no_id;
    }

    const std::uint32_t *byte_ids() const { return byte_ids_.data(); }
    // The id of a byte.
    std::uint32_t byte_id(std::uint8_t byte) const { return byte_ids_[byte]; }
    // The product of two bytes << 5; or no_pair, which is no_pair with any of those 5 bits as well.
    static constexpr std::int32_t no_pair = 0x7FFFFFFF;
    std::int32_t byte_pair_key(std::uint8_t left, std::uint8_t right) const {
        return byte_pair_keys_[static_cast<std::size_t>(left) << 8 | right];
    }

    // A slot to read where there is no pair.
    const Slot *any_slot() const { return slots_.get(); }

private:
    static constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15;

    static std::uint64_t place(std::uint64_t h, std::uint64_t displacement) {
        return (h >> 20) + displacement * (h >> 38 | 1);
    }

    bool displace(const std::vector<Slot> &pairs);

    std::unique_ptr<Slot[]> slots_;
    std::unique_ptr<std::uint16_t[]> displacements_;
    std::uint64_t slot_mask_ = 0;
    unsigned bucket_shift_ = 0;
    std::array<std::uint32_t, 256> byte_ids_{};
    std::unique_ptr<std::int32_t[]> byte_pair_keys_;
};

}  // namespace tokexport
