// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Opening, and encoding one text or a pair.
#include "core.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "checksums.h"
#include "python/failure.h"
#include "python/numpy_ids.h"
#include "tokexport_extra.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// Releasing and reacquiring the GIL costs about as much as encoding a few hundred bytes; for texts
// shorter than this it is held.
constexpr std::size_t release_gil_above = std::size_t(1) << 14;

class MaybeReleasedGil {
public:
    explicit MaybeReleasedGil(std::size_t size)
        : state_(size > release_gil_above ? PyEval_SaveThread() : nullptr) {}
    MaybeReleasedGil(const MaybeReleasedGil &) = delete;
    MaybeReleasedGil &operator=(const MaybeReleasedGil &) = delete;
    ~MaybeReleasedGil() {
        if (state_) PyEval_RestoreThread(state_);
    }

private:
    PyThreadState *state_;
};

tkx open_file(const HeldBytes &held, nb::handle name) {
    tkx file;
    int code = tkx_open(&file, held.data(), held.size());
    if (code != TKX_OK) fail(name, code);
    return file;
}

}  // namespace

Text bytes_of(nb::handle data) {
    if (!PyBytes_Check(data.ptr())) fail_type("data must be bytes", data);
    return {
        nb::borrow(data),
        {PyBytes_AS_STRING(data.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()))}};
}

Core::Core(nb::object buffer, nb::object name, std::optional<std::size_t> given_bulk_from,
           unsigned width, std::size_t cache_size)
    : name_(std::move(name)),
      held_(buffer),
      file_(open_file(held_, name_)),
      stable_(file_, width),
      starts_(file_, width),
      texts_(file_.id_count),
      single_(template_of(0)),
      pair_(template_of(1)),
      bulk_from_(given_bulk_from.value_or(bulk_from)),
      worth_tables_(given_bulk_from ? 0 : worth_tables),
      cached_below_(bulk_from_ > bulk_from ? 0 : bulk_from_),
      width_(width),
      write_utf8_(utf8_writer(width)),
      pool_(cache_size) {
    // Without special tokens, the template keeps its texts and loses its own ids.
    const auto is_text = [](const Item &item) { return item.kind != 0; };
    std::copy_if(single_.begin(), single_.end(), std::back_inserter(plain_single_), is_text);
    std::copy_if(pair_.begin(), pair_.end(), std::back_inserter(plain_pair_), is_text);
}

std::vector<Core::Item> Core::template_of(int pair) const {
    std::vector<Item> items;
    std::uint32_t kind, id, type_id;
    int code;
    for (std::uint32_t i = 0;
         (code = tkx_template(&file_, pair, i, &kind, &id, &type_id)) == TKX_OK; i++)
        items.push_back({kind, id, type_id});
    if (code != TKX_E_NOT_FOUND) fail(name_, code);
    const uint8_t *data;
    std::size_t size;
    if (tkx_section(&file_, "POST", &data, &size) == TKX_OK) return items;
    items.push_back({1, 0, 0});
    if (pair) items.push_back({2, 0, 1});
    return items;
}

const std::vector<Core::Item> &Core::items_of(std::size_t texts, bool template_) const {
    if (texts == 1) return template_ ? single_ : plain_single_;
    return template_ ? pair_ : plain_pair_;
}

bool Core::holds_text_once(const std::vector<Item> &items) {
    return std::count_if(items.begin(), items.end(),
                         [](const Item &item) { return item.kind != 0; }) == 1;
}

#if !defined(PYPY_VERSION)
// Whether a str stores characters for which Python has not made UTF-8 yet.
static bool is_without_utf8(PyObject *text) {
#if defined(Py_GIL_DISABLED)
    return PyUnicode_IS_COMPACT(text);  // another thread may be writing what is read below
#else
    return PyUnicode_IS_COMPACT(text) && !reinterpret_cast<PyCompactUnicodeObject *>(text)->utf8;
#endif
}
#endif

SourceText source_of(nb::handle text) {
    PyObject *str = text.ptr();
    if (!PyUnicode_Check(str)) fail_type("text must be a str", text);
#if !defined(PYPY_VERSION)
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(str));
    if (PyUnicode_IS_COMPACT_ASCII(str)) return {PyUnicode_DATA(str), size, 0};
    if (is_without_utf8(str)) return {PyUnicode_DATA(str), size, PyUnicode_KIND(str)};
#endif
    return {};
}

Text Core::text_of(nb::handle text, Buffer<std::uint8_t> *memory) const {
    if (const SourceText source = source_of(text); source.data) {
        Text result{nb::borrow(text), {}};
        if (const auto utf8 = utf8_of(source, write_utf8_, memory ? *memory : result.made)) {
            result.bytes = *utf8;
            return result;
        }
    }
    Py_ssize_t size = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8) return {nb::borrow(text), {utf8, static_cast<std::size_t>(size)}};
    if (!(file_.flags & replace_surrogates) || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        fail_python();
    PyErr_Clear();
    // As tiktoken does it: a high and a low surrogate in a row become one character, any other
    // surrogate becomes U+FFFD.
    nb::object utf16 = owned(PyUnicode_AsEncodedString(text.ptr(), "utf-16-le", "surrogatepass"));
    int order = -1;
    nb::object repaired = owned(PyUnicode_DecodeUTF16(
        PyBytes_AS_STRING(utf16.ptr()), PyBytes_GET_SIZE(utf16.ptr()), "replace", &order));
    utf8 = PyUnicode_AsUTF8AndSize(repaired.ptr(), &size);
    if (!utf8) fail_python();
    return {repaired, {utf8, static_cast<std::size_t>(size)}};
}

const Core::ByContent &Core::added_by_content() {
    std::call_once(added_once_, [this] {
        std::uint32_t id, flags;
        const std::uint8_t *content;
        std::size_t size;
        for (std::uint32_t i = 0;
             tkx_added_token(&file_, i, &id, &content, &size, &flags) == TKX_OK; i++)
            added_by_content_.emplace(
                std::string_view(reinterpret_cast<const char *>(content), size), i);
    });
    return added_by_content_;
}

Allowed Core::allowed_of(nb::handle allowed) {
    if (PyTuple_CheckExact(allowed.ptr()) && PyTuple_GET_SIZE(allowed.ptr()) == 0) return {};
    if (PyUnicode_Check(allowed.ptr())) {
        if (PyUnicode_CompareWithASCIIString(allowed.ptr(), "all") == 0) return {Allowed::all, {}};
        PyErr_Format(
            PyExc_ValueError,
            "allowed_special must be \"all\" or a collection of special tokens, not the str %R",
            allowed.ptr());
        fail_python();
    }
    const ByContent &added = added_by_content();
    Allowed result;
    PyObject *listed = PySequence_Tuple(allowed.ptr());
    if (!listed && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        fail_type("allowed_special must be \"all\" or a collection of special tokens",
                  allowed.ptr());
    }
    nb::object items = owned(listed);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); i++) {
        PyObject *item = PyTuple_GET_ITEM(items.ptr(), i);
        if (!PyUnicode_Check(item)) fail_type("allowed_special must hold only str", item);
        Py_ssize_t size = 0;
        const char *content = PyUnicode_AsUTF8AndSize(item, &size);
        if (!content) fail_python();
        auto [first, last] = added.equal_range({content, static_cast<std::size_t>(size)});
        if (first == last) {
            PyErr_Format(PyExc_ValueError,
                         "allowed_special: %R is not an added token of this tokenizer; see "
                         "Tokenizer.added_tokens",
                         item);
            fail_python();
        }
        result.mode = Allowed::some;
        result.bits.resize((tkx_added_count(&file_) + 7) / 8);
        for (; first != last; ++first)
            result.bits[first->second / 8] |= std::uint8_t(1 << first->second % 8);
    }
    return result;
}

// The engine, if this file can have one. The first caller builds it; callers that come meanwhile
// use the core instead of waiting.
const Engine *Core::engine() const {
    EngineState state = EngineState::none;
    if (engine_state_.compare_exchange_strong(state, EngineState::in_making,
                                              std::memory_order_acquire)) {
        try {
            engine_ = Engine::make(file_, width_);
        } catch (...) {
            engine_state_.store(EngineState::none, std::memory_order_release);
            throw;
        }
        engine_state_.store(EngineState::made, std::memory_order_release);
        return engine_.get();
    }
    return state == EngineState::made ? engine_.get() : nullptr;
}

// Whether a text of this size, with the texts before it, justifies tables and caches.
bool Core::is_worth_tables(std::size_t size) const {
    return bytes_without_tables_.fetch_add(size, std::memory_order_relaxed) + size >= worth_tables_;
}

// Whether the bulk engine encodes a text of this size in a workspace; builds what it needs.
bool Core::take_bulk(Workspace &space, std::size_t size, bool is_rest) const {
    if (size < bulk_from_ && !is_rest) return false;
    if (!space.bulk) {
        if (!is_rest && !is_worth_tables(size)) return false;
        if (const Engine *made = engine())
            space.bulk = std::make_unique<tkx_bulk>(*made, space.sizes);
    }
    if (space.bulk) space.bulk->is_rest = is_rest;
    return space.bulk != nullptr;
}

int Core::encode_into(const tkx_work &work, std::string_view text, const Allowed &allowed,
                      std::uint32_t *ids, std::size_t room, std::size_t *count) const {
    switch (allowed.mode) {
        case Allowed::none:
            return tkx_encode(&file_, text.data(), text.size(), ids, room, count, &work);
        case Allowed::all:
            return tkx_encode_special(&file_, text.data(), text.size(), ids, room, count, &work);
        default:
            return tkx_encode_allowed(&file_, text.data(), text.size(), allowed.bits.data(),
                                      allowed.bits.size(), ids, room, count, &work);
    }
}

// Appends the ids of a short text that was encoded before; false: there is none. If the text gets a
// hash, it is to be added to the cache.
bool Core::take_cached(Workspace &space, std::size_t &used, Passage &text) const {
    if (!text.size || text.size >= cached_below_) return false;
    if (!space.short_texts) {
        if (!is_worth_tables(text.size)) return false;
        space.short_texts.emplace(space.sizes.short_texts, 10, file_.id_count <= 1 << 16);
    }
    text.set_hash();
    const std::size_t room = space.ids.capacity() - used,
                      count = space.short_texts->take(text, space.ids.data() + used, room);
    if (!count || count > room) return false;
    used += count;
    return true;
}

// May run without the GIL, so it must not call Python. `is_utf8`: the bytes come from a str.
Outcome Core::encode_text(Workspace &space, std::size_t &used, std::string_view text,
                          const Allowed &allowed, bool is_utf8, bool is_rest) const {
    // If there are more ids, the loop below finds out and makes room.
    const std::size_t guess = likely_ids(text.size());
    if (!used) space.ids.renew(guess);
    else if (space.ids.capacity() - used < guess)
        space.ids.resize(std::max(used + guess, space.ids.capacity() + space.ids.capacity() / 2));
    Passage whole{reinterpret_cast<const std::uint8_t *>(text.data()), text.size(),
                  allowed.mode == Allowed::all};
    if (!is_rest && allowed.mode != Allowed::some && take_cached(space, used, whole)) return {};
    space.memory.reserve(Workspace::first_memory);
    const bool bulk = take_bulk(space, text.size(), is_rest);
    if (is_rest && !bulk) return {TKX_E_NOT_FOUND};
    for (;;) {
        tkx_work work = space.work(bulk, is_utf8);
        std::uint32_t *out = space.ids.data() + used;
        std::size_t room = space.ids.capacity() - used, count = 0;
        const int code = encode_into(work, text, allowed, out, room, &count);
        if (code == TKX_OK) {
            if (whole.hash && count) space.short_texts->add(whole, out, count, false);
            used += count;
            return {};
        }
        if (code == TKX_E_IDS && count > room) {
            space.ids.resize(used + count);
        } else if (code == TKX_E_WORK && count > space.memory.capacity()) {
            space.memory.resize(count);
        } else {
            return {code, count};
        }
    }
}

Outcome Core::encode_items(Workspace &space, std::size_t &used, const std::string_view *texts,
                           const std::vector<Item> &items, const Allowed &allowed, bool is_utf8,
                           Ends ends) const {
    bool is_after = false;
    for (const Item &item : items) {
        if (item.kind == 0) {
            if (!(is_after ? ends.after : ends.before)) continue;
            if (space.ids.capacity() == used) space.ids.resize(used + used / 2 + 16);
            space.ids.data()[used++] = item.id;
            continue;
        }
        is_after = true;
        Outcome outcome =
            encode_text(space, used, texts[item.kind - 1], allowed, is_utf8, ends.is_rest);
        if (outcome.code != TKX_OK) return outcome;
    }
    return {};
}

void Core::fail_text(Outcome outcome, std::string_view text) const {
    if (outcome.code == TKX_E_UTF8) {
        // Python's own error is the best: a UnicodeDecodeError with the bytes and the position.
        owned(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
    }
    fail(name_, outcome.code, outcome.detail);
}

std::size_t Core::encode_texts(Workspace &space, const Text *texts, std::size_t count,
                               nb::handle allowed, bool template_, bool is_utf8) {
    Allowed chosen = allowed_of(allowed);
    std::string_view views[2] = {texts[0].bytes, count == 2 ? texts[1].bytes : std::string_view()};
    const std::vector<Item> &items = items_of(count, template_);
    std::size_t used = 0;
    Outcome outcome;
    {
        MaybeReleasedGil gil(views[0].size() + views[1].size());
        outcome = encode_items(space, used, views, items, chosen, is_utf8, {});
    }
    if (outcome.code != TKX_OK) fail_text(outcome, views[0]);
    return used;
}

nb::object Core::encode(nb::handle text, nb::handle allowed, Truth template_) {
    WorkspacePool::Lease space(pool_);
    Text source = text_of(text, &space->text);
    std::size_t count = encode_texts(*space, &source, 1, allowed, template_, true);
    return list_of_ids(space->ids.data(), count);
}

nb::object Core::encode_bytes(nb::handle data, nb::handle allowed, Truth template_) {
    Text source = bytes_of(data);
    WorkspacePool::Lease space(pool_);
    std::size_t count = encode_texts(*space, &source, 1, allowed, template_, false);
    return list_of_ids(space->ids.data(), count);
}

nb::object Core::encode_pair(nb::handle a, nb::handle b, nb::handle allowed, Truth template_) {
    Text sources[2] = {text_of(a), text_of(b)};
    WorkspacePool::Lease space(pool_);
    std::size_t count = encode_texts(*space, sources, 2, allowed, template_, true);
    return list_of_ids(space->ids.data(), count);
}

nb::object Core::encode_numpy(nb::handle text, nb::handle allowed, Truth template_) {
    WorkspacePool::Lease space(pool_);
    Text source = text_of(text, &space->text);
    std::size_t count = encode_texts(*space, &source, 1, allowed, template_, true);
    return array_of_ids(space->ids, count);
}

void Core::check(bool whole) const {
    int code;
    {
        MaybeReleasedGil gil(held_.size());
        code = !whole && sections_are_intact(file_) ? TKX_OK : tkx_check(&file_);
    }
    if (code != TKX_OK) fail(name_, code);
}

std::size_t Core::self_test() {
    if (!file_.self_test.data) return 0;
    WorkspacePool::Lease space(pool_);
    space->ids.reserve(file_.self_test.size);
    space->memory.reserve(tkx_work_size(&file_, file_.self_test.size));
    tkx_work work = space->work();
    std::size_t count = 0;
    int code = tkx_selftest(&file_, space->ids.data(), space->ids.capacity(), &count, &work);
    if (code != TKX_OK) fail(name_, code, count);
    return count;
}

}  // namespace tokexport
