// Byte strings in columns (tokexport.model.byte_strings): what in numpy takes an index for each
// byte.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// Parts of data, joined: sizes[i] bytes from begins[i] on. Raises ValueError where the arrays do
// not belong together.
nanobind::bytes joined_parts(const nanobind::bytes &data, SmallNumbers begins, SmallNumbers sizes);

// The places at which strings (Strings of keys.h) differ from as many others; ValueError where
// these are not as many.
nanobind::object differing_places(nanobind::bytes joined, SmallNumbers ends,
                                  nanobind::bytes other_joined, SmallNumbers other_ends);

}  // namespace tokexport
