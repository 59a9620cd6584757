// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Byte strings in columns (tokexport.model.byte_strings): operations for which numpy would need an
// index per byte.
#pragma once

#include <nanobind/nanobind.h>

#include "python/arrays.h"

namespace tokexport {

// Joins parts of data: sizes[i] bytes from begins[i] on. Raises ValueError where the arrays do not
// fit together.
nanobind::bytes joined_parts(const nanobind::bytes &data, SmallNumbers begins, SmallNumbers sizes);

// The indices at which strings (Strings of keys.h) differ from those of another list. Raises
// ValueError if the lists differ in length.
nanobind::object differing_places(nanobind::bytes joined, SmallNumbers ends,
                                  nanobind::bytes other_joined, SmallNumbers other_ends);

}  // namespace tokexport
