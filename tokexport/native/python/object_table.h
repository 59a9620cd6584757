// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// One Python object per id, created on demand and shared by threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

namespace tokexport {

class ObjectTable {
public:
    explicit ObjectTable(std::uint32_t size) : size_(size), blocks_(size / block + 1) {}
    ObjectTable(const ObjectTable &) = delete;
    ObjectTable &operator=(const ObjectTable &) = delete;
    ~ObjectTable() {
        for (const std::atomic<Entry *> &each : blocks_) {
            const std::unique_ptr<Entry[]> entries(each.load());
            for (std::uint32_t i = 0; entries && i < block; i++) Py_XDECREF(entries[i].load());
        }
    }

    std::uint32_t size() const { return size_; }

    // The object of an id below size(), or null until it is created.
    PyObject *find(std::uint32_t id) const {
        const Entry *entries = blocks_[id / block].load(std::memory_order_acquire);
        return entries ? entries[id % block].load(std::memory_order_acquire) : nullptr;
    }

    // Stores `made`, taking ownership, and returns it; or returns the object that another thread
    // has stored first.
    PyObject *put(std::uint32_t id, nanobind::object made) {
        PyObject *expected = nullptr;
        if (entries(id / block)[id % block].compare_exchange_strong(expected, made.ptr()))
            return made.release().ptr();
        return expected;
    }

private:
    using Entry = std::atomic<PyObject *>;

    // Entries per page of memory: ids close together are used together.
    static constexpr std::uint32_t block = 4096 / sizeof(Entry);

    Entry *entries(std::uint32_t number) {
        Entry *entries = blocks_[number].load(std::memory_order_acquire);
        if (entries) return entries;
        std::unique_ptr<Entry[]> made(new Entry[block]());
        return blocks_[number].compare_exchange_strong(entries, made.get()) ? made.release()
                                                                            : entries;
    }

    std::uint32_t size_;
    std::vector<std::atomic<Entry *>> blocks_;
};

}  // namespace tokexport
