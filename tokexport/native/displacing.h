// Hashes keys and puts them into free slots: the inner loops of tokexport.compiler.hashing, which
// in numpy took a third of converting a large vocabulary.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// The hash of each string (Strings of keys.h): SPEC.md, 5.1.
nanobind::object hash_strings(nanobind::bytes joined, SmallNumbers ends);

// Key i may go to the slots from starts[rows[i]] up to starts[rows[i] + 1]. Its hash says which of
// bucket_count buckets it is in. The largest buckets come first; each in turn takes the smallest
// displacement, up to 65,535, that puts its keys into slots that are free. Returns the slot of each
// key and the displacement of each bucket, or None where a bucket finds none. Raises ValueError
// where two keys of a row have one hash, or the arrays do not belong together.
nanobind::object displace(Numbers hashes, SmallNumbers rows, SmallNumbers starts,
                          std::uint32_t bucket_count);

}  // namespace tokexport
