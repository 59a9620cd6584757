// Byte strings that come in as one, with the end of each, and where among them a string is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// String i is the bytes of joined from ends[i - 1] (the first one: from 0) up to ends[i].
class Strings {
public:
    // Raises ValueError where an end is before the last one or outside.
    Strings(nanobind::bytes joined, SmallNumbers ends);

    std::size_t size() const { return ends_.shape(0); }

    std::string_view operator[](std::size_t i) const {
        const std::size_t begin = i ? ends_(i - 1) : 0;
        return {bytes_ + begin, ends_(i) - begin};
    }

    // Asks for the memory of a string, where there is one of that number.
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

// The places of strings: open addressing, at most half full.
class Keys {
public:
    static constexpr std::uint32_t missing = UINT32_MAX;

    // Strings as above.
    Keys(nanobind::bytes joined, SmallNumbers ends);

    const Strings &strings() const { return strings_; }

    // The place of a string, the first one where it stands twice; missing where it is none of them.
    std::uint32_t find(std::string_view key) const { return find(key, hash_of(key)); }

    // The same in steps, for many keys at a time, whose memory then comes while others are asked
    // for: the hash, the slot, the end of the string there, its bytes, and the place.
    static std::uint64_t hash_of(std::string_view key);
    void fetch_slot(std::uint64_t hash) const { __builtin_prefetch(&first_slot(hash)); }
    void fetch_end(std::uint64_t hash) const { strings_.fetch_end(first_slot(hash).place); }
    void fetch_bytes(std::uint64_t hash) const { strings_.fetch_bytes(first_slot(hash).place); }
    std::uint32_t find(std::string_view key, std::uint64_t hash) const {
        return slots_[slot(key, hash)].place;
    }

    // The same for Python, where None is missing.
    nanobind::object place(const nanobind::bytes &key) const;

    // Of each string, the first place where it stands.
    nanobind::object firsts() const;

private:
    // The tag is a part of the hash, which parts most strings without a look at their bytes.
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
