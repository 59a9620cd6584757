// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Reading a stage of a file, as in SPEC.md 3.4.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokexport.h"

namespace tokexport {

enum Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };
enum StageFlag { invert = 1, on_bytes = 2, rewrite = 4, empty_matches = 8, search_starts = 16 };

inline std::uint32_t stage_entry(const tkx_stage &s, std::uint32_t state, std::uint32_t class_) {
    const std::uint8_t *p = s.transitions + 2 * ((std::size_t(state) << s.row_shift) + class_);
    return std::uint32_t(p[0]) | std::uint32_t(p[1]) << 8;
}

// Whether a match in this state is accepted before a character of this class, or at the end of the
// text, the class after the last one.
inline bool accepts(const tkx_stage &s, std::uint32_t state, std::uint32_t class_) {
    return stage_entry(s, state, class_) & 0x8000;
}

// The next state; 0 is the one in which no match continues.
inline std::uint32_t next_state(const tkx_stage &s, std::uint32_t state, std::uint32_t class_) {
    return stage_entry(s, state, class_) & 0x7FFF;
}

}  // namespace tokexport
