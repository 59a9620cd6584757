// Finds the merges that can fire: the inner loop of tokexport.compiler.merges.canonical, which in
// Python took half of converting a large vocabulary.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// Merges are rows of three ids below id_count: left, right and product; of a pair that is listed
// twice the last counts. A rank is that of ranks, or where these are none the number of the row. A
// way of an id is a sequence of symbols that merging, smallest rank first and leftmost of equals,
// makes that id: each of symbols is one of itself, and for each merge the ways of its left part
// before those of its right part are tried. Parts come before products.
// Returns five arrays: of each id that a merge makes the row of the one that comes last; of each id
// its first way and how many it has; of each way where its symbols begin, and after them the end of
// the last ones; the symbols. An id that has another last merge already ends the search; both are
// given then, its second one as the last of all.
// Returns an id instead that is made out of itself, if there is one. Raises ValueError where the
// arrays do not belong together.
nanobind::object ways_of_merges(SmallNumbers merges, SmallNumbers ranks, SmallNumbers symbols,
                                std::uint32_t id_count);

}  // namespace tokexport
