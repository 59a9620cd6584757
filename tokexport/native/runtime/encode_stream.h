// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Encoding a text that arrives in parts.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>

#include "core.h"
#include "python/arrays.h"
#include "python/failure.h"

namespace tokexport {

// The core keeps the text after its last cut in a window. It finds no cuts in files of models that
// put a space before each text; there the engine does, if it can, as for several threads.
class EncodeStream {
public:
    EncodeStream(nanobind::object core, nanobind::handle allowed, Truth template_)
        : owner_(std::move(core)),
          core_(nanobind::cast<Core &>(owner_)),
          space_(core_.pool_),
          items_(core_.items_of(1, template_)) {
        allowed_ = core_.allowed_of(allowed);
        if (allowed_.mode == Allowed::some)
            throw nanobind::value_error("allowed_special of a stream must be \"all\" or empty");
        if (!Core::holds_text_once(items_))
            throw nanobind::value_error(
                "the tokenizer's template does not hold the text once: encode it whole");
        window_.resize(first_window);
        space_->memory.reserve(Workspace::first_memory);
        work_ = space_->work();
        int code = tkx_encoder_init(&encoder_, &core_.file(), allowed_.mode == Allowed::all,
                                    window_.data(), window_.capacity(), &work_);
        if (code != TKX_OK) fail(core_.name(), code);
        is_cut_by_engine_ = !core_.file_.cuts.data;
        add_template(0);
    }

    // Takes a part, a str or bytes, and returns the ids that later parts cannot change.
    nanobind::object feed(nanobind::handle part) {
        if (!PyBytes_Check(part.ptr()) && !PyUnicode_Check(part.ptr()))
            fail_type("a part must be str or bytes", part);
        const Text text = PyBytes_Check(part.ptr()) ? bytes_of(part) : core_.text_of(part);
        if (is_cut_by_engine_ && !encoder_.finished) {
            collect(text.bytes);
            return given();
        }
        if (!uses_bulk_ && text.bytes.size() >= bulk_from &&
            (uses_bulk_ = core_.take_bulk(*space_, text.bytes.size(), false)))
            work_ = space_->work(true);
        for (std::size_t at = 0; at < text.bytes.size();) {
            std::size_t taken = 0;
            add([&](std::uint32_t *ids, std::size_t room, std::size_t *count) {
                return tkx_encoder_feed(&encoder_, text.bytes.data() + at, text.bytes.size() - at,
                                        &taken, ids, room, count);
            });
            at += taken;
            taken_ += taken;
        }
        return given();
    }

    // Returns the remaining ids.
    nanobind::object finish() {
        encode_collected(collected_);
        encoder_.window = window_.data();
        add([&](std::uint32_t *ids, std::size_t room, std::size_t *count) {
            return tkx_encoder_finish(&encoder_, ids, room, count);
        });
        add_template(1);
        return given();
    }

private:
    static constexpr std::size_t first_window = std::size_t(1) << 18;
    // The engine takes 7 MB. A stream of smaller parts, such as lines, takes less than one.
    static constexpr std::size_t bulk_from = std::size_t(1) << 14;

    // The ids of the template before the text (side 0) or after it.
    void add_template(int side) {
        bool after = false;
        for (const Core::Item &item : items_) {
            if (item.kind != 0) {
                after = true;
            } else if (after == (side == 1)) {
                space_->ids.reserve(used_ + 1);
                space_->ids.data()[used_++] = item.id;
            }
        }
    }

    // Calls a function of the C core again until it has as much room as it needs.
    template <class Call> void add(Call call) {
        for (;;) {
            std::size_t count = 0;
            space_->ids.reserve(used_ + 3 * encoder_.window_size);
            int code = call(space_->ids.data() + used_, space_->ids.capacity() - used_, &count);
            if (code == TKX_OK) {
                used_ += count;
                return;
            }
            if (code == TKX_E_IDS) {
                space_->ids.resize(used_ + count);
            } else if (code == TKX_E_WORK && count > space_->memory.capacity()) {
                space_->memory.resize(count);
                work_ = space_->work(uses_bulk_);
            } else if (code == TKX_E_WINDOW && window_.capacity() < (std::size_t(1) << 30)) {
                window_.resize(2 * window_.capacity());
                encoder_.window = window_.data();
                encoder_.window_size = window_.capacity();
            } else if (code == TKX_E_UTF8) {
                fail(core_.name(), code, taken_ - encoder_.used + count);
            } else {
                fail(core_.name(), code, count);
            }
        }
    }

    // Adds bytes to the window; if it is full, encodes what is before the last cut.
    void collect(std::string_view bytes) {
        const std::size_t size = collected_ + bytes.size();
        if (size > window_.capacity()) window_.resize(std::max(size, 2 * window_.capacity()));
        std::memcpy(window_.data() + collected_, bytes.data(), bytes.size());
        collected_ = size;
        if (size < enough_) return;
        if (const Engine *engine = core_.cutting_engine(size, size, allowed_)) {
            const auto *text = reinterpret_cast<const char *>(window_.data());
            encode_collected(is_utf8() ? engine->last_cut(text, size) : size);
        }
        enough_ = std::max(first_window, 2 * collected_);
    }

    // Whether the window is UTF-8, except that its last character may be incomplete.
    bool is_utf8() {
        Py_ssize_t used = 0;
        PyObject *text = PyUnicode_DecodeUTF8Stateful(
            reinterpret_cast<const char *>(window_.data()) + checked_,
            static_cast<Py_ssize_t>(collected_ - checked_), "strict", &used);
        if (!text) PyErr_Clear();
        else checked_ += static_cast<std::size_t>(used);
        Py_XDECREF(text);
        return text != nullptr;
    }

    // Encodes and removes the first `size` bytes of the window.
    void encode_collected(std::size_t size) {
        if (!size) return;
        const auto *text = reinterpret_cast<const char *>(window_.data());
        const Outcome outcome = core_.encode_text(*space_, used_, {text, size}, allowed_,
                                                  size <= checked_, taken_ != 0);
        if (outcome.code == TKX_E_UTF8) fail(core_.name(), outcome.code, taken_ + outcome.detail);
        if (outcome.code == TKX_E_NOT_FOUND) throw std::bad_alloc();
        if (outcome.code != TKX_OK) fail(core_.name(), outcome.code, outcome.detail);
        collected_ -= size;
        checked_ -= std::min(checked_, size);
        taken_ += size;
        std::memmove(window_.data(), window_.data() + size, collected_);
    }

    nanobind::object given() {
        std::unique_ptr<std::uint32_t[]> ids(new std::uint32_t[used_ ? used_ : 1]);
        if (used_) std::memcpy(ids.get(), space_->ids.data(), used_ * sizeof(std::uint32_t));
        const std::size_t count = used_;
        used_ = 0;
        return array_of(std::move(ids), count);
    }

    nanobind::object owner_;
    Core &core_;
    WorkspacePool::Lease space_;
    const std::vector<Core::Item> &items_;
    Allowed allowed_;
    Buffer<std::uint8_t> window_;
    tkx_work work_{};
    tkx_encoder encoder_{};
    std::size_t taken_ = 0;  // bytes of the text
    std::size_t used_ = 0;   // ids that are not returned yet
    bool is_cut_by_engine_ = false, uses_bulk_ = false;
    // Bytes in the window: all, those known to be UTF-8, and how many are worth a search for a cut.
    std::size_t collected_ = 0, checked_ = 0, enough_ = first_window;
};

}  // namespace tokexport
