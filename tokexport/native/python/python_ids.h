// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Converts between Python integers and arrays of u32.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanobind/nanobind.h>

#include "memory/buffer.h"

namespace tokexport {

// A list of Python ints. The int of an id is created once in a process, for all tokenizers, and
// retained, as small ints are by CPython: a list is a copy of pointers, 1 ns an id instead of 17.
nanobind::object list_of_ids(const std::uint32_t *ids, std::size_t count);

// Reads ids from a list, a tuple, a contiguous array of integers (any object with a buffer) or any
// other sequence or iterable. Raises KeyError for an integer outside the range of ids, TypeError
// for anything that is not an integer. Returns the number of ids.
std::size_t read_ids(nanobind::handle source, Buffer<std::uint32_t> &ids, std::uint32_t id_count);

// One id.
std::uint32_t read_id(nanobind::handle source, std::uint32_t id_count);

}  // namespace tokexport
