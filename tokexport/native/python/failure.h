// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// From an error code of the C core to a Python exception.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanobind/nanobind.h>

namespace tokexport {

// Raises what tokexport.runtime.failure.failure(name, code, detail, sentence) returns. `detail` is
// what the C function stored in *count.
[[noreturn]] void fail(nanobind::handle name, int code, std::size_t detail = 0);

// Raises tokexport.errors.IdError, a KeyError, for an id that has no token.
[[noreturn]] void fail_id(nanobind::handle id, std::uint32_t id_count);

// Raises TypeError: "text must be a str, not int".
[[noreturn]] void fail_type(const char *what, nanobind::handle found);

// Raises the Python exception that is set.
[[noreturn]] inline void fail_python() { throw nanobind::python_error(); }

// Takes ownership of what a C API call returned, or raises the exception that it set.
inline nanobind::object owned(PyObject *result) {
    if (!result) fail_python();
    return nanobind::steal(result);
}

}  // namespace tokexport
