// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "splitting.h"

#include <algorithm>

#include "python/arrays.h"

namespace nb = nanobind;

namespace tokexport {

std::vector<unsigned> split_widths() {
    std::vector<unsigned> widths;
    for (unsigned width : {0u, 128u, 256u, 512u})
        if (split_steps(width)) widths.push_back(width);
    return widths;
}

SplitText::SplitText(const Core &core, unsigned width) {
    if (!split_steps(width)) throw nb::value_error("this processor has no vectors of that width");
    splitter_ = Splitter::make(core.file(), width);
}

nb::object SplitText::ends(nb::handle text) const {
    if (!splitter_) return nb::none();
    const HeldBytes held(text);
    const auto *data = static_cast<const std::uint8_t *>(held.data());
    auto run = std::make_unique<SplitRun>(*splitter_, data, held.size());
    std::unique_ptr<std::uint32_t[]> ends(new std::uint32_t[held.size() + SplitRun::block]);
    std::size_t count = 0;
    while (std::size_t more = run->next(ends.get() + count)) count += more;
    return array_of(std::move(ends), count);
}

std::size_t SplitText::last_cut(nb::handle text) const {
    const HeldBytes held(text);
    const auto *data = static_cast<const std::uint8_t *>(held.data());
    return splitter_ ? splitter_->last_cut(data, held.size()) : 0;
}

}  // namespace tokexport
