// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// From ids to bytes and text, and what the file says of an id.
#include <cstring>

#include "core.h"
#include "python/failure.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

nb::object make_bytes(const void *data, std::size_t size) {
    return owned(
        PyBytes_FromStringAndSize(static_cast<const char *>(data), static_cast<Py_ssize_t>(size)));
}

nb::object make_int(std::size_t value) { return owned(PyLong_FromSize_t(value)); }

}  // namespace

// Reads ids into space.ids, leaving out special ones if `skip_special`.
std::size_t Core::wanted_ids(Workspace &space, nb::handle ids, bool skip_special) const {
    std::size_t count = read_ids(ids, space.ids, file_.id_count);
    if (!skip_special) return count;
    std::uint32_t *given = space.ids.data();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; i++) {
        std::uint32_t flags = 0;
        if (tkx_token_flags(&file_, given[i], &flags) != TKX_OK || !(flags & TKX_SPECIAL))
            given[kept++] = given[i];
    }
    return kept;
}

// Decodes the first `count` of space.ids into space.memory, by one of the functions of the C core.
// Returns the size in bytes.
template <class Decode> std::size_t Core::join(Workspace &space, std::size_t count, Decode decode) {
    const std::uint32_t *ids = space.ids.data();
    Buffer<std::uint8_t> &out = space.memory;
    std::size_t size = 0;
    out.reserve(count * 6 + 64);
    int code = decode(ids, count, out.data(), out.capacity(), &size);
    if (code == TKX_E_BYTES) {
        out.resize(size);
        code = decode(ids, count, out.data(), out.capacity(), &size);
    }
    if (code == TKX_E_ID) fail_id(make_int(ids[size]), file_.id_count);
    if (code != TKX_OK) fail(name_, code, size);
    return size;
}

nb::object Core::decode(nb::handle ids, Truth skip_special, nb::handle errors_name) {
    if (!PyUnicode_Check(errors_name.ptr())) fail_type("errors must be a str", errors_name);
    const char *errors = PyUnicode_AsUTF8(errors_name.ptr());
    if (!errors) fail_python();
    WorkspacePool::Lease space(pool_);
    std::size_t count = wanted_ids(*space, ids, skip_special);
    // A file with a decoder has its own rules for invalid UTF-8; without one, Python's rules hold,
    // and Python is faster.
    bool by_rules = file_.decoder.data && std::strcmp(errors, "replace") == 0;
    std::size_t size = join(*space, count, [&](auto... arguments) {
        return by_rules ? tkx_decode_text(&file_, arguments...) : tkx_decode(&file_, arguments...);
    });
    return owned(PyUnicode_DecodeUTF8(reinterpret_cast<const char *>(space->memory.data()),
                                      static_cast<Py_ssize_t>(size), errors));
}

nb::object Core::decode_bytes(nb::handle ids, Truth skip_special) {
    WorkspacePool::Lease space(pool_);
    std::size_t count = wanted_ids(*space, ids, skip_special);
    std::size_t size =
        join(*space, count, [&](auto... arguments) { return tkx_decode(&file_, arguments...); });
    return make_bytes(space->memory.data(), size);
}

nb::object Core::decode_tokens_bytes(nb::handle ids, Truth skip_special) {
    WorkspacePool::Lease space(pool_);
    std::size_t count = wanted_ids(*space, ids, skip_special);
    std::vector<std::size_t> ends(count);
    join(*space, count,
         [&](auto... arguments) { return tkx_decode_ends(&file_, arguments..., ends.data()); });
    nb::object result = owned(PyList_New(static_cast<Py_ssize_t>(count)));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count; begin = ends[i++])
        PyList_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i),
                        make_bytes(space->memory.data() + begin, ends[i] - begin).release().ptr());
    return result;
}

nb::object Core::token_bytes(nb::handle id) const {
    const std::uint8_t *data;
    std::size_t size;
    int code = tkx_token_bytes(&file_, read_id(id, file_.id_count), &data, &size);
    if (code == TKX_E_ID) fail_id(id, file_.id_count);
    if (code != TKX_OK) fail(name_, code);
    return make_bytes(data, size);
}

nb::object Core::token_id(nb::handle data) {
    if (!PyBytes_Check(data.ptr())) fail_type("a token must be str or bytes", data);
    const std::string_view bytes = bytes_of(data).bytes;
    std::uint32_t id, flags;
    const std::uint8_t *content;
    std::size_t size;
    auto added = added_by_content().find(bytes);
    int code = added == added_by_content_.end()
                   ? tkx_token_id(&file_, bytes.data(), bytes.size(), &id)
                   : tkx_added_token(&file_, added->second, &id, &content, &size, &flags);
    if (code == TKX_E_NOT_FOUND) return nb::none();
    if (code != TKX_OK) fail(name_, code);
    return make_int(id);
}

std::uint32_t Core::token_flags(nb::handle id) const {
    std::uint32_t flags;
    int code = tkx_token_flags(&file_, read_id(id, file_.id_count), &flags);
    if (code == TKX_E_ID) fail_id(id, file_.id_count);
    if (code != TKX_OK) fail(name_, code);
    return flags;
}

nb::object Core::added_tokens() const {
    nb::list result;
    for (std::uint32_t i = 0; i < tkx_added_count(&file_); i++) {
        std::uint32_t id, flags;
        const std::uint8_t *content;
        std::size_t size;
        int code = tkx_added_token(&file_, i, &id, &content, &size, &flags);
        if (code != TKX_OK) fail(name_, code);
        result.append(nb::make_tuple(id, make_bytes(content, size), flags));
    }
    return result;
}

nb::object Core::special_id(int role) const {
    std::uint32_t id;
    int code = tkx_special_id(&file_, role, &id);
    if (code == TKX_E_NOT_FOUND) return nb::none();
    if (code != TKX_OK) fail(name_, code);
    return make_int(id);
}

nb::object Core::stop_ids() const {
    nb::list result;
    std::uint32_t id;
    int code;
    for (std::uint32_t i = 0; (code = tkx_stop_id(&file_, i, &id)) == TKX_OK; i++)
        result.append(make_int(id));
    if (code != TKX_E_NOT_FOUND) fail(name_, code);
    return result;
}

nb::object Core::section(nb::handle tag) const {
    char *name;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(tag.ptr(), &name, &length) != 0) fail_python();
    if (length != 4) {
        PyErr_Format(PyExc_ValueError, "a section's tag is 4 bytes, not %R", tag.ptr());
        fail_python();
    }
    const std::uint8_t *data;
    std::size_t size;
    int code = tkx_section(&file_, name, &data, &size);
    if (code == TKX_E_NOT_FOUND) return nb::none();
    if (code != TKX_OK) fail(name_, code);
    return nb::make_tuple(static_cast<std::size_t>(data - file_.data), size);
}

}  // namespace tokexport
