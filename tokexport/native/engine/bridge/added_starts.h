// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Where added tokens may begin, for all positions of a text at once.
#pragma once

#include "bridge.h"
#include "tokexport.h"

namespace tokexport {

class AddedStarts {
public:
    // For a file, whose added tokens are then looked up with these as long as they live; uses
    // vectors of at most `width` bits that the processor supports.
    AddedStarts(tkx &file, unsigned width);
    AddedStarts(const AddedStarts &) = delete;
    AddedStarts &operator=(const AddedStarts &) = delete;

private:
    tkx_bulk_starts raw_, normalized_;
};

}  // namespace tokexport
