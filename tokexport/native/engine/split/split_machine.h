// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The machine: a small automaton that says at nearly every boundary whether a pre-token ends there.
//
// It reads the classes of a text from the beginning. With each class it outputs the verdict on the
// boundary before the previous character, so that one character after it is already known. If that
// does not decide (a line feed and then indentation: does another line feed follow?), the verdict
// names a state of a second automaton, which reads on from the next character and says whether the
// boundary is a cut. Both are determinised from the elements: a state of the machine is a set of
// elements, each with its answer for the boundary before; a state of the second automaton is two
// sets, of elements that say cut and of elements that do not, one of which dies out.
#pragma once

#include <cstdint>
#include <vector>

#include "split_elements.h"

namespace tokexport {

// A verdict, one byte: 0, cut, or undecided | a decision state << 2.
enum Verdict : std::uint8_t { cut = 1, undecided = 2, decision_shift = 2 };

// The decision states that are results.
enum Decision : std::uint16_t { is_no_cut, is_cut, first_open_decision };

struct SplitMachine {
    std::uint32_t class_count = 0;  // of characters; the class after them is the end of the text
    std::uint32_t state_count = 0;
    // [state * (class_count + 1) + class]: offset of the next state's row << 16 | verdict. State 0
    // is the beginning of a text, and the state after the end of one.
    std::vector<std::uint32_t> entries;
    // [decision * (class_count + 1) + class]: the next decision state
    std::vector<std::uint16_t> decisions;
    // For two classes at a time: [state * pair_base^2 + first * pair_base + second]: offset of the
    // next state's row << 16 | both verdicts, as two bytes in memory. Empty if too large.
    std::vector<std::uint32_t> pairs;
    std::uint32_t pair_base = 0;  // class_count, or one more if texts have ends inside (SplitRun)

    std::uint32_t stride() const { return class_count + 1; }
};

// False if a table would be too large. `has_inner_ends`: pairs may have the end of a text, too.
bool make_machine(const ElementGraph &graph, bool has_inner_ends, SplitMachine &machine);

}  // namespace tokexport
