// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Decoding one id at a time.
#pragma once

#include "core.h"
#include "python/failure.h"

namespace tokexport {

class Stream {
public:
    // With `as_bytes` it returns bytes, which need not be UTF-8, instead of text.
    Stream(nanobind::object core, Truth skip_special, bool as_bytes)
        : owner_(std::move(core)),
          core_(nanobind::cast<Core &>(owner_)),
          as_bytes_(as_bytes),
          texts_(as_bytes || core_.file().decoder.data ? nullptr : &core_.texts()) {
        int code = tkx_decoder_init(&decoder_, &core_.file(), skip_special);
        if (code != TKX_OK) fail(core_.name(), code);
        decoder_.as_bytes = as_bytes_;
    }

    nanobind::object step(nanobind::handle id) {
        const std::uint32_t value = read_id(id, core_.id_count());
        // Without a decoder section, a token of whole characters is the same text everywhere,
        // unless an incomplete character is pending.
        const bool stands_alone = texts_ && decoder_.held_size == 0 && value < core_.id_count();
        if (stands_alone)
            if (PyObject *text = texts_->find(value)) return nanobind::borrow(text);
        nanobind::object text =
            grown([&](std::uint8_t *out, std::size_t capacity, std::size_t *size) {
                int code = tkx_decoder_step(&decoder_, value, out, capacity, size);
                if (code == TKX_E_ID) fail_id(id, core_.id_count());
                return code;
            });
        std::uint32_t flags = TKX_SPECIAL;
        if (stands_alone && decoder_.held_size == 0 && !text.is_none() &&
            tkx_token_flags(&core_.file(), value, &flags) == TKX_OK && !(flags & TKX_SPECIAL))
            texts_->put(value, text);
        return text;
    }

    nanobind::object flush() {
        nanobind::object end =
            grown([&](std::uint8_t *out, std::size_t capacity, std::size_t *size) {
                return tkx_decoder_flush(&decoder_, out, capacity, size);
            });
        decoder_.as_bytes = as_bytes_;
        return end;
    }

    // Adds many ids. Returns the text that is complete, which may be empty.
    nanobind::object feed(nanobind::handle ids) {
        Buffer<std::uint32_t> values;
        const std::size_t count = read_ids(ids, values, core_.id_count());
        std::vector<std::uint8_t> out(8 * count + 1024);
        std::size_t used = 0;
        for (std::size_t i = 0; i < count;) {
            std::size_t size = 0;
            int code = tkx_decoder_step(&decoder_, values.data()[i], out.data() + used,
                                        out.size() - used, &size);
            if (code == TKX_OK) {
                used += size;
                i++;
            } else if (code == TKX_E_BYTES) {
                out.resize(2 * out.size() + size);
            } else if (code == TKX_E_ID) {
                fail_id(owned(PyLong_FromUnsignedLong(values.data()[i])), core_.id_count());
            } else {
                fail(core_.name(), code, size);
            }
        }
        return given(out.data(), used);
    }

private:
    // What `write` writes; a second call gets more memory if the stack buffer is too small.
    template <class Write> nanobind::object grown(Write write) {
        std::uint8_t small[1024];
        std::size_t size = 0;
        int code = write(small, sizeof small, &size);
        if (code == TKX_OK) return some(small, size);
        if (code != TKX_E_BYTES) fail(core_.name(), code, size);
        std::vector<std::uint8_t> large(size);
        code = write(large.data(), large.size(), &size);
        if (code != TKX_OK) fail(core_.name(), code, size);
        return some(large.data(), size);
    }

    nanobind::object some(const std::uint8_t *data, std::size_t size) const {
        return size ? given(data, size) : nanobind::none();
    }

    nanobind::object given(const std::uint8_t *data, std::size_t size) const {
        const char *characters = reinterpret_cast<const char *>(data);
        const Py_ssize_t length = static_cast<Py_ssize_t>(size);
        return owned(as_bytes_ ? PyBytes_FromStringAndSize(characters, length)
                               : PyUnicode_DecodeUTF8(characters, length, "strict"));
    }

    nanobind::object owner_;
    Core &core_;
    tkx_decoder decoder_;
    bool as_bytes_;
    ObjectTable *texts_;  // null: each step is decoded
};

}  // namespace tokexport
