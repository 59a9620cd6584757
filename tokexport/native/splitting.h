// The bulk engine's splitter alone, for the tests that hold it to the core's stages.
#pragma once

#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "core.h"
#include "engine/splitter.h"

namespace tokexport {

// The widths of vectors, in bits, that this processor has steps for; 0 is without vectors.
std::vector<unsigned> split_widths();

class SplitText {
public:
    // Raises ValueError where the processor does not have the width.
    SplitText(const Core &core, unsigned width);

    // The ends of the pre-tokens of valid UTF-8, as an array; None where the splitter does not do
    // the file's stages.
    nanobind::object ends(nanobind::handle text) const;

    // The last place in valid UTF-8 where both sides, split alone, have the ends of the whole, if
    // the splitter is certain of one; or 0.
    std::size_t last_cut(nanobind::handle text) const;

private:
    std::unique_ptr<const Splitter> splitter_;
};

}  // namespace tokexport
