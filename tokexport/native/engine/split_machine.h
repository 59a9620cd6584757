// The machine: a small automaton that says of nearly every place whether a pre-token ends there.
//
// It reads the classes of a text from its beginning, and with each the verdict on the place before
// the character read last: by then one character more is known. Where that does not decide (a line
// feed and then indentation: does another line feed follow?) the verdict names a state of a second
// automaton, which reads on from the character after, and says whether the place is a cut. Both are
// made from the elements by determinising: a state of the machine is a set of elements with what
// each says of the place before; a state of the other, two sets, of those that say cut and of those
// that do not, one of which dies out.
#pragma once

#include <cstdint>
#include <vector>

#include "split_elements.h"

namespace tokexport {

// A verdict, one byte: 0, cut, or undecided | a decision's state << 2.
enum Verdict : std::uint8_t { cut = 1, undecided = 2, decision_shift = 2 };

// The states of a decision that are its results.
enum Decision : std::uint16_t { is_no_cut, is_cut, first_open_decision };

struct SplitMachine {
    std::uint32_t class_count = 0;  // of characters; the class after them is the end of the text
    std::uint32_t state_count = 0;
    // [state * (class_count + 1) + class]: offset of the next state's row << 16 | verdict. State 0
    // is the one at the beginning of a text. After the end of the text there is nothing to read.
    std::vector<std::uint32_t> entries;
    // [decision * (class_count + 1) + class]: the next state of a decision
    std::vector<std::uint16_t> decisions;
    // By two classes: [state * class_count^2 + first * class_count + second]: offset of the next
    // state's row << 16 | both verdicts, as two bytes in memory. Empty if it would be large.
    std::vector<std::uint32_t> pairs;

    std::uint32_t stride() const { return class_count + 1; }
};

// False where a table would be too large.
bool make_machine(const ElementGraph &graph, SplitMachine &machine);

}  // namespace tokexport
