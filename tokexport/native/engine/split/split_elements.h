// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// What is known at a boundary of a text: its elements, and which elements a character leads to.
//
// A boundary is between two characters, or at either end of the text. There, each stage of a file
// is in one definite situation, but this may depend on text that has not been read: will the
// current match still accept? An element is a guess at the situation. For one stage it is
//
//     (where, ended, passed)
//     where   a state: inside a match that continues after this boundary; MATCH: a match begins
//             here; GAP: a gap begins or continues here
//     ended   0, or the state in which a match was guessed to end here: the next character must
//             make it accept
//     passed  the states of matches that were guessed to have met their last accept: they must
//             never meet another
//
// and for several stages, one of these per stage. A character leads from an element to all that are
// possible at the next boundary, and to none if it refutes a guess. So the run of SPEC.md 3.4 is a
// path from a starting element to one in which the text may end. As every guess is checked, it is
// the only such path of its text, and what all paths agree on is certain.
#pragma once

#include <cstdint>
#include <vector>

#include "tokexport.h"

namespace tokexport {

struct ElementGraph {
    std::uint32_t class_count = 0;
    std::vector<std::uint32_t> starts;  // the elements at the beginning of a text
    std::vector<std::uint8_t> cuts;     // [element]: a pre-token ends and one begins here
    std::vector<std::uint8_t> ends;     // [element]: the text may end here
    // [element * class_count + class]: where the successors begin in `successors`
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> successors;

    const std::uint32_t *begin(std::uint32_t element, std::uint32_t class_) const {
        return successors.data() + offsets[element * class_count + class_];
    }
    const std::uint32_t *end(std::uint32_t element, std::uint32_t class_) const {
        return successors.data() + offsets[element * class_count + class_ + 1];
    }
};

// Whether elements can describe these stages: not if they rewrite, read bytes or labels, match the
// empty text, or look at the character before a match.
bool has_elements(const tkx &file);

// The elements of a file's stages, without those from which no text can reach its end. `classes`:
// for each class of the splitter, the class in each stage. False if there are too many elements, or
// if a stage drops a part of the text.
bool make_elements(const tkx &file, const std::vector<std::vector<std::uint8_t>> &classes,
                   ElementGraph &graph);

}  // namespace tokexport
