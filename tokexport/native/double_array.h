// Places the nodes of a trie in a double array: the inner loops of
// tokexport.compiler.tries.trie_tables, which in Python took most of converting a Unigram model.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.h"
#include "keys.h"

namespace tokexport {

// Keys (Strings of keys.h) have ids; they are distinct and not empty. Returns the units, and the
// base of the root: a unit is the base of the node that stands there << 32 | its id << 9 | its
// label. Where there is no node the label is 256; no_id is where no key ends. Raises ValueError
// where the arrays do not belong together.
nanobind::tuple double_array(nanobind::bytes keys, SmallNumbers ends, SmallNumbers ids,
                             std::uint32_t no_id);

}  // namespace tokexport
