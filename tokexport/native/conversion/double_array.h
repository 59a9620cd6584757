// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Places the nodes of a trie in a double array: the inner loops of
// tokexport.compiler.tries.trie_tables. In Python they took most of converting a Unigram model.
#pragma once

#include <nanobind/nanobind.h>

#include "keys.h"
#include "python/arrays.h"

namespace tokexport {

// Each key (Strings of keys.h) has an id; keys are distinct and not empty. Returns the units and
// the base of the root. A unit is the base of its node << 32 | the id << 9 | the label. A unit
// without a node has the label 256; one where no key ends has no_id. Raises ValueError if the
// arrays do not fit together.
nanobind::tuple double_array(nanobind::bytes keys, SmallNumbers ends, SmallNumbers ids,
                             std::uint32_t no_id);

}  // namespace tokexport
