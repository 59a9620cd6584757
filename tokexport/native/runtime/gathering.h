// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// One array for the ids that several threads make in chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "memory/buffer.h"

namespace tokexport {

// The ids of all chunks, one after the other. The position of a chunk is known once all chunks
// before it are counted, which is nearly always soon: its ids are copied while they are in the
// processor's cache, and the thread that made them reuses the same memory.
class GatheredIds {
public:
    // With room for `likely` ids; any more are copied at the end.
    GatheredIds(std::size_t chunks, std::size_t likely);

    // Of one thread: the chunks whose ids are still in its memory, up to `end_`.
    class Waiting {
    public:
        // Notes a chunk whose ids end at `used`, and copies the chunks whose position is known.
        // Returns how much of the memory is still in use.
        std::size_t add(GatheredIds &all, std::size_t chunk, const std::uint32_t *memory,
                        std::size_t used);

        // Copies the remaining ids, once all chunks are counted and there is room for them.
        void finish(GatheredIds &all, const std::uint32_t *memory);

    private:
        struct Item {
            std::size_t chunk, from, count;
        };

        void copy(GatheredIds &all, const std::uint32_t *memory, std::size_t known);

        std::vector<Item> items_;
        std::size_t end_ = 0;
    };

    // Makes room for all ids, once they are counted.
    void make_room() { ids_.reserve(places_.back()); }

    Buffer<std::uint32_t> &ids() { return ids_; }

private:
    struct Count {
        std::size_t ids = 0;
        bool is_known = false;
    };

    std::size_t count(std::size_t chunk, std::size_t ids);

    Buffer<std::uint32_t> ids_;
    std::mutex mutex_;
    std::vector<Count> counts_;
    std::vector<std::size_t> places_;  // of the first known_ + 1 chunks
    std::size_t known_ = 0;
};

}  // namespace tokexport
