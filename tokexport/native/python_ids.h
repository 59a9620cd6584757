// Converts between Python integers and arrays of u32.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanobind/nanobind.h>

#include "object_table.h"
#include "workspace.h"

namespace tokexport {

// One Python int per id, created on demand. A list of ids is then a copy of pointers: 2.4 ns an
// id, against 17 ns when each id becomes a new int.
class IdTable {
public:
    explicit IdTable(std::uint32_t id_count) : ints_(id_count) {}

    nanobind::object list(const std::uint32_t *ids, std::size_t count);

private:
    ObjectTable ints_;
};

// Reads ids from a list, a tuple, a contiguous array of integers (any object with a buffer) or any
// other sequence or iterable. Raises KeyError for an integer outside the range of ids, TypeError
// for anything that is not an integer. Returns the number of ids.
std::size_t read_ids(nanobind::handle source, Buffer<std::uint32_t> &ids, std::uint32_t id_count);

// One id.
std::uint32_t read_id(nanobind::handle source, std::uint32_t id_count);

}  // namespace tokexport
