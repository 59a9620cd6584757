// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The characters that a file's normal forms leave unchanged. For a text that such a normalizer does
// not change, skipping them is its whole cost.
#pragma once

#include <memory>
#include <vector>

#include "bridge.h"
#include "tokexport.h"

namespace tokexport {

class StableCharacters {
public:
    // For all normal forms in a file, which are then looked up here as long as this lives; uses
    // vectors of at most `width` bits that the processor supports. The same for its charsmaps.
    StableCharacters(tkx &file, unsigned width);

private:
    std::vector<std::unique_ptr<tkx_bulk_stable>> forms_;
    std::vector<std::unique_ptr<tkx_bulk_pairs>> charsmaps_;
};

}  // namespace tokexport
