// Finds the merges of a vocabulary that lists none: the inner loop of
// tokexport.compiler.merges.canonical for ranks of contents.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.h"
#include "keys.h"

namespace tokexport {

// Contents have ids. Any two whose bytes together are a third merge to it: returns left, right and
// product, three ids in a row for each, by products in their order and then from the shortest left
// part on. Raises ValueError where there is not one id for each content.
nanobind::object merges_of_contents(const Keys &contents, SmallNumbers ids);

}  // namespace tokexport
