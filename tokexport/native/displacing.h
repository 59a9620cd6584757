// Puts keys into free slots: the inner loop of tokexport.compiler.hashing, which in numpy took a
// third of converting a large vocabulary.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "arrays.h"

namespace tokexport {

// Key i may go to the slots from firsts[i] on, of which there are rooms[i]. Keys lie bucket by
// bucket, sizes[b] keys in bucket b; each bucket in turn takes the smallest displacement, up to
// 65,535, that puts its keys into slots that are free. Returns the slot of each key and the
// displacement of each bucket, or None where a bucket finds none. Raises ValueError where the
// arrays do not belong together.
nanobind::object displace(Numbers hashes, Numbers firsts, Numbers rooms, Numbers sizes,
                          std::uint64_t slot_count);

}  // namespace tokexport
