// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Where a text can be cut whatever comes before and after: between which classes of characters a
// cut leaves the pre-tokens of both sides, split alone, as they are in the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "split_classes.h"
#include "split_machine.h"

namespace tokexport {

class SplitCuts {
public:
    void fill(const SplitMachine &machine);

    bool is_cut(std::uint8_t left, std::uint8_t right) const {
        return cuts_[std::size_t(left) * class_count_ + right] != 0;
    }

    // The last cut of valid UTF-8 whose last character may be incomplete; or 0.
    std::size_t last_cut(const SplitClasses &classes, const std::uint8_t *text,
                         std::size_t size) const;

private:
    std::size_t class_count_ = 0;
    std::vector<std::uint8_t> cuts_;  // [left * class_count_ + right]
};

}  // namespace tokexport
