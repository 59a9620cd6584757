// What is known of a place in a text: the elements, and how a character leads from one to the next.
//
// A place is between two characters, or at either end of the text. There the stages of a file are
// in one definite situation, but what it is may depend on text that has not been read: whether the
// match that runs will still accept, say. An element is a guess of it. For one stage it is
//
//     (where, ended, passed)
//     where   a state: inside a match that goes on after this place; MATCH: a match begins here;
//             GAP: a gap begins here or goes on
//     ended   0, or the state in which a match was guessed to end here: the next character must
//             make it accept
//     passed  the states of matches that were guessed to have met their last accept: they must
//             never meet another
//
// and for several stages one of each. A character leads from an element to all that the next place
// may then be in, and to none where it refutes a guess. So the run of SPEC.md 3.4 is a path from a
// starting element to one in which the text may end, and as every guess is checked, it is the only
// such path of its text: what all paths agree on is certain.
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

// Whether the elements describe what these stages do: not where they rewrite, read bytes or labels,
// match nothing, or look at the character before a match.
bool has_elements(const tkx &file);

// The elements of a file's stages, without those from which no text goes on. `classes`: for each
// class of the splitter the class in each stage. False where they are too many, or where a stage
// drops a part of the text.
bool make_elements(const tkx &file, const std::vector<std::vector<std::uint8_t>> &classes,
                   ElementGraph &graph);

}  // namespace tokexport
