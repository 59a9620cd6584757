// One Python object per id, created on demand and shared by threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <nanobind/nanobind.h>

namespace tokexport {

class ObjectTable {
public:
    using Entry = std::atomic<PyObject *>;

    explicit ObjectTable(std::uint32_t size) : size_(size), in_use_(size / block + 1) {}
    ObjectTable(const ObjectTable &) = delete;
    ObjectTable &operator=(const ObjectTable &) = delete;
    ~ObjectTable() {
        Entry *entries = entries_.load();
        if (!entries) return;
        for (std::uint32_t i = 0; i < in_use_.size(); i++) {
            if (!in_use_[i].load()) continue;
            const std::uint32_t from = i * block;
            for (std::uint32_t id = from; id < size_ && id - from < block; id++)
                Py_XDECREF(entries[id].load(std::memory_order_relaxed));
        }
        std::free(entries);
    }

    std::uint32_t size() const { return size_; }

    // An entry is null until its object is created.
    Entry *entries() {
        Entry *entries = entries_.load(std::memory_order_acquire);
        if (entries) return entries;
        static_assert(sizeof(Entry) == sizeof(PyObject *), "calloc must make null pointers");
        auto *made = static_cast<Entry *>(std::calloc(size_ ? size_ : 1, sizeof(Entry)));
        if (!made) throw std::bad_alloc();
        if (entries_.compare_exchange_strong(entries, made, std::memory_order_acq_rel)) return made;
        std::free(made);
        return entries;
    }

    // Stores `made`, taking ownership, and returns it; or returns the object that another thread
    // has stored first.
    PyObject *put(std::uint32_t id, PyObject *made) {
        PyObject *expected = nullptr;
        in_use_[id / block].store(true, std::memory_order_relaxed);
        if (entries()[id].compare_exchange_strong(expected, made, std::memory_order_acq_rel))
            return made;
        Py_DECREF(made);
        return expected;
    }

private:
    // Entries per page of memory. Pages without an object are skipped when all are freed.
    static constexpr std::uint32_t block = 4096 / sizeof(Entry);

    std::uint32_t size_;
    std::vector<std::atomic<bool>> in_use_;
    std::atomic<Entry *> entries_{nullptr};
};

}  // namespace tokexport
