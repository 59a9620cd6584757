// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// A file mapped into memory.
#pragma once

#include <cstddef>

#include <nanobind/nanobind.h>

namespace tokexport {

class MappedFile {
public:
    // The buffer protocol, by which a memoryview keeps the mapping.
    static PyType_Slot slots[];

    MappedFile(int descriptor, std::size_t size);
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    ~MappedFile();

private:
    static int fill_buffer(PyObject *self, Py_buffer *view, int flags);

    void *data_;
    std::size_t size_;
};

// Maps an open file of `size` bytes, at least 1. Returns a read-only memoryview. Raises OSError.
// Python's module mmap would do, but importing it takes a tenth of the time until a process has its
// first ids.
nanobind::object map_file(int descriptor, std::size_t size);

}  // namespace tokexport
