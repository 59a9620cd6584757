// Finds the merges of a vocabulary that lists none: the inner loop of
// tokexport.compiler.merges.canonical for ranks of contents.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// Contents (keys.h) have ids. Any two whose bytes together are a third merge to it: returns left,
// right and product, three ids in a row for each, by products in their order and then from the
// shortest left part on. Raises ValueError where the arrays do not belong together.
nanobind::object merges_of_contents(nanobind::bytes contents, Numbers ends, Numbers ids);

}  // namespace tokexport
