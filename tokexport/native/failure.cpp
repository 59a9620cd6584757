#include "failure.h"

#include "tokexport.h"

namespace nb = nanobind;

namespace tokexport {

void fail(nb::handle name, int code, std::size_t detail) {
    // The sentences are in Python: they are prose, and an exception is no hot path.
    nb::object make = nb::module_::import_("tokexport.runtime.failure").attr("failure");
    nb::object error = make(name, code, detail, tkx_error(code));
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
    fail_python();
}

void fail_id(nb::handle id) {
    PyErr_SetObject(PyExc_KeyError, id.ptr());
    fail_python();
}

}  // namespace tokexport
