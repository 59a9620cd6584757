// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The texts of an Arrow array, by the Arrow PyCapsule interface: no copy, no dependency on pyarrow.
// Source: https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

namespace tokexport {

class ArrowTexts {
public:
    // Empty if the object is not an Arrow array. Raises TypeError if the elements are not strings,
    // ValueError if there are nulls.
    static std::optional<ArrowTexts> of(nanobind::handle source);

    // Valid as long as this object lives.
    const std::vector<std::string_view> &views() const { return views_; }

private:
    nanobind::object owner_;
    std::vector<std::string_view> views_;
};

}  // namespace tokexport
