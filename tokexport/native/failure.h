// From an error code of the C core to a Python exception.
#pragma once

#include <cstddef>

#include <nanobind/nanobind.h>

namespace tokexport {

// Raises what tokexport.runtime.failure.failure(name, code, detail, sentence) returns. `detail` is what the C function put into *count.
[[noreturn]] void fail(nanobind::handle name, int code, std::size_t detail = 0);

// Raises KeyError(id).
[[noreturn]] void fail_id(nanobind::handle id);

// Raises whatever Python exception is set.
[[noreturn]] inline void fail_python() { throw nanobind::python_error(); }

// The object that a C API call returned, or the exception that it set.
inline nanobind::object owned(PyObject *result) {
    if (!result) fail_python();
    return nanobind::steal(result);
}

}  // namespace tokexport
