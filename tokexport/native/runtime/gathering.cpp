// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "gathering.h"

#include <algorithm>

namespace tokexport {

GatheredIds::GatheredIds(std::size_t chunks, std::size_t likely)
    : counts_(chunks),
      places_(chunks + 1) {
    ids_.resize(likely);
}

// Notes the number of ids of a chunk. Returns how many leading chunks have a known position.
std::size_t GatheredIds::count(std::size_t chunk, std::size_t ids) {
    std::lock_guard<std::mutex> guard(mutex_);
    counts_[chunk] = {ids, true};
    for (; known_ < counts_.size() && counts_[known_].is_known; known_++)
        places_[known_ + 1] = places_[known_] + counts_[known_].ids;
    return known_;
}

std::size_t GatheredIds::Waiting::add(GatheredIds &all, std::size_t chunk,
                                      const std::uint32_t *memory, std::size_t used) {
    items_.push_back({chunk, end_, used - end_});
    end_ = used;
    copy(all, memory, all.count(chunk, items_.back().count));
    return end_;
}

void GatheredIds::Waiting::finish(GatheredIds &all, const std::uint32_t *memory) {
    copy(all, memory, all.counts_.size());
}

// `known`: how many chunks have a known position, which no longer changes.
void GatheredIds::Waiting::copy(GatheredIds &all, const std::uint32_t *memory, std::size_t known) {
    std::size_t kept = 0;
    for (const Item &item : items_) {
        const std::size_t place = item.chunk < known ? all.places_[item.chunk] : SIZE_MAX,
                          room = all.ids_.capacity();
        if (place <= room && item.count <= room - place)
            std::copy_n(memory + item.from, item.count, all.ids_.data() + place);
        else items_[kept++] = item;
    }
    items_.resize(kept);
    if (!kept) end_ = 0;
}

}  // namespace tokexport
