// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Encoding with threads: many texts, or the parts of a long one, to lists or to one array.
#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "batch.h"
#include "chunks.h"
#include "python/arrays.h"
#include "python/arrow.h"
#include "python/failure.h"
#include "python/numpy_ids.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// Starting a thread costs some 20 microseconds; it pays off for this much text.
constexpr std::size_t bytes_a_thread = std::size_t(1) << 15;

// A long text is cut into this many parts per thread, each of at most this many bytes, so that the
// other threads can take the parts of one that another process holds up.
constexpr std::size_t parts_a_thread = 16, longest_part = std::size_t(1) << 20;

// If a part cannot be encoded together with others, so many are encoded one by one; then twice as
// many, until one can.
constexpr std::size_t fewest_alone = 8;

// The size in bytes; approximate, since texts without UTF-8 count in characters.
std::size_t size_of(const std::vector<BatchText> &texts) {
    std::size_t size = 0;
    for (const BatchText &text : texts) size += text.source.size;
    return size;
}

std::size_t likely_ids(const std::vector<BatchText> &texts) {
    std::size_t bytes = 0;
    for (const BatchText &text : texts)
        bytes += text.source.kind < 2 ? text.source.size : 2 * text.source.size;
    return tokexport::likely_ids(bytes);
}

}  // namespace

// Encodes all texts of a batch with at most `threads` threads, without holding the GIL.
void Core::encode_texts(const Allowed &chosen, bool template_, std::size_t threads, bool is_utf8,
                        Batch &batch) {
    const std::size_t size = size_of(batch.texts);
    threads = std::max<std::size_t>(1, std::min(threads, size / bytes_a_thread));
    const bool may_cut = threads > 1 && holds_text_once(items_of(1, template_));
    const std::size_t part_size =
        may_cut ? std::min(size / (threads * parts_a_thread), longest_part) : SIZE_MAX;
    if (may_cut && is_utf8) batch.cutter = cutting_engine(size, part_size, chosen);
    // Many short texts justify building the engine's tables, too.
    if (size >= worth_tables_) bytes_without_tables_.fetch_add(size, std::memory_order_relaxed);
    cut_texts(part_size, batch);
    if (encode_parts(chosen, template_, threads, is_utf8, batch)) return;
    for (BatchText &text : batch.texts) {
        if (!text.source.kind) continue;
        batch.made.push_back(text_of(text.str));
        text.source = SourceText(batch.made.back().bytes);
    }
    cut_texts(part_size, batch);
    encode_parts(chosen, template_, threads, is_utf8, batch);
}

// Puts the ids of a template around those of each part, the last of which ends at `end`; returns
// how many these are.
std::size_t Core::add_items(const std::vector<Item> &items, Part *parts, std::size_t count,
                            std::uint32_t *end) {
    const auto text =
        std::find_if(items.begin(), items.end(), [](const Item &item) { return item.kind != 0; });
    std::size_t added = 0;
    for (std::size_t i = 0; i < count; i++)
        added += static_cast<std::size_t>((parts[i].is_first ? text - items.begin() : 0) +
                                          (parts[i].is_last ? items.end() - text - 1 : 0));
    if (!added) return 0;
    std::uint32_t *out = end + added;
    // From the last one on: all move up.
    for (std::size_t i = count; i-- > 0;) {
        const std::size_t made = parts[i].count;
        if (parts[i].is_last)
            for (auto item = items.end(); --item > text; parts[i].count++) *--out = item->id;
        out = std::copy_backward(end - made, end, out);
        end -= made;
        if (parts[i].is_first)
            for (auto item = text; item-- > items.begin(); parts[i].count++) *--out = item->id;
    }
    return added;
}

// Encodes the first of some parts together if they are short texts that the engine takes whole, and
// returns how many; 0: none. `is_refused`: the first one is not such a text, or memory is short.
std::size_t Core::encode_together(Workspace &space, std::size_t &used, Part *first,
                                  const Part *last, const std::vector<Item> &items,
                                  const Allowed &allowed, bool is_utf8, bool &is_refused) const {
    std::size_t text_bytes = utf8_slack, bytes = 0, count = 0;
    for (; count < tkx_bulk::most_collected && first + count < last; count++) {
        const SourceText &text = first[count].source;
        if (!text.size || text.size > tkx_bulk::longest_collected) break;
        const std::size_t most = text.size * (text.kind ? utf8_bytes(text.kind) : 1);
        if (text.kind) text_bytes += most;
        bytes += most;
    }
    if (count < 2 || !take_bulk(space, bytes, false) || !space.bulk->can_collect()) return 0;
    space.text.reserve(text_bytes);
    space.memory.reserve(Workspace::first_memory);
    space.ids.reserve(used + tkx_bulk::room_to_collect(bytes, count) + items.size() * count);
    std::uint8_t *made = space.text.data();
    space.bulk->begin_collecting();
    for (std::size_t i = 0; i < count && space.bulk->collected() == i; i++) {
        std::string_view text = first[i].source.utf8();
        if (const SourceText &source = first[i].source; source.kind) {
            const std::size_t size = write_utf8_(source.data, source.kind, source.size, made);
            if (size == not_utf8) break;
            text = {reinterpret_cast<const char *>(made), size};
            made += size;
        }
        std::size_t ids = 0;
        encode_into(space.work(true, is_utf8), text, allowed, nullptr, 0, &ids);
    }
    space.bulk->end_collecting();
    const std::size_t collected = space.bulk->collected();
    std::size_t counts[tkx_bulk::most_collected];
    tkx_work work = space.work(true, true);
    is_refused =
        !collected || tkx_bulk_encode_collected(&file_, &work, space.ids.data() + used,
                                                space.ids.capacity() - used, counts) != TKX_OK;
    if (is_refused) return 0;
    for (std::size_t i = 0; i < collected; i++) used += first[i].count = counts[i];
    used += add_items(items, first, collected, space.ids.data() + used);
    return collected;
}

// False: a str has surrogates, so the results are to be discarded.
bool Core::encode_parts(const Allowed &chosen, bool template_, std::size_t threads, bool is_utf8,
                        Batch &batch) {
    const std::vector<Item> &items = items_of(1, template_);
    auto &parts = batch.parts;
    const std::size_t count = parts.size();
    const bool may_collect = holds_text_once(items) && !batch.cutter;
    threads = std::max<std::size_t>(1, std::min(threads, count));
    const std::size_t step =
        threads == 1 ? std::max<std::size_t>(1, count)
                     : std::max<std::size_t>(
                           1, std::min<std::size_t>(64, count / (threads * parts_a_thread)));
    while (batch.spaces.size() < threads) batch.add_space(pool_);

    const std::size_t chunk_count = (count + step - 1) / step;
    if (threads > 1)
        batch.gathered = std::make_unique<GatheredIds>(chunk_count, likely_ids(batch.texts));
    else batch.gathered.reset();

    std::vector<Outcome> outcomes(threads);    // of each worker, its first failure
    std::vector<std::size_t> failed(threads);  // the text that failed
    std::vector<char> out_of_memory(threads, 0), has_surrogate(threads, 0);
    std::vector<GatheredIds::Waiting> waiting(threads);
    Chunks chunks(chunk_count, threads);
    auto work = [&](std::size_t worker) noexcept {
        try {
            Workspace &space = **batch.spaces[worker];
            std::size_t used = 0, alone = fewest_alone, together_from = 0;
            for (std::size_t chunk; (chunk = chunks.next(worker)) < chunk_count;) {
                const std::size_t first = chunk * step, last = std::min(first + step, count);
                for (std::size_t i = first; i < last; i++) {
                    if (i >= together_from && may_collect) {
                        bool is_refused = false;
                        i += encode_together(space, used, &parts[i], parts.data() + last, items,
                                             chosen, is_utf8, is_refused);
                        if (i == last) break;
                        alone = is_refused ? 2 * alone : fewest_alone;
                        if (is_refused) together_from = i + alone;
                    }
                    Part &part = parts[i];
                    const std::size_t before = used;
                    const bool is_rest = batch.cutter && !part.is_first;
                    const auto utf8 = utf8_of(part.source, write_utf8_, space.text);
                    if (!utf8) {
                        has_surrogate[worker] = 1;
                        chunks.stop();
                        return;
                    }
                    Outcome outcome = encode_items(space, used, &*utf8, items, chosen, is_utf8,
                                                   {part.is_first, part.is_last, is_rest});
                    if (outcome.code != TKX_OK) {
                        outcomes[worker] = outcome;
                        failed[worker] = part.text;
                        chunks.stop();
                        return;
                    }
                    part.count = used - before;
                }
                if (batch.gathered)
                    used = waiting[worker].add(*batch.gathered, chunk, space.ids.data(), used);
            }
        } catch (const std::bad_alloc &) {
            out_of_memory[worker] = 1;
            chunks.stop();
        }
    };
    if (threads == 1 && size_of(batch.texts) < bytes_a_thread) {
        work(0);
    } else {
        nb::gil_scoped_release released;
        on_threads(threads, work);
    }
    for (std::size_t i = 0; i < threads; i++) {
        if (out_of_memory[i]) throw std::bad_alloc();
        if (has_surrogate[i]) return false;
        // The engine has no memory for a rest, which the core cannot encode.
        if (outcomes[i].code == TKX_E_NOT_FOUND) throw std::bad_alloc();
        if (outcomes[i].code != TKX_OK)
            fail_text(outcomes[i], batch.texts[failed[i]].source.utf8());
    }
    if (batch.gathered) {
        batch.gathered->make_room();
        for (std::size_t i = 0; i < threads; i++)
            waiting[i].finish(*batch.gathered, (**batch.spaces[i]).ids.data());
    }
    return true;
}

void Core::add_text(nb::handle text, Batch &batch) const {
    SourceText source = source_of(text);
    if (!source.data) {
        batch.made.push_back(text_of(text));
        source = SourceText(batch.made.back().bytes);
    }
    batch.texts.push_back({source, text});
}

// Copies the texts into a tuple, which no other thread can change while the GIL is released.
void Core::add_texts(nb::handle texts, Batch &batch) const {
    if (PyUnicode_Check(texts.ptr()) || PyBytes_Check(texts.ptr()))
        fail_type("texts must be several texts (encode takes one)", texts);
    batch.owner = owned(PySequence_Tuple(texts.ptr()));
    const Py_ssize_t count = PyTuple_GET_SIZE(batch.owner.ptr());
    batch.texts.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; i++) add_text(PyTuple_GET_ITEM(batch.owner.ptr(), i), batch);
}

nb::object Core::encode_batch(nb::handle texts, nb::handle allowed, Truth template_,
                              std::size_t threads) {
    Batch batch(pool_);
    add_texts(texts, batch);
    encode_texts(allowed_of(allowed), template_, threads, true, batch);
    nb::object lists = owned(PyList_New(static_cast<Py_ssize_t>(batch.texts.size())));
    const auto offsets = batch.offsets();
    for (std::size_t i = 0; i < batch.texts.size(); i++)
        PyList_SET_ITEM(lists.ptr(), static_cast<Py_ssize_t>(i),
                        list_of_ids(batch.ids().data() + offsets[i], offsets[i + 1] - offsets[i])
                            .release()
                            .ptr());
    return lists;
}

nb::object Core::encode_parallel(nb::handle text, nb::handle allowed, Truth template_,
                                 std::size_t threads) {
    const bool is_bytes = PyBytes_Check(text.ptr());
    Batch batch(pool_);
    if (is_bytes) batch.texts.push_back({SourceText(bytes_of(text).bytes), text});
    else add_text(text, batch);
    encode_texts(allowed_of(allowed), template_, threads, !is_bytes, batch);
    return list_of_ids(batch.ids().data(), batch.offsets()[1]);
}

nb::object Core::encode_parallel_numpy(nb::handle text, nb::handle allowed, Truth template_,
                                       std::size_t threads) {
    Batch batch(pool_);
    add_text(text, batch);
    encode_texts(allowed_of(allowed), template_, threads, true, batch);
    return array_of_ids(batch.ids(), batch.offsets()[1]);
}

nb::object Core::encode_flat(nb::handle texts, nb::handle allowed, Truth template_,
                             std::size_t threads) {
    Batch batch(pool_);
    const std::optional<ArrowTexts> arrow = ArrowTexts::of(texts);
    if (arrow)
        for (std::string_view view : arrow->views()) batch.texts.push_back({SourceText(view)});
    else add_texts(texts, batch);
    encode_texts(allowed_of(allowed), template_, threads, !arrow, batch);

    std::unique_ptr<std::uint64_t[]> offsets = batch.offsets();
    nb::object ids = array_of_ids(batch.ids(), offsets[batch.texts.size()]);
    return nb::make_tuple(std::move(ids), array_of(std::move(offsets), batch.texts.size() + 1));
}

}  // namespace tokexport
