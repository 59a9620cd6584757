// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Byte strings passed as one, with the end of each; and the lookup of a string among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "python/arrays.h"

namespace tokexport {

// String i is the bytes of `joined` from ends[i - 1] (the first one: from 0) up to ends[i].
class Strings {
public:
    // Raises ValueError if an end is less than the one before or out of bounds.
    Strings(nanobind::bytes joined, SmallNumbers ends);

    std::size_t size() const { return ends_.shape(0); }

    std::string_view operator[](std::size_t i) const {
        const std::size_t begin = i ? ends_(i - 1) : 0;
        return {bytes_ + begin, ends_(i) - begin};
    }

    // Prefetches where a string ends, if there is a string with this index.
    void fetch_end(std::size_t i) const {
        if (i < size()) __builtin_prefetch(&ends_.data()[i]);
    }
    void fetch_bytes(std::size_t i) const {
        if (i < size()) __builtin_prefetch((*this)[i].data());
    }

private:
    nanobind::bytes joined_;
    const char *bytes_;
    SmallNumbers ends_;
};

// A hash table from strings to their indices: open addressing, at most half full.
class Keys {
public:
    static constexpr std::uint32_t missing = UINT32_MAX;

    // Strings as above.
    Keys(nanobind::bytes joined, SmallNumbers ends);

    const Strings &strings() const { return strings_; }

    // The index of a string, the first one if it occurs twice; `missing` if it does not occur.
    std::uint32_t find(std::string_view key) const { return find(key, hash_of(key)); }

    // The same in steps, so that the memory accesses of many keys overlap: the hash, the slot, the
    // end of the string there, its bytes, and the index.
    static std::uint64_t hash_of(std::string_view key);
    void fetch_slot(std::uint64_t hash) const { __builtin_prefetch(&first_slot(hash)); }
    void fetch_end(std::uint64_t hash) const { strings_.fetch_end(first_slot(hash).place); }
    void fetch_bytes(std::uint64_t hash) const { strings_.fetch_bytes(first_slot(hash).place); }
    std::uint32_t find(std::string_view key, std::uint64_t hash) const {
        return slots_[slot(key, hash)].place;
    }

    // The same for Python, with None for `missing`.
    nanobind::object place(const nanobind::bytes &key) const;

    // For each string, the index of its first occurrence.
    nanobind::object firsts() const;

private:
    // The tag is a part of the hash, which tells most strings apart without reading their bytes.
    struct Slot {
        std::uint32_t tag, place;
    };

    const Slot &first_slot(std::uint64_t hash) const {
        return slots_[static_cast<std::size_t>(hash) & (slots_.size() - 1)];
    }
    std::size_t slot(std::string_view key, std::uint64_t hash) const;

    Strings strings_;
    std::vector<Slot> slots_;
};

}  // namespace tokexport
