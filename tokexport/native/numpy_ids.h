// Arrays of ids by numpy's own C interface, which makes one in 100 ns; by the buffer protocol and
// nanobind it takes 600.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanobind/nanobind.h>

#include "workspace.h"

namespace tokexport {

// The first `count` ids as an array of uint32. A long one takes over the memory of `ids`, which is
// empty afterwards.
nanobind::object array_of_ids(Buffer<std::uint32_t> &ids, std::size_t count);

}  // namespace tokexport
