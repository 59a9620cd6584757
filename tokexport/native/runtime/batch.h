// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The texts of a call with threads, and the parts that they are cut into.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core.h"
#include "gathering.h"

namespace tokexport {

// A part of a text of a batch.
struct Core::Part {
    SourceText source;
    std::size_t text;  // its index
    bool is_first, is_last;
    std::size_t count = 0;  // of its ids
};

// The texts, their parts, and the ids of all of them: one thread leaves its ids in its workspace,
// the ids of several threads are gathered.
struct Core::Batch {
    std::vector<std::unique_ptr<WorkspacePool::Lease>> spaces;
    nanobind::object owner;  // keeps the texts alive
    std::vector<BatchText> texts;
    std::vector<Text> made;  // the UTF-8 of texts that had none
    std::vector<Part> parts;
    std::vector<std::size_t> first_parts;  // of each text, then the number of parts
    // If set, it cuts the texts, not the core; then all parts but the first are rests.
    const Engine *cutter = nullptr;
    std::unique_ptr<GatheredIds> gathered;

    explicit Batch(WorkspacePool &pool) { add_space(pool); }

    // Returns the workspaces so that the next batch takes them in the same order.
    ~Batch() {
        if (!spaces.empty()) spaces.front().reset();
        while (!spaces.empty()) spaces.pop_back();
    }

    void add_space(WorkspacePool &pool) {
        spaces.push_back(std::make_unique<WorkspacePool::Lease>(pool));
    }

    Buffer<std::uint8_t> &text() { return (**spaces[0]).text; }
    Buffer<std::uint32_t> &ids() { return gathered ? gathered->ids() : (**spaces[0]).ids; }

    // Where the ids of each text begin, then the number of ids.
    std::unique_ptr<std::uint64_t[]> offsets() const {
        std::unique_ptr<std::uint64_t[]> result(new std::uint64_t[texts.size() + 1]);
        std::size_t count = 0;
        for (std::size_t i = 0; i < texts.size(); i++) {
            result[i] = count;
            for (std::size_t k = first_parts[i]; k < first_parts[i + 1]; k++)
                count += parts[k].count;
        }
        result[texts.size()] = count;
        return result;
    }
};

}  // namespace tokexport
