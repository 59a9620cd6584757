// Finds the merges that can fire: the inner loop of tokexport.compiler.merges.canonical, which in
// Python took half of converting a large vocabulary.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// Merges are rows of four numbers: left, right, rank and product; of a pair that is listed twice the
// last counts. Ids are below id_count. A way of an id is a sequence of symbols that
// merging, smallest rank first and leftmost of equals, makes that id: each of symbols is one of
// itself, and for each merge the ways of its left part before those of its right part are tried.
// Returns three arrays: of each way that is found (product, left, right, rank) of the merge that
// comes last, four numbers in a row; the begin and the end of its symbols in the third array; the
// symbols. Parts come before products. The last way is the first whose id has another last merge already. Returns
// an id instead that is made out of itself, if there is one. Raises ValueError where the arrays do
// not belong together.
nanobind::object ways_of_merges(SmallNumbers merges, SmallNumbers symbols, std::uint32_t id_count);

}  // namespace tokexport
