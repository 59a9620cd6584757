// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Encoding with the span of each id in its text.
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <nanobind/ndarray.h>

#include "core.h"
#include "engine/bridge/bridge.h"
#include "python/failure.h"

namespace nb = nanobind;

namespace tokexport {

// The ids of the texts and of the template around them: one element per id in each array, two in
// `spans`.
struct Core::Located {
    Buffer<std::uint32_t> ids, spans, type_ids, from_template;
    std::size_t count = 0;
    double carry = 0;  // see encode_spans_numpy

    void reserve(std::size_t room) {
        if (ids.capacity() >= room) return;
        room = std::max(room, ids.capacity() + ids.capacity() / 2);
        ids.resize(room);
        spans.resize(2 * room);
        type_ids.resize(room);
        from_template.resize(room);
    }

    // Sets the type id and the origin of the ids from `first` on.
    void label(std::size_t first, std::uint32_t type_id, std::uint32_t is_from_template) {
        std::fill(type_ids.data() + first, type_ids.data() + count, type_id);
        std::fill(from_template.data() + first, from_template.data() + count, is_from_template);
    }
};

Outcome Core::locate_text(Workspace &space, std::string_view text, const Allowed &allowed,
                          bool characters, Located &out) const {
    const std::size_t allowed_size = allowed.mode == Allowed::all ? TKX_ALL : allowed.bits.size();
    out.reserve(out.count + text.size() + 16);
    for (;;) {
        tkx_work work = space.work();
        work.carry = &out.carry;
        std::size_t room = out.ids.capacity() - out.count, count = 0;
        int code =
            tkx_encode_spans(&file_, text.data(), text.size(), allowed.bits.data(), allowed_size,
                             characters ? TKX_CHARACTERS : TKX_BYTES, out.ids.data() + out.count,
                             out.spans.data() + 2 * out.count, room, &count, &work);
        if (code == TKX_OK) {
            out.count += count;
            return {};
        }
        if (code == TKX_E_IDS && count > room) {
            out.reserve(out.count + count);
        } else if (code == TKX_E_WORK && count > space.memory.capacity()) {
            space.memory.resize(count);
        } else {
            return {code, count};
        }
    }
}

void Core::locate(Workspace &space, nb::handle texts, nb::handle allowed, bool template_,
                  bool characters, Located &out) {
    nb::object items = owned(PySequence_Tuple(texts.ptr()));
    const std::size_t number = static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr()));
    if (number < 1 || number > 2) throw nb::value_error("texts must be one or two");
    std::vector<Text> sources;
    for (std::size_t i = 0; i < number; i++)
        sources.push_back(text_of(PyTuple_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i))));
    const Allowed chosen = allowed_of(allowed);
    space.memory.reserve(Workspace::first_memory);
    const double carry = out.carry;
    // Without the template's own ids, its texts are the same, with the same type ids.
    for (const Item &item : items_of(number, true)) {
        const std::size_t first = out.count;
        if (item.kind == 0) {
            if (!template_) continue;
            out.reserve(out.count + 1);
            out.ids.data()[out.count] = item.id;
            out.spans.data()[2 * out.count] = out.spans.data()[2 * out.count + 1] = 0;
            out.count++;
        } else {
            const std::string_view text = sources[item.kind - 1].bytes;
            out.carry = carry;
            Outcome outcome = locate_text(space, text, chosen, characters, out);
            if (outcome.code != TKX_OK) fail_text(outcome, text);
        }
        out.label(first, item.type_id, item.kind == 0);
    }
}

nb::object Core::encode_spans(nb::handle texts, nb::handle allowed, Truth template_,
                              Truth characters) {
    WorkspacePool::Lease space(pool_);
    Located located;
    locate(*space, texts, allowed, template_, characters, located);
    nb::object spans = owned(PyList_New(static_cast<Py_ssize_t>(located.count)));
    for (std::size_t i = 0; i < located.count; i++) {
        nb::object start = owned(PyLong_FromUnsignedLong(located.spans.data()[2 * i]));
        nb::object end = owned(PyLong_FromUnsignedLong(located.spans.data()[2 * i + 1]));
        PyList_SET_ITEM(spans.ptr(), static_cast<Py_ssize_t>(i),
                        owned(PyTuple_Pack(2, start.ptr(), end.ptr())).release().ptr());
    }
    return nb::make_tuple(list_of_ids(located.ids.data(), located.count), spans,
                          list_of_ids(located.type_ids.data(), located.count),
                          list_of_ids(located.from_template.data(), located.count));
}

std::size_t Core::last_cut(nb::handle part) const {
    const std::string_view bytes = bytes_of(part).bytes;
    if (!holds_text_once(single_)) return 0;
    if (file_.cuts.data) return tkx_bulk_cut(&file_, bytes.data(), bytes.size());
    const Engine *made = cutting_engine(SIZE_MAX, SIZE_MAX, {Allowed::all, {}});
    // In a pre-token, a character that is left out moves the offsets of all that follow.
    if (!made || (file_.unknown_id == TKX_NONE && !made->pairs.has_all_ids())) return 0;
    return made->last_cut(bytes.data(), bytes.size());
}

namespace {

// An array that takes over the memory of `values`.
nb::object array(Buffer<std::uint32_t> &values, std::size_t ndim, const std::size_t *shape) {
    std::size_t size = 1;
    for (std::size_t i = 0; i < ndim; i++) size *= shape[i];
    values.resize(size);
    std::uint32_t *data = values.release();
    nb::capsule owner(data, [](void *memory) noexcept { std::free(memory); });
    return nb::cast(nb::ndarray<nb::numpy, std::uint32_t>(data, ndim, shape, owner));
}

}  // namespace

nb::object Core::encode_spans_numpy(nb::handle texts, nb::handle allowed, Truth template_,
                                    Truth characters, double carry) {
    WorkspacePool::Lease space(pool_);
    Located located;
    located.carry = carry;
    locate(*space, texts, allowed, template_, characters, located);
    const std::size_t one[1] = {located.count}, two[2] = {located.count, 2};
    return nb::make_tuple(array(located.ids, 1, one), array(located.spans, 2, two),
                          array(located.type_ids, 1, one), array(located.from_template, 1, one),
                          located.carry);
}

}  // namespace tokexport
