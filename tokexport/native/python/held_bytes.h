// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#pragma once

#include <cstddef>
#include <string_view>

#include <nanobind/nanobind.h>

#include "failure.h"

namespace tokexport {

// The bytes of a Python object, which do not move as long as this object lives.
class HeldBytes {
public:
    explicit HeldBytes(nanobind::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) fail_python();
    }
    HeldBytes(const HeldBytes &) = delete;
    HeldBytes &operator=(const HeldBytes &) = delete;
    ~HeldBytes() { PyBuffer_Release(&view_); }
    const void *data() const { return view_.buf; }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }
    std::string_view text() const { return {static_cast<const char *>(view_.buf), size()}; }

private:
    Py_buffer view_{};
};

}  // namespace tokexport
