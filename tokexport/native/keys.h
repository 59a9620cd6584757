// Byte strings that come in as one, with the end of each.
#pragma once

#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// Key i is the bytes of joined from ends[i - 1] (the first one: from 0) up to ends[i]. The views
// are good as long as joined is. Raises ValueError where an end is before the last one or outside.
std::vector<std::string_view> keys_of(const nanobind::bytes &joined, const Numbers &ends);

}  // namespace tokexport
