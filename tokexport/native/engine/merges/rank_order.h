// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The order of the products of merges in a file with RANK.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "tokexport.h"

namespace tokexport {

// Counting ranks in an array would touch 4 MB more with Gemma 3, which has twice as many ranks as
// tokens. The file is read on a little-endian machine, and must outlive this.
class RankOrder {
public:
    // Nothing if a rank is too large.
    static std::optional<RankOrder> of(const tkx &file) {
        RankOrder order(file.ranks.data);
        std::uint32_t largest = 0;
        for (std::uint32_t id = 0; id < file.id_count; id++)
            if (order.has_rank(id)) largest = std::max(largest, order.rank_of(id));
        if (largest > largest_rank) return std::nullopt;
        order.groups_.resize(largest / group_size + 1);
        for (std::uint32_t id = 0; id < file.id_count; id++)
            if (order.has_rank(id)) order.add(id);
        std::uint32_t before = 0;
        for (Group &group : order.groups_) {
            group.before = before;
            before += count_bits(group.seen);
        }
        std::sort(order.later_.begin(), order.later_.end());
        return order;
    }

    bool has_rank(std::uint32_t id) const { return rank_of(id) != TKX_NONE; }
    std::uint32_t rank_of(std::uint32_t id) const {
        std::uint32_t rank;
        std::memcpy(&rank, ranks_ + 4 * std::size_t(id), sizeof rank);
        return rank;
    }

    // How many products come before an id that has a rank.
    std::uint32_t number_of(std::uint32_t id) const {
        const std::uint32_t rank = rank_of(id);
        const Group &group = groups_[rank / group_size];
        const std::uint32_t lower = (std::uint32_t(1) << rank % group_size) - 1,
                            number = group.before + count_bits(group.seen & lower);
        if (later_.empty()) return number;
        const auto end = std::upper_bound(later_.begin(), later_.end(), key_of(id));
        return number + static_cast<std::uint32_t>(end - later_.begin());
    }

    bool has_ties() const { return !later_.empty(); }
    // Whether another id has the same rank.
    bool is_tied(std::uint32_t id) const {
        const std::uint64_t rank = rank_of(id);
        const auto found = std::lower_bound(later_.begin(), later_.end(), rank << 32);
        return found != later_.end() && *found >> 32 == rank;
    }

private:
    explicit RankOrder(const std::uint8_t *ranks) : ranks_(ranks) {}

    // Ranks that follow each other: which of them an id has, and how many ids have smaller ones.
    struct Group {
        std::uint32_t seen = 0, before = 0;
    };
    static constexpr std::uint32_t group_size = 32;
    // A file with a greater rank is not supported, so that there are at most 2 MB of groups.
    static constexpr std::uint32_t largest_rank = std::uint32_t(1) << 23;

    // Baseline x86-64 has no instruction for this.
    static std::uint32_t count_bits(std::uint32_t v) {
        v -= v >> 1 & 0x55555555;
        v = (v & 0x33333333) + (v >> 2 & 0x33333333);
        return ((v + (v >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
    }

    std::uint64_t key_of(std::uint32_t id) const { return std::uint64_t(rank_of(id)) << 32 | id; }

    void add(std::uint32_t id) {
        std::uint32_t &seen = groups_[rank_of(id) / group_size].seen;
        const std::uint32_t bit = std::uint32_t(1) << rank_of(id) % group_size;
        if (seen & bit) later_.push_back(key_of(id));
        seen |= bit;
    }

    const std::uint8_t *ranks_;
    std::vector<Group> groups_;
    // Of equal ranks, all but the first: rank << 32 | id, sorted.
    std::vector<std::uint64_t> later_;
};

}  // namespace tokexport
