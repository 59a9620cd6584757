// Texts of an Arrow array, by the Arrow PyCapsule interface: no copy, and no dependency on pyarrow.
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
    // Nothing where the object is no Arrow array. Raises TypeError for an array of another type
    // than strings, ValueError for one with nulls.
    static std::optional<ArrowTexts> of(nanobind::handle source);

    // As long as this lives.
    const std::vector<std::string_view> &views() const { return views_; }

private:
    nanobind::object owner_;
    std::vector<std::string_view> views_;
};

}  // namespace tokexport
