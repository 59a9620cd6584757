// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The ids of merges given as strings: the inner loop of tokexport.sources.byte_pair.
#pragma once

#include <cstddef>

#include <nanobind/nanobind.h>

#include "keys.h"
#include "python/arrays.h"

namespace tokexport {

// Each merge is a list of two strings, or a string with one space between them; ids[i] is the id
// of key i. Returns three numbers per merge: the ids of the two strings, and of the left one
// followed by the right one without its first prefix_size bytes of UTF-8. -1 stands for a string
// that is not a key; a malformed merge is -2 three times. Raises ValueError unless there is one id
// per key.
nanobind::object merges_of_strings(const Keys &vocab, SmallNumbers ids,
                                   const nanobind::list &merges, std::size_t prefix_size);

// The same for the array (json_columns.h) that begins at an offset of a document.
nanobind::object merges_of_array(const Keys &vocab, SmallNumbers ids, nanobind::handle document,
                                 std::size_t begin, std::size_t prefix_size);

}  // namespace tokexport
