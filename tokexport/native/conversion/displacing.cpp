// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "displacing.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "keys.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// From SPEC.md, 2.4 and 2.5.
constexpr std::uint64_t K0 = 0x9E3779B97F4A7C15;
constexpr std::uint64_t K1 = 0xD6E8FEB86659FD93;
constexpr std::uint64_t K2 = 0xFF51AFD7ED558CCD;
constexpr std::uint64_t K3 = 0xC4CEB9FE1A85EC53;

constexpr std::uint32_t displacement_count = 1 << 16;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * K1;
    return hash ^ hash >> 32;
}

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); i++)
        word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    return word;
}

std::uint64_t hash_of(std::string_view key) {
    const std::size_t size = key.size();
    std::uint64_t hash = size * K0;
    if (size >= 8) {
        for (std::size_t i = 0; i < size - 8; i += 8)
            hash = mixed(hash, little_endian(key.substr(i, 8))) * K2;
        hash = mixed(hash, little_endian(key.substr(size - 8)));
    } else if (size >= 4) {
        hash = mixed(hash, little_endian(key.substr(0, 4)) | little_endian(key.substr(size - 4))
                                                                 << 32);
    } else if (size) {
        const char some[] = {key[0], key[size >> 1], key[size - 1]};
        hash = mixed(hash, little_endian({some, sizeof some}));
    }
    hash *= K2;
    return hash ^ hash >> 29;
}

// Keys in buckets.
class Displacing {
public:
    Displacing(const Numbers &hashes, const SmallNumbers &rows, const SmallNumbers &starts,
               std::uint32_t bucket_count)
        : slots(hashes.shape(0)),
          displacements(bucket_count),
          hashes_(hashes),
          rows_(rows),
          starts_(starts),
          taken_(starts(starts.shape(0) - 1)) {
        // `ends` holds the sizes of the buckets first, then offsets.
        std::vector<std::uint32_t> ends(bucket_count), members(hashes.shape(0));
        for (std::size_t key = 0; key < members.size(); key++) ends[bucket_of(key)]++;
        std::vector<std::uint32_t> order(bucket_count);
        for (std::uint32_t bucket = 0; bucket < bucket_count; bucket++) order[bucket] = bucket;
        std::stable_sort(
            order.begin(), order.end(),
            [&ends](std::uint32_t one, std::uint32_t other) { return ends[one] > ends[other]; });
        std::uint32_t begin = 0;
        for (const std::uint32_t bucket : order)
            ends[bucket] = std::exchange(begin, begin + ends[bucket]);
        for (std::uint32_t key = 0; key < members.size(); key++)
            members[ends[bucket_of(key)]++] = key;
        begin = 0;
        for (const std::uint32_t bucket : order) {
            const auto first = members.begin() + begin, end = members.begin() + ends[bucket];
            std::uint32_t displacement = 0;
            while (!take(first, end, displacement)) {
                if (++displacement < displacement_count) continue;
                check(first, end);
                return;
            }
            displacements[bucket] = static_cast<std::uint16_t>(displacement);
            begin = ends[bucket];
        }
        is_done = true;
    }

    bool is_done = false;
    std::vector<std::uint32_t> slots;
    std::vector<std::uint16_t> displacements;

private:
    using Member = std::vector<std::uint32_t>::const_iterator;

    std::size_t bucket_of(std::size_t key) const {
        return static_cast<std::size_t>((hashes_(key) & 0xFFFFFFFF) * displacements.size() >> 32);
    }

    // Takes a slot for each key of a bucket; if one is occupied, releases those taken before it.
    bool take(Member first, Member end, std::uint64_t displacement) {
        for (Member key = first; key != end; key++) {
            const std::uint64_t start = starts_(rows_(*key));
            const std::uint64_t room = starts_(rows_(*key) + 1) - start;
            const std::uint64_t hash = (hashes_(*key) ^ displacement * K3) * K1 >> 32;
            const std::uint64_t slot = start + (hash * room >> 32);
            if (taken_[slot]) {
                while (key-- != first) taken_[slots[*key]] = false;
                return false;
            }
            taken_[slot] = true;
            slots[*key] = static_cast<std::uint32_t>(slot);
        }
        return true;
    }

    // Two keys of a row that have the same hash can never get different slots.
    void check(Member first, Member end) const {
        for (Member key = first; key != end; key++) {
            for (Member other = first; other != key; other++) {
                if (hashes_(*key) == hashes_(*other) && rows_(*key) == rows_(*other))
                    throw nb::value_error("two keys have the same 64-bit hash");
            }
        }
    }

    const Numbers &hashes_;
    const SmallNumbers &rows_, &starts_;
    std::vector<bool> taken_;
};

void check(const Numbers &hashes, const SmallNumbers &rows, const SmallNumbers &starts,
           std::uint32_t bucket_count) {
    if (rows.shape(0) != hashes.shape(0) || starts.shape(0) < 2 || !bucket_count)
        throw nb::value_error("a row for each key, two starts or more, and a bucket or more");
    for (std::size_t row = 1; row < starts.shape(0); row++) {
        if (starts(row) < starts(row - 1))
            throw nb::value_error("a row that ends before its start");
    }
    for (std::size_t key = 0; key < rows.shape(0); key++) {
        if (rows(key) >= starts.shape(0) - 1 || starts(rows(key)) == starts(rows(key) + 1))
            throw nb::value_error("a key without room");
    }
}

}  // namespace

nb::object hash_strings(nb::bytes joined, SmallNumbers ends) {
    const Strings strings(std::move(joined), std::move(ends));
    std::vector<std::uint64_t> hashes(strings.size());
    for (std::size_t i = 0; i < hashes.size(); i++) hashes[i] = hash_of(strings[i]);
    return array_of(std::move(hashes));
}

nb::object displace(Numbers hashes, SmallNumbers rows, SmallNumbers starts,
                    std::uint32_t bucket_count) {
    check(hashes, rows, starts, bucket_count);
    nb::gil_scoped_release released;
    Displacing found(hashes, rows, starts, bucket_count);
    nb::gil_scoped_acquire acquired;
    if (!found.is_done) return nb::none();
    return nb::make_tuple(array_of(std::move(found.slots)),
                          array_of(std::move(found.displacements)));
}

}  // namespace tokexport
