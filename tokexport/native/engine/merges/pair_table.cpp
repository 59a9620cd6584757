// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "pair_table.h"

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "memory/large_pages.h"
#include "rank_order.h"

namespace tokexport {

namespace {

constexpr std::size_t pair_index_header = 16;
constexpr PairTable::Slot free_slot = ~PairTable::Slot(0);

// Whether a byte never occurs in UTF-8.
bool is_never_in_text(std::size_t byte) { return byte == 0xC0 || byte == 0xC1 || byte > 0xF4; }

std::uint32_t load_u32(const std::uint8_t *p) {
    return p[0] | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 | std::uint32_t(p[3]) << 24;
}

bool is_little_endian() {
    const std::uint8_t bytes[2] = {1, 0};
    std::uint16_t number;
    std::memcpy(&number, bytes, 2);
    return number == 1;
}

}  // namespace

bool PairTable::fill(const tkx &file) {
    const std::uint8_t *data = file.pair_index.data + pair_index_header;
    if (!is_little_endian() || reinterpret_cast<std::uintptr_t>(data) % alignof(Slot)) return false;
    slots_ = reinterpret_cast<const Slot *>(data);
    rows_ = file.pair_rows;
    displacements_ = file.pair_displacements;
    bucket_count_ = file.pair_buckets;
    row_shift_ = file.row_shift;
    last_row_ = (file.id_count - 1) >> row_shift_;
    std::uint32_t start = load_u32(rows_);
    for (std::size_t row = 1; row <= std::size_t(last_row_) + 1; row++) {
        const std::uint32_t end = load_u32(rows_ + 4 * row);
        if (end < start) return false;
        start = end;
    }
    if (start >= file.pair_slots) return false;

    if (file.ranks.data && !rank_slots(file)) return false;
    return fill_bytes(file);
}

// Fills the tables by byte, and checks the slots.
bool PairTable::fill_bytes(const tkx &file) {
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < 256; i++) {
        const std::uint32_t id =
            file.byte_ids.data ? load_u32(file.byte_ids.data + 4 * i) : TKX_NONE;
        byte_ids_[i] = id < file.id_count ? id : no_id;
        if (byte_ids_[i] == no_id) lacks_bytes_ |= !is_never_in_text(i);
        else most = std::max(most, id);
    }
    std::vector<std::uint16_t> byte_of(most + 1, 256);
    for (std::size_t i = 0; i < 256; i++) {
        if (byte_ids_[i] == no_id) continue;
        // If two bytes share an id, their products are the same: the table below would miss one.
        if (byte_of[byte_ids_[i]] != 256) return false;
        byte_of[byte_ids_[i]] = static_cast<std::uint16_t>(i);
    }
    // The highest bit: a product is too large, in a slot that may have a pair. By vectors.
    std::uint64_t is_damaged = 0;
    for (std::size_t i = 0; i < file.pair_slots; i++)
        is_damaged |= (std::uint64_t(file.id_count - 1) - (slots_[i] & no_id)) & ~slots_[i];
    if (is_damaged >> 63) return false;

    byte_pair_keys_.reset(new std::int32_t[1 << 16]);
    std::fill_n(byte_pair_keys_.get(), 1 << 16, no_pair);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t id : byte_ids_)
        if (id != no_id) rows.push_back(id >> row_shift_);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (std::uint32_t row : rows) {
        const std::uint8_t *start = rows_ + 4 * std::size_t(row);
        for (std::size_t i = load_u32(start); i < load_u32(start + 4); i++) {
            const std::uint32_t left = static_cast<std::uint32_t>(slots_[i] >> 42),
                                right = slots_[i] >> 21 & no_id;
            if ((left <= most) & (right <= most) && byte_of[left] < 256 && byte_of[right] < 256)
                byte_pair_keys_[static_cast<std::size_t>(byte_of[left]) << 8 | byte_of[right]] =
                    static_cast<std::int32_t>((slots_[i] & no_id) << 5);
        }
    }
    return true;
}

// Numbers the products by rank, those of equal rank by id, and puts the numbers into a copy of the
// slots, without a branch: neighbouring slots have unrelated products.
bool PairTable::rank_slots(const tkx &file) {
    const std::optional<RankOrder> order = RankOrder::of(file);
    if (!order) return false;
    const std::size_t size = file.pair_slots * sizeof(Slot),
                      all = size + file.id_count * sizeof(std::uint32_t);
    ranked_.reset(allocate(all));
    if (!ranked_) throw std::bad_alloc();
    use_large_pages(ranked_.get(), all);
    auto *const slots = static_cast<Slot *>(ranked_.get());
    auto *const ids = reinterpret_cast<std::uint32_t *>(slots + file.pair_slots);
    std::vector<std::uint32_t> numbers(file.id_count + std::size_t(1), no_id);
    std::fill_n(ids, file.id_count, no_id);
    for (std::uint32_t id = 0; id < file.id_count; id++) {
        if (!order->has_rank(id)) continue;  // not a product
        numbers[id] = order->number_of(id);
        ids[numbers[id]] = id;
    }
    bool is_damaged = false;
    for (std::size_t i = 0; i < file.pair_slots; i++) {
        const std::uint32_t product = static_cast<std::uint32_t>(slots_[i] & no_id),
                            number = numbers[std::min(product, file.id_count)];
        is_damaged |= (product >= file.id_count) & (slots_[i] != free_slot);
        slots[i] = number == no_id ? free_slot : (slots_[i] & ~Slot(no_id)) | number;
    }
    slots_ = slots;
    ids_ = ids;
    return !is_damaged && (!order->has_ties() || find_tied_symbol(file, *order));
}

// Finds the one symbol whose runs are the products with equal ranks; false if there is no such
// symbol.
bool PairTable::find_tied_symbol(const tkx &file, const RankOrder &order) {
    for (std::size_t i = 0; i < file.pair_slots; i++) {
        if (slots_[i] == free_slot || !order.is_tied(ids_[slots_[i] & no_id])) continue;
        for (const std::uint32_t part : {static_cast<std::uint32_t>(slots_[i] >> 42),
                                         static_cast<std::uint32_t>(slots_[i] >> 21 & no_id)}) {
            if (part >= file.id_count) return false;
            if (order.is_tied(part)) continue;
            if (order.has_rank(part) || (tied_symbol_ != no_id && tied_symbol_ != part))
                return false;
            tied_symbol_ = part;
        }
    }
    tied_ranks_.reset(new std::uint32_t[file.id_count]);
    for (std::uint32_t number = 0; number < file.id_count && ids_[number] != no_id; number++)
        tied_ranks_[number] = order.rank_of(ids_[number]);
    return true;
}

bool PairTable::has_ids(const std::uint8_t *bytes, std::size_t size) const {
    return !lacks_bytes_ || std::all_of(bytes, bytes + size, [this](std::uint8_t byte) {
        return byte_ids_[byte] != no_id;
    });
}

}  // namespace tokexport
