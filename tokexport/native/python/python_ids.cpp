// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "python_ids.h"

#include <cstring>
#include <limits>

#include "failure.h"
#include "object_table.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// The largest vocabulary in use, XLM-V's, has 901,629 ids.
constexpr std::uint32_t shared_ints = std::uint32_t(1) << 20;

// Never freed: lists may outlive every tokenizer.
ObjectTable &ints() {
    static ObjectTable &table = *new ObjectTable(shared_ints);
    return table;
}

// Whether the references to an int are counted. Counting reads and writes a cache line per id, half
// the time of a long list.
#if SIZEOF_VOID_P < 8 || defined(PYPY_VERSION) || defined(Py_GIL_DISABLED) || defined(Py_REF_DEBUG)
constexpr bool counts_references = true;
#else
constexpr bool counts_references = false;
#endif

// More references than lists will ever give back. From Python 3.12 on, a count of this size makes
// an object immortal.
constexpr std::int64_t uncounted =
    PY_VERSION_HEX >= 0x030C0000 ? std::int64_t(3) << 30 : std::int64_t(1) << 62;

PyObject *new_int(std::uint32_t value) {
    nb::object made = owned(PyLong_FromUnsignedLong(value));
    PyObject *result = ints().put(value, made);
    if constexpr (!counts_references) Py_SET_REFCNT(result, static_cast<Py_ssize_t>(uncounted));
    return result;
}

}  // namespace

nb::object list_of_ids(const std::uint32_t *ids, std::size_t count) {
    const ObjectTable &table = ints();
    nb::object result = owned(PyList_New(static_cast<Py_ssize_t>(count)));
    PyObject **items = PySequence_Fast_ITEMS(result.ptr());
    use_large_pages(items, count * sizeof(PyObject *));
    for (std::size_t i = 0; i < count; i++) {
        PyObject *value;
        if (ids[i] < shared_ints) {
            value = table.find(ids[i]);
            if (!value) value = new_int(ids[i]);
            if constexpr (counts_references) Py_INCREF(value);
        } else {
            value = owned(PyLong_FromUnsignedLong(ids[i])).release().ptr();
        }
        items[i] = value;
    }
    return result;
}

std::uint32_t read_id(nb::handle source, std::uint32_t id_count) {
    if (!PyLong_Check(source.ptr())) {
        PyObject *number = PyNumber_Index(source.ptr());
        if (!number && PyErr_ExceptionMatches(PyExc_TypeError))
            fail_type("an id must be an integer", source);
        nb::object index = owned(number);
        return read_id(index, id_count);
    }
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(source.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred()) fail_python();
    if (overflow || value < 0 || value > std::numeric_limits<std::uint32_t>::max())
        fail_id(source, id_count);
    return static_cast<std::uint32_t>(value);
}

namespace {

// The value of a small int that is not negative, as ids are, or -1. This reads a list in 1 ns per
// id; the C API call for ints of any size takes 5 ns.
inline long small_value(PyObject *source) {
    if (!PyLong_CheckExact(source)) return -1;
    auto *value = reinterpret_cast<PyLongObject *>(source);
#if defined(PYPY_VERSION)
    return -1;
#elif PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_IsCompact(value) ? static_cast<long>(PyUnstable_Long_CompactValue(value))
                                            : -1;
#else
    return Py_SIZE(value) == 1 ? static_cast<long>(value->ob_digit[0]) : -1;
#endif
}

template <class T>
void copy_ids(const void *source, std::size_t count, std::uint32_t *ids, std::uint32_t id_count) {
    for (std::size_t i = 0; i < count; i++) {
        T value;
        std::memcpy(&value, static_cast<const char *>(source) + i * sizeof(T), sizeof(T));
        bool fits = value >= 0 &&
                    static_cast<std::uint64_t>(value) <= std::numeric_limits<std::uint32_t>::max();
        if (!fits)
            fail_id(owned(std::is_signed_v<T> ? PyLong_FromLongLong(static_cast<long long>(value))
                                              : PyLong_FromUnsignedLongLong(
                                                    static_cast<unsigned long long>(value))),
                    id_count);
        ids[i] = static_cast<std::uint32_t>(value);
    }
}

struct HeldBuffer {
    Py_buffer view{};
    bool held = false;
    ~HeldBuffer() {
        if (held) PyBuffer_Release(&view);
    }
};

// False: not a one-dimensional, contiguous buffer of native integers.
bool read_buffer(nb::handle source, Buffer<std::uint32_t> &ids, std::size_t &count,
                 std::uint32_t id_count) {
    if (!PyObject_CheckBuffer(source.ptr())) return false;
    HeldBuffer held;
    if (PyObject_GetBuffer(source.ptr(), &held.view,
                           PyBUF_ND | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    held.held = true;
    const Py_buffer &view = held.view;
    const char *format = view.format ? view.format : "B";
    if (*format == '@' || *format == '=') format++;
    if (view.ndim > 1) {
        PyErr_Format(
            PyExc_TypeError,
            "ids must have one dimension, not %d; decode_batch takes several sequences of ids",
            view.ndim);
        fail_python();
    }
    if (view.ndim != 1 || !format[0] || format[1]) return false;
    count = static_cast<std::size_t>(view.shape[0]);
    ids.reserve(count);
    bool is_signed = std::strchr("bhilqn", format[0]) != nullptr;
    if (!is_signed && !std::strchr("BHILQN", format[0])) return false;
    switch (view.itemsize) {
        case 1:
            is_signed ? copy_ids<std::int8_t>(view.buf, count, ids.data(), id_count)
                      : copy_ids<std::uint8_t>(view.buf, count, ids.data(), id_count);
            return true;
        case 2:
            is_signed ? copy_ids<std::int16_t>(view.buf, count, ids.data(), id_count)
                      : copy_ids<std::uint16_t>(view.buf, count, ids.data(), id_count);
            return true;
        case 4:
            is_signed ? copy_ids<std::int32_t>(view.buf, count, ids.data(), id_count)
                      : copy_ids<std::uint32_t>(view.buf, count, ids.data(), id_count);
            return true;
        case 8:
            is_signed ? copy_ids<std::int64_t>(view.buf, count, ids.data(), id_count)
                      : copy_ids<std::uint64_t>(view.buf, count, ids.data(), id_count);
            return true;
        default: return false;
    }
}

}  // namespace

std::size_t read_ids(nb::handle source, Buffer<std::uint32_t> &ids, std::uint32_t id_count) {
    std::size_t count = 0;
    bool is_list = PyList_CheckExact(source.ptr()) || PyTuple_CheckExact(source.ptr());
    if (!is_list && read_buffer(source, ids, count, id_count)) return count;
    PyObject *fast = PySequence_Fast(source.ptr(), "");
    if (!fast && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "ids must be a sequence of integers, not %.100s",
                     Py_TYPE(source.ptr())->tp_name);
    nb::object items = owned(fast);
    count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
    ids.reserve(count);
    std::uint32_t *out = ids.data();
    for (std::size_t i = 0; i < count; i++) {
        // An object's __index__ may change the list, so the length is checked each time.
        if (i >= static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr()))) return i;
        PyObject *item = PySequence_Fast_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i));
        const long value = small_value(item);
        out[i] =
            value >= 0 ? static_cast<std::uint32_t>(value) : read_id(nb::borrow(item), id_count);
    }
    return count;
}

}  // namespace tokexport
