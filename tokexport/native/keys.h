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
    std::uint32_t find(std::string_view key) const { return slots_[slot(key)]; }

    // The same for Python, where None is missing.
    nanobind::object place(const nanobind::bytes &key) const;

    // Of each string, the first place where it stands.
    nanobind::object firsts() const;

private:
    std::size_t slot(std::string_view key) const;

    Strings strings_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace tokexport
