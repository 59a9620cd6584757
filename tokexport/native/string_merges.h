// Finds the ids of merges that a source spells as strings: in Python, half of reading a large
// vocabulary.
#pragma once

#include <cstddef>

#include <nanobind/nanobind.h>

namespace tokexport {

// For each of merges, a string "left right" or a list [left, right], three numbers in a row: the
// ids in vocab of left, of right, and of what they make, which is left and right without its first
// prefix_size bytes of UTF-8. -1 for a string that vocab lacks; -2 three times for what is no pair
// of strings. Raises ValueError for a value of vocab that is no id.
nanobind::object merges_of_strings(const nanobind::dict &vocab, const nanobind::list &merges,
                                   std::size_t prefix_size);

// The same for the merges of the array that begins at ``begin`` in a document, where long_array
// found it.
nanobind::object merges_of_array(const nanobind::dict &vocab, const nanobind::bytes &document,
                                 std::size_t begin, std::size_t prefix_size);

}  // namespace tokexport
