// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Finds the merges of a vocabulary that lists none: the inner loop of
// tokexport.compiler.merges.canonical for ranks of contents.
#pragma once

#include <nanobind/nanobind.h>

#include "keys.h"
#include "python/arrays.h"

namespace tokexport {

// Each content has an id. Any two contents whose concatenation is a third one merge to it. Returns
// three ids per merge, left, right and merged id, in the order of the merged ids, and for each of
// them with the shortest left part first. Raises ValueError unless there is one id per content.
nanobind::object merges_of_contents(const Keys &contents, SmallNumbers ids);

}  // namespace tokexport
