// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "numpy_ids.h"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>

#include "failure.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::size_t copied_below = 4096;

// numpy is imported for the first array: a process that only uses lists does not need it.
void need_numpy() {
    if (!PyArray_API && _import_array() < 0) fail_python();
}

}  // namespace

nb::object array_of_ids(Buffer<std::uint32_t> &ids, std::size_t count) {
    need_numpy();
    npy_intp shape[1] = {static_cast<npy_intp>(count)};
    if (count < copied_below) {
        nb::object array = owned(PyArray_SimpleNew(1, shape, NPY_UINT32));
        if (count)
            std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject *>(array.ptr())), ids.data(),
                        count * sizeof *ids.data());
        return array;
    }
    // realloc does not copy if it shrinks in place.
    ids.resize(count);
    nb::capsule owner(ids.data(), [](void *memory) noexcept { std::free(memory); });
    nb::object array = owned(PyArray_SimpleNewFromData(1, shape, NPY_UINT32, ids.release()));
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array.ptr()),
                              owner.release().ptr()) < 0)
        fail_python();
    return array;
}

}  // namespace tokexport
