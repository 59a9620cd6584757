// Decoding one id at a time.
#pragma once

#include "core.h"
#include "failure.h"

namespace tokexport {

class Stream {
public:
    Stream(nanobind::object core, bool skip_special) : owner_(std::move(core)), core_(nanobind::cast<const Core &>(owner_)) {
        int code = tkx_decoder_init(&decoder_, &core_.file(), skip_special);
        if (code != TKX_OK) fail(core_.name(), code);
    }

    nanobind::object step(nanobind::handle id) {
        const std::uint32_t value = read_id(id);
        return grown([&](std::uint8_t *out, std::size_t capacity, std::size_t *size) {
            int code = tkx_decoder_step(&decoder_, value, out, capacity, size);
            if (code == TKX_E_ID) fail_id(id);
            return code;
        });
    }

    nanobind::object flush() {
        return grown([&](std::uint8_t *out, std::size_t capacity, std::size_t *size) {
            return tkx_decoder_flush(&decoder_, out, capacity, size);
        });
    }

private:
    // The text that `write` writes; into more memory where the stack has too little.
    template <class Write>
    nanobind::object grown(Write write) {
        std::uint8_t small[1024];
        std::size_t size = 0;
        int code = write(small, sizeof small, &size);
        if (code == TKX_OK) return text(small, size);
        if (code != TKX_E_BYTES) fail(core_.name(), code, size);
        std::vector<std::uint8_t> large(size);
        code = write(large.data(), large.size(), &size);
        if (code != TKX_OK) fail(core_.name(), code, size);
        return text(large.data(), size);
    }

    static nanobind::object text(const std::uint8_t *utf8, std::size_t size) {
        if (size == 0) return nanobind::none();
        return owned(PyUnicode_DecodeUTF8(reinterpret_cast<const char *>(utf8), static_cast<Py_ssize_t>(size), "strict"));
    }

    nanobind::object owner_;
    const Core &core_;
    tkx_decoder decoder_;
};

}  // namespace tokexport
