// The merges of a file, by its index of pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "tokexport.h"

namespace tokexport {

// Reads PIDX (SPEC.md 2.5) where it is. A table of its own, with fewer multiplications for each
// look-up, was larger than the file's: words that were merged with all they need in L2 took 104 ns
// in place of 130, others as long as now, and it took 3 to 7 ms to build. The ids of pairs, and of
// a symbol that has no pair, are at most `no_id`.
//
// What a slot has for a pair is the product: the number of an id, so that of two products the one
// of less rank is the smaller number. Numbers are ids, but in a file with RANK, of which the table
// has a copy of the slots.
class PairTable {
public:
    static constexpr std::uint32_t no_id = 0x1FFFFF;
    // left << 42 | right << 21 | product; a free slot has all ones
    using Slot = std::uint64_t;

    // False: the file is damaged, or not laid out as this machine reads it. The file must outlive
    // the table.
    bool fill(const tkx &file);

    // The only slot that may have a pair: to be compared with it. Ids of any size.
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

    // The product, or no_id, by the slot that may have the pair.
    static std::uint32_t product_in(Slot slot, std::uint32_t left, std::uint32_t right) {
        return slot >> 21 == (std::uint64_t(left) << 21 | right) ? slot & no_id : no_id;
    }

    std::uint32_t product(std::uint32_t left, std::uint32_t right) const {
        return product_in(*slot(left, right), left, right);
    }

    // The id of a product.
    std::uint32_t id_of(std::uint32_t product) const { return ids_ ? ids_[product] : product; }

    // The rank of a product: less where the product is less, but that products may have equal ones.
    std::uint32_t rank_of(std::uint32_t product) const {
        return tied_symbol_ == no_id ? product : tied_ranks_[product];
    }

    // Products with equal ranks are runs of this symbol only, which is no product: where two of it
    // are side by side, numbers do not decide. no_id: there are none.
    std::uint32_t tied_symbol() const { return tied_symbol_; }

    // Whether each byte of a text has an id.
    bool has_ids(const std::uint8_t *bytes, std::size_t size) const;

    const std::uint32_t *byte_ids() const { return byte_ids_.data(); }
    // The id of a byte, or no_id.
    std::uint32_t byte_id(std::uint8_t byte) const { return byte_ids_[byte]; }
    // The product of two bytes << 5; or no_pair, which is no_pair with any of those 5 bits as well.
    static constexpr std::int32_t no_pair = 0x7FFFFFFF;
    std::int32_t byte_pair_key(std::uint8_t left, std::uint8_t right) const {
        return byte_pair_keys_[static_cast<std::size_t>(left) << 8 | right];
    }

    // A slot to read where there is no pair.
    const Slot *any_slot() const { return slots_; }

private:
    // SPEC.md 5.1
    static constexpr std::uint64_t k1 = 0xD6E8FEB86659FD93, k2 = 0xFF51AFD7ED558CCD,
                                   k3 = 0xC4CEB9FE1A85EC53;

    bool fill_bytes(const tkx &file);
    bool rank_slots(const tkx &file);
    bool find_tied_symbol(const tkx &file, const std::vector<std::uint32_t> &counts);

    const Slot *slots_ = nullptr;
    const std::uint8_t *rows_ = nullptr, *displacements_ = nullptr;
    std::uint64_t bucket_count_ = 0;
    std::uint32_t row_shift_ = 0, last_row_ = 0;
    std::array<std::uint32_t, 256> byte_ids_{};
    bool lacks_bytes_ = false;              // of those that a text may have
    std::unique_ptr<Slot[]> ranked_slots_;  // with RANK
    std::unique_ptr<std::uint32_t[]> ids_;  // of products, with RANK
    std::uint32_t tied_symbol_ = no_id;
    std::unique_ptr<std::uint32_t[]> tied_ranks_;  // of products, if there are equal ones
    std::unique_ptr<std::int32_t[]> byte_pair_keys_;
};

}  // namespace tokexport
