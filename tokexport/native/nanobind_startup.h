// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Included before nanobind's own sources (CMakeLists.txt). When nanobind is imported, it compiles a
// function in Python that helps its leak checker, which is off here: a tenth of the time until a
// process has its first ids. It does without the function if Python cannot compile it.
#pragma once

#include <Python.h>

#undef Py_CompileString
#define Py_CompileString(text, name, start) (static_cast<PyObject *>(nullptr))
