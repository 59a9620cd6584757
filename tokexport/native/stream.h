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
        std::uint8_t small[1024];
        std::size_t size = 0;
        int code = tkx_decoder_step(&decoder_, value, small, sizeof small, &size);
        if (code == TKX_OK) return text(small, size);
        if (code == TKX_E_ID) fail_id(id);
        if (code != TKX_E_BYTES) fail(core_.name(), code, size);
        std::vector<std::uint8_t> large(size);
        code = tkx_decoder_step(&decoder_, value, large.data(), large.size(), &size);
        if (code != TKX_OK) fail(core_.name(), code, size);
        return text(large.data(), size);
    }

    nanobind::object flush() {
        std::uint8_t out[16];
        std::size_t size = 0;
        int code = tkx_decoder_flush(&decoder_, out, sizeof out, &size);
        if (code != TKX_OK) fail(core_.name(), code, size);
        return text(out, size);
    }

private:
    static nanobind::object text(const std::uint8_t *utf8, std::size_t size) {
        if (size == 0) return nanobind::none();
        return owned(PyUnicode_DecodeUTF8(reinterpret_cast<const char *>(utf8), static_cast<Py_ssize_t>(size), "strict"));
    }

    nanobind::object owner_;
    const Core &core_;
    tkx_decoder decoder_;
};

}  // namespace tokexport
