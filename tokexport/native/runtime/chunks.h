// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Work for several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace tokexport {

// Hands chunks of work to threads: each of n threads takes every n-th chunk, then the remaining
// chunks of the other threads. So a repeated text goes to the thread that has it in its caches.
class Chunks {
public:
    Chunks(std::size_t count, std::size_t threads) : count_(count), taken_(threads) {}

    // The next chunk for a thread; `count` or more if none is left.
    std::size_t next(std::size_t thread) {
        std::size_t chunk = count_;
        for (std::size_t i = 0; i < taken_.size() && chunk >= count_; i++) {
            const std::size_t owner = (thread + i) % taken_.size();
            chunk = owner + taken_[owner].fetch_add(1) * taken_.size();
        }
        return chunk;
    }

    void stop() {
        for (auto &taken : taken_) taken.store(count_);
    }

private:
    std::size_t count_;
    std::vector<std::atomic<std::size_t>> taken_;
};

// Calls `work` with 0 to threads - 1, each on a thread of its own.
template <class Work> void on_threads(std::size_t threads, Work work) {
    std::vector<std::thread> others;
    others.reserve(threads - 1);
    try {
        for (std::size_t i = 1; i < threads; i++) others.emplace_back(work, i);
    } catch (const std::system_error &) {
        // The system gives no more threads: those that run do the work.
    }
    work(0);
    for (std::thread &other : others) other.join();
}

}  // namespace tokexport
