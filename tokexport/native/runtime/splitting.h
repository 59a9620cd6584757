// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The bulk engine's splitter alone, for tests that compare it with the core's stages.
#pragma once

#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "core.h"
#include "engine/split/splitter.h"

namespace tokexport {

// The vector widths, in bits, that this processor supports; 0 means no vectors.
std::vector<unsigned> split_widths();

class SplitText {
public:
    // Raises ValueError if the processor does not support the width.
    SplitText(const Core &core, unsigned width);

    // The ends of the pre-tokens of valid UTF-8, as an array; None if the splitter does not support
    // the file's stages.
    nanobind::object ends(nanobind::handle text) const;

    // The last offset in valid UTF-8 where both sides, split alone, have the ends of the whole, as
    // far as the splitter can tell; or 0.
    std::size_t last_cut(nanobind::handle text) const;

private:
    std::unique_ptr<const Splitter> splitter_;
};

}  // namespace tokexport
