// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Hashes keys and puts them into free slots: the inner loops of tokexport.compiler.hashing. In
// numpy they took a third of the time of converting a large vocabulary.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "python/arrays.h"

namespace tokexport {

// The hash of each string (Strings of keys.h): SPEC.md, 2.4.
nanobind::object hash_strings(nanobind::bytes joined, SmallNumbers ends);

// Key i may go to the slots from starts[rows[i]] up to starts[rows[i] + 1]. Its hash determines
// which of bucket_count buckets it is in. Buckets are placed in order of size, the largest first;
// each takes the smallest displacement, up to 65,535, that puts its keys into free slots. Returns
// the slot of each key and the displacement of each bucket, or None if a bucket finds none. Raises
// ValueError if two keys of a row have the same hash, or the arrays do not fit together.
nanobind::object displace(Numbers hashes, SmallNumbers rows, SmallNumbers starts,
                          std::uint32_t bucket_count);

}  // namespace tokexport
