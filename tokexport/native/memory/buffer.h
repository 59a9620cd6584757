// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The memory of texts and ids.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>

#include "large_pages.h"

namespace tokexport {

// An uninitialised array that keeps its contents when it grows. std::vector would write every
// element first.
template <class T> class Buffer {
public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept : data_(other.data_), capacity_(other.capacity_) {
        other.release();
    }
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { std::free(data_); }

    T *data() { return data_; }
    std::size_t capacity() const { return capacity_; }

    void reserve(std::size_t count) {
        if (count > capacity_) resize(count);
    }

    // Makes room for `count` elements; the contents may be lost.
    void renew(std::size_t count) {
        if (count <= capacity_) return;
        std::free(release());
        resize(count);
    }

    void resize(std::size_t count) {
        if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        const std::size_t size = count ? count * sizeof(T) : 1;
        void *data = data_ ? std::realloc(data_, size) : allocate(size);
        if (!data) throw std::bad_alloc();
        data_ = static_cast<T *>(data);
        if (count > capacity_) use_large_pages(data_, size);
        capacity_ = count;
    }

    void free_above(std::size_t limit) {
        if (capacity_ > limit) std::free(release());
    }

    // Passes ownership to the caller, who frees the memory by std::free.
    T *release() {
        T *data = data_;
        data_ = nullptr;
        capacity_ = 0;
        return data;
    }

private:
    T *data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace tokexport
