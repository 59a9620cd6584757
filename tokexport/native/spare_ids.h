// The memory of an array of ids that Python has freed, for the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "buffer.h"

namespace tokexport {

// One array at most, of a size whose pages would else be fresh ones in each call: to touch them
// takes three times as long as to copy ids there.
class SpareIds {
public:
    static constexpr std::size_t least = std::size_t(1) << 15, most = std::size_t(1) << 20;

    // Frees what it does not keep.
    void put(Buffer<std::uint32_t> ids) {
        if (ids.capacity() < least || ids.capacity() > most) return;
        std::lock_guard<std::mutex> guard(mutex_);
        if (ids.capacity() > ids_.capacity()) ids_.swap(ids);
    }

    // What there is, or an empty one.
    Buffer<std::uint32_t> take() {
        Buffer<std::uint32_t> taken;
        std::lock_guard<std::mutex> guard(mutex_);
        ids_.swap(taken);
        return taken;
    }

private:
    std::mutex mutex_;
    Buffer<std::uint32_t> ids_;
};

}  // namespace tokexport
