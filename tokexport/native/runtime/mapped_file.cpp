// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "mapped_file.h"

#include <memory>

#include <nanobind/stl/unique_ptr.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <io.h>
#else
#include <sys/mman.h>
#endif

#include "python/failure.h"

namespace tokexport {

#if defined(_WIN32)

MappedFile::MappedFile(int descriptor, std::size_t size) : data_(nullptr), size_(size) {
    const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
    const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping) {
        data_ = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
        const DWORD error = GetLastError();
        CloseHandle(mapping);
        SetLastError(error);
    }
    if (!data_) {
        PyErr_SetFromWindowsErr(0);
        fail_python();
    }
}

MappedFile::~MappedFile() { UnmapViewOfFile(data_); }

#else

MappedFile::MappedFile(int descriptor, std::size_t size)
    : data_(mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0)),
      size_(size) {
    if (data_ == MAP_FAILED) {
        PyErr_SetFromErrno(PyExc_OSError);
        fail_python();
    }
}

MappedFile::~MappedFile() { munmap(data_, size_); }

#endif

int MappedFile::fill_buffer(PyObject *self, Py_buffer *view, int flags) {
    const MappedFile &file = *nanobind::inst_ptr<MappedFile>(self);
    return PyBuffer_FillInfo(view, self, file.data_, static_cast<Py_ssize_t>(file.size_), 1, flags);
}

PyType_Slot MappedFile::slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void *>(&MappedFile::fill_buffer)}, {0, nullptr}};

nanobind::object map_file(int descriptor, std::size_t size) {
    const nanobind::object file = nanobind::cast(std::make_unique<MappedFile>(descriptor, size));
    return owned(PyMemoryView_FromObject(file.ptr()));
}

}  // namespace tokexport
