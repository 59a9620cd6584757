// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The merges of a file, looked up in its index of pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tokexport.h"

namespace tokexport {

class RankOrder;

// Reads PIDX (SPEC.md 2.5) in place. A separate table that needs fewer multiplications per lookup
// was larger than the file's: words whose data was all in L2 took 104 ns instead of 130 to merge,
// but others took as long as now, and the table took 3 to 7 ms to build. The ids of pairs, and of a
// symbol that has no pair, are at most `no_id`.
//
// For each pair, its slot holds the product: the number of the merged id, where of two products the
// one of smaller rank is the smaller number. Numbers are ids, except in a file with RANK, for which
// the table has its own copy of the slots.
class PairTable {
public:
    static constexpr std::uint32_t no_id = 0x1FFFFF;
    // left << 42 | right << 21 | product; a free slot has all ones
    using Slot = std::uint64_t;

    // False: the file is damaged, or its layout does not suit this machine. The file must outlive
    // the table.
    bool fill(const tkx &file);

    // The only slot that can hold the pair; the caller compares it. Ids may have any size.
    const Slot *slot(std::uint32_t left, std::uint32_t right) const {
        std::uint64_t h = (std::uint64_t(left) << 21 | right) * k1;
        h ^= h >> 32;
        h *= k2;
        h ^= h >> 29;
        std::uint16_t displacement;
        std::memcpy(&displacement, displacements_ + 2 * ((h & 0xFFFFFFFF) * bucket_count_ >> 32),
                    2);
        std::uint32_t row[2];
        std::memcpy(row, rows_ + 4 * std::size_t(std::min(left >> row_shift_, last_row_)), 8);
        return slots_ + row[0] +
               (((h ^ displacement * k3) * k1 >> 32) * std::uint64_t(row[1] - row[0]) >> 32);
    }

    // The product, or no_id, given the slot that can hold the pair.
    static std::uint32_t product_in(Slot slot, std::uint32_t left, std::uint32_t right) {
        return slot >> 21 == (std::uint64_t(left) << 21 | right) ? slot & no_id : no_id;
    }

    std::uint32_t product(std::uint32_t left, std::uint32_t right) const {
        return product_in(*slot(left, right), left, right);
    }

    // The id of a product.
    std::uint32_t id_of(std::uint32_t product) const { return ids_ ? ids_[product] : product; }

    // The rank of a product: non-decreasing with the product; several may have the same rank.
    std::uint32_t rank_of(std::uint32_t product) const {
        return tied_symbol_ == no_id ? product : tied_ranks_[product];
    }

    // Products with equal ranks are all runs of this symbol, which is not a product: where it is
    // repeated, comparing products does not decide. no_id: all ranks differ.
    std::uint32_t tied_symbol() const { return tied_symbol_; }

    // Whether every byte that may occur in a text has an id.
    bool has_all_ids() const { return !lacks_bytes_; }
    // Whether all bytes of a text have ids.
    bool has_ids(const std::uint8_t *bytes, std::size_t size) const;

    const std::uint32_t *byte_ids() const { return byte_ids_.data(); }
    // The id of a byte, or no_id.
    std::uint32_t byte_id(std::uint8_t byte) const { return byte_ids_[byte]; }
    // The product of two bytes << 5; or no_pair, also when combined with any of those 5 bits.
    static constexpr std::int32_t no_pair = 0x7FFFFFFF;
    std::int32_t byte_pair_key(std::uint8_t left, std::uint8_t right) const {
        return byte_pair_keys_[static_cast<std::size_t>(left) << 8 | right];
    }

    // Some slot to read when there is no pair.
    const Slot *any_slot() const { return slots_; }

private:
    friend struct PairVectors;

    // From SPEC.md 2.4.
    static constexpr std::uint64_t k1 = 0xD6E8FEB86659FD93, k2 = 0xFF51AFD7ED558CCD,
                                   k3 = 0xC4CEB9FE1A85EC53;

    bool fill_bytes(const tkx &file);
    bool rank_slots(const tkx &file);
    bool find_tied_symbol(const tkx &file, const RankOrder &order);

    const Slot *slots_ = nullptr;
    const std::uint8_t *rows_ = nullptr, *displacements_ = nullptr;
    std::uint64_t bucket_count_ = 0;
    std::uint32_t row_shift_ = 0, last_row_ = 0;
    std::array<std::uint32_t, 256> byte_ids_{};
    bool lacks_bytes_ = false;  // some byte that a text may have has no id
    // With RANK: the slots, and the ids of products.
    std::unique_ptr<void, decltype(&std::free)> ranked_{nullptr, &std::free};
    const std::uint32_t *ids_ = nullptr;
    std::uint32_t tied_symbol_ = no_id;
    std::unique_ptr<std::uint32_t[]> tied_ranks_;  // of products, if some ranks are equal
    std::unique_ptr<std::int32_t[]> byte_pair_keys_;
};

}  // namespace tokexport
