// Where added tokens may begin, for all positions of a text at once.
#pragma once

#include "bridge.h"
#include "tokexport.h"

namespace tokexport {

class AddedStarts {
public:
    // Of a file, which looks its added tokens up with these as long as they live; by vectors of at
    // most `width` bits, as the processor has them.
    AddedStarts(tkx &file, unsigned width);
    AddedStarts(const AddedStarts &) = delete;
    AddedStarts &operator=(const AddedStarts &) = delete;

private:
    tkx_bulk_starts raw_, normalized_;
};

}  // namespace tokexport
