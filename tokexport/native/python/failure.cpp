// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "failure.h"

#include "tokexport.h"

namespace nb = nanobind;

namespace tokexport {

void fail(nb::handle name, int code, std::size_t detail) {
    // The messages are in Python: they are prose, and exceptions are not on a hot path.
    nb::object make = nb::module_::import_("tokexport.runtime.failure").attr("failure");
    nb::object error = make(name, code, detail, tkx_error(code));
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
    fail_python();
}

void fail_id(nb::handle id, std::uint32_t id_count) {
    nb::object type = nb::module_::import_("tokexport.errors").attr("IdError");
    PyErr_SetObject(type.ptr(), nb::make_tuple(id, id_count).ptr());
    fail_python();
}

void fail_type(const char *what, nb::handle found) {
    PyErr_Format(PyExc_TypeError, "%s, not %.100s", what, Py_TYPE(found.ptr())->tp_name);
    fail_python();
}

}  // namespace tokexport
