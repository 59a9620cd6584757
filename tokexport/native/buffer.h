// An array that is not initialised and keeps its contents when it grows. std::vector would write
// every element first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "large_pages.h"

namespace tokexport {

template <class T> class Buffer {
public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept { swap(other); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    Buffer &operator=(Buffer &&other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    void swap(Buffer &other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
    }

    T *data() { return data_; }
    std::size_t capacity() const { return capacity_; }

    void reserve(std::size_t count) {
        if (count > capacity_) resize(count);
    }

    void resize(std::size_t count) {
        if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        const std::size_t size = count ? count * sizeof(T) : 1;
        void *data = data_ ? std::realloc(data_, size) : allocate_on_large_pages(size);
        if (!data) throw std::bad_alloc();
        data_ = static_cast<T *>(data);
        // Two pages at least: of one nearly all could be beyond what is needed.
        if (count > capacity_ && size >= 3 * large_page) use_large_pages(data_, size);
        capacity_ = count;
    }

    // What is in use of a large one stays where it is, if the system can do that.
    void shrink_to(std::size_t limit) noexcept {
        if (capacity_ <= limit) return;
        void *data = std::realloc(data_, limit * sizeof(T));
        if (!data) return;
        data_ = static_cast<T *>(data);
        capacity_ = limit;
    }

    // The caller frees what it gets, by std::free.
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
