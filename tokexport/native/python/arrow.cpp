// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "arrow.h"

#include <cstring>

#include "failure.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// The two structures of the Arrow C data interface, as specified.
struct Schema {
    const char *format, *name, *metadata;
    std::int64_t flags, child_count;
    Schema **children;
    Schema *dictionary;
    void (*release)(Schema *);
    void *private_data;
};

struct Array {
    std::int64_t length, null_count, offset, buffer_count, child_count;
    const void **buffers;
    Array **children;
    Array *dictionary;
    void (*release)(Array *);
    void *private_data;
};

template <class T> T *pointer_of(nb::handle capsule, const char *name) {
    void *pointer = PyCapsule_GetPointer(capsule.ptr(), name);
    if (!pointer) fail_python();
    return static_cast<T *>(pointer);
}

bool has_nulls(const Array &array) {
    if (array.null_count == 0 || !array.buffers[0]) return false;
    if (array.null_count > 0) return true;
    const auto *valid = static_cast<const std::uint8_t *>(array.buffers[0]);
    for (std::int64_t i = array.offset; i < array.offset + array.length; i++)
        if (!(valid[i / 8] >> i % 8 & 1)) return true;
    return false;
}

template <class Offset> void add_views(const Array &array, std::vector<std::string_view> &views) {
    const Offset *offsets = static_cast<const Offset *>(array.buffers[1]) + array.offset;
    const char *bytes = static_cast<const char *>(array.buffers[2]);
    for (std::int64_t i = 0; i < array.length; i++)
        views.emplace_back(bytes + offsets[i],
                           static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
}

}  // namespace

std::optional<ArrowTexts> ArrowTexts::of(nb::handle source) {
    if (!nb::hasattr(source, "__arrow_c_array__")) return std::nullopt;
    nb::object pair = source.attr("__arrow_c_array__")();
    const Schema &schema = *pointer_of<Schema>(pair[0], "arrow_schema");
    const Array &array = *pointer_of<Array>(pair[1], "arrow_array");
    // u and z have 32-bit offsets, U and Z 64-bit ones. Bytes (z, Z) are checked later for being
    // UTF-8.
    if (std::strlen(schema.format) != 1 || !std::strchr("uUzZ", schema.format[0])) {
        PyErr_Format(PyExc_TypeError,
                     "texts must be strings, not an Arrow array of the format %s; cast it to "
                     "string or large_string",
                     schema.format);
        fail_python();
    }
    if (has_nulls(array)) {
        PyErr_SetString(PyExc_ValueError,
                        "texts must not hold nulls; drop them or fill them with empty texts");
        fail_python();
    }
    ArrowTexts texts;
    if (array.length == 0) return texts;  // its buffers may be null
    texts.owner_ = std::move(pair);
    texts.views_.reserve(static_cast<std::size_t>(array.length));
    if (schema.format[0] == 'u' || schema.format[0] == 'z')
        add_views<std::int32_t>(array, texts.views_);
    else add_views<std::int64_t>(array, texts.views_);
    return texts;
}

}  // namespace tokexport
