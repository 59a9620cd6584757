// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "byte_strings.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "keys.h"

namespace nb = nanobind;

namespace tokexport {

nb::bytes joined_parts(const nb::bytes &data, SmallNumbers begins, SmallNumbers sizes) {
    if (begins.shape(0) != sizes.shape(0)) throw nb::value_error("one size for each begin");
    std::size_t size = 0;
    for (std::size_t i = 0; i < sizes.shape(0); i++) {
        if (begins(i) > data.size() || sizes(i) > data.size() - begins(i))
            throw nb::value_error("a part outside of the data");
        size += sizes(i);
    }
    const nb::bytes joined =
        nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!joined.is_valid()) throw nb::python_error();
    char *at = PyBytes_AS_STRING(joined.ptr());
    for (std::size_t i = 0; i < sizes.shape(0); at += sizes(i++))
        std::memcpy(at, data.c_str() + begins(i), sizes(i));
    return joined;
}

nb::object differing_places(nb::bytes joined, SmallNumbers ends, nb::bytes other_joined,
                            SmallNumbers other_ends) {
    const Strings strings(std::move(joined), std::move(ends));
    const Strings others(std::move(other_joined), std::move(other_ends));
    if (strings.size() != others.size()) throw nb::value_error("as many strings as others");
    std::vector<std::uint32_t> places;
    places.reserve(strings.size());  // pages that are not written take no memory
    for (std::uint32_t i = 0; i < strings.size(); i++) {
        if (strings[i] != others[i]) places.push_back(i);
    }
    return array_of(std::move(places));
}

}  // namespace tokexport
