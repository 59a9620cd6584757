// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The memory that the C core works in: one workspace per running call, pooled between calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include <Python.h>

#include "engine/encoder.h"
#include "memory/buffer.h"
#include "tokexport.h"

namespace tokexport {

struct Workspace {
    static constexpr std::size_t first_memory = std::size_t(1) << 18;  // the core asks for more
    // How much outlives a call. Repeated texts are converted to UTF-8 again, and their ids are
    // written before they become a list: these buffers stay as large as the caches allow. With 4 MB
    // of ids, lists of long texts took 5 % longer.
    static constexpr std::size_t retained_memory = std::size_t(1) << 22,
                                 retained_text = std::size_t(1) << 24,
                                 retained_ids = retained_text / sizeof(std::uint32_t);
    // The core's word cache usually has 4 MB. Repeated English prose, cl100k, one thread: 144 MB/s
    // with 512 KB, 165 with 1 MB, 192 with 2 MB, 203 with 4 MB. From 2 MB to 4 MB, real text runs
    // 1.03 to 1.31 times as fast with Gemma 3 and Llama-2, and 0.95 to 1.03 times with XLNet.
    const CacheSizes &sizes;

    explicit Workspace(const CacheSizes &cache_sizes) : sizes(cache_sizes) {}

    Buffer<std::uint8_t> memory, text;  // scratch, and the UTF-8 of a str
    Buffer<std::uint32_t> ids;
    std::unique_ptr<void, decltype(&std::free)> cache{nullptr, &std::free};  // of the core

    std::unique_ptr<tkx_bulk> bulk;  // made for the first long text
    // Texts that are too short for the engine, which programs often repeat. A call with two words
    // that were encoded before takes 80 ns instead of 130 to 160; with new ones 5 to 10 % longer.
    std::optional<PassageCache> short_texts;

    // `bulk_is_used`: use the bulk engine, if there is one. `is_utf8`: skip checking the text.
    tkx_work work(bool bulk_is_used = false, bool is_utf8 = false) {
        // Zeroed pages, touched only as words come. Reused ones must be cleared: 0.2 ms, which a
        // long text saves.
        if (!cache && !bulk_is_used) cache.reset(std::calloc(1, sizes.core_words));
        return {memory.data(),
                memory.capacity(),
                cache.get(),
                cache ? sizes.core_words : 0,
                bulk_is_used ? bulk.get() : nullptr,
                is_utf8,
                nullptr};
    }
};

// Unused workspaces, the last one used on top: its cache is the warmest. Leases are taken and
// returned with the GIL held, so a fork never copies a locked mutex; the mutex is for interpreters
// without a GIL.
class WorkspacePool {
public:
    class Lease {
    public:
        explicit Lease(WorkspacePool &pool) : pool_(pool), workspace_(pool.take()) {}
        Lease(const Lease &) = delete;
        Lease &operator=(const Lease &) = delete;
        ~Lease() { pool_.give_back(std::move(workspace_)); }
        Workspace &operator*() const { return *workspace_; }
        Workspace *operator->() const { return workspace_.get(); }

    private:
        WorkspacePool &pool_;
        std::unique_ptr<Workspace> workspace_;
    };

    explicit WorkspacePool(std::size_t cache_size) : sizes_(CacheSizes::of(cache_size)) {}
    WorkspacePool(const WorkspacePool &) = delete;
    WorkspacePool &operator=(const WorkspacePool &) = delete;
    ~WorkspacePool() { delete top_.load(); }

private:
    std::unique_ptr<Workspace> take() {
        if (Workspace *top = take_top()) return std::unique_ptr<Workspace>(top);
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (!waiting_.empty()) {
                std::unique_ptr<Workspace> workspace = std::move(waiting_.back());
                waiting_.pop_back();
                return workspace;
            }
        }
        return std::make_unique<Workspace>(sizes_);
    }

    void give_back(std::unique_ptr<Workspace> workspace) noexcept {
        workspace->memory.free_above(Workspace::retained_memory);
        workspace->text.free_above(Workspace::retained_text);
        workspace->ids.free_above(Workspace::retained_ids);
        if (put_on_top(workspace.get())) {
            workspace.release();
            return;
        }
        try {
            std::lock_guard<std::mutex> guard(mutex_);
            waiting_.push_back(std::move(workspace));
        } catch (const std::bad_alloc &) {
            // No memory to put it into the list: it is freed.
        }
    }

#ifdef Py_GIL_DISABLED
    Workspace *take_top() { return top_.exchange(nullptr, std::memory_order_acquire); }

    bool put_on_top(Workspace *workspace) {
        Workspace *none = nullptr;
        return top_.compare_exchange_strong(none, workspace, std::memory_order_release,
                                            std::memory_order_relaxed);
    }
#else
    // The GIL is held; an atomic exchange would take 5 ns longer.
    Workspace *take_top() {
        Workspace *top = top_.load(std::memory_order_relaxed);
        top_.store(nullptr, std::memory_order_relaxed);
        return top;
    }

    bool put_on_top(Workspace *workspace) {
        if (top_.load(std::memory_order_relaxed)) return false;
        top_.store(workspace, std::memory_order_relaxed);
        return true;
    }
#endif

    const CacheSizes sizes_;
    // The workspace that a single thread reuses without the mutex: this saves 30 of 180 ns for a
    // call with two words.
    std::atomic<Workspace *> top_{nullptr};
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> waiting_;
};

}  // namespace tokexport
