// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// A boolean argument: any object, by its truth value as in Python's `if`.
#pragma once

#include <nanobind/nanobind.h>

namespace tokexport {

struct Truth {
    bool value = false;
    operator bool() const { return value; }
};

}  // namespace tokexport

template <> struct nanobind::detail::type_caster<tokexport::Truth> {
    NB_TYPE_CASTER(tokexport::Truth, const_name("bool"))

    bool from_python(handle source, std::uint8_t, cleanup_list *) noexcept {
        const int truth = PyObject_IsTrue(source.ptr());
        if (truth < 0) PyErr_Clear();
        value.value = truth > 0;
        return truth >= 0;
    }
};
