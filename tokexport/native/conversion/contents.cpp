// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "contents.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace tokexport {

nb::object merges_of_contents(const Keys &contents, SmallNumbers ids) {
    const Strings &keys = contents.strings();
    if (ids.shape(0) != keys.size()) throw nb::value_error("one id for each content");
    std::vector<std::uint32_t> merges;
    {
        nb::gil_scoped_release released;
        for (std::size_t i = 0; i < keys.size(); i++) {
            for (std::size_t cut = 1; cut < keys[i].size(); cut++) {
                const std::uint32_t left = contents.find(keys[i].substr(0, cut));
                if (left == Keys::missing) continue;
                const std::uint32_t right = contents.find(keys[i].substr(cut));
                if (right == Keys::missing) continue;
                merges.insert(merges.end(), {ids(left), ids(right), ids(i)});
            }
        }
    }
    return array_of(std::move(merges));
}

}  // namespace tokexport
