// The characters that a file's normal forms leave alone: skipping them is what such a normalizer
// costs for a text that it does not change.
#pragma once

#include <memory>
#include <vector>

#include "bridge.h"
#include "tokexport.h"

namespace tokexport {

class StableCharacters {
public:
    // Of all normal forms in a file, which has them looked up here as long as this lives; by
    // vectors of at most `width` bits, as the processor has them.
    StableCharacters(tkx &file, unsigned width);

private:
    std::vector<std::unique_ptr<tkx_bulk_stable>> forms_;
};

}  // namespace tokexport
