// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Arrays of ids by numpy's own C interface, which creates one in 100 ns; the buffer protocol and
// nanobind need 600.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanobind/nanobind.h>

#include "memory/buffer.h"

namespace tokexport {

// The first `count` ids as an array of uint32. A long array takes over the memory of `ids`, leaving
// it empty.
nanobind::object array_of_ids(Buffer<std::uint32_t> &ids, std::size_t count);

}  // namespace tokexport
