// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "word_counter.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "pair_merger.h"
#include "python/failure.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// Less text than this is not worth starting a thread.
constexpr std::size_t bytes_a_thread = std::size_t(1) << 18;
constexpr std::size_t block = 64;
// A text of more than twice this size is cut into parts that several threads count.
constexpr std::size_t part_size = std::size_t(1) << 20;

TieBreak tie_break_of(std::string_view name) {
    if (name == "lowest-ids") return TieBreak::lowest_ids;
    if (name == "lowest-gpt2-ids") return TieBreak::lowest_gpt2_ids;
    if (name == "greatest-bytes") return TieBreak::greatest_bytes;
    if (name == "first-seen") return TieBreak::first_seen;
    throw nb::value_error("a tie-break that is none");
}

}  // namespace

WordCounter::WordCounter(nb::object core)
    : owner_(std::move(core)),
      core_(nb::cast<const Core &>(owner_)),
      splitter_(Splitter::make(core_.file())) {
    if (!splitter_) throw nb::value_error("the splitter does not do this pattern");
    workers_.push_back(std::make_unique<Worker>());
}

void WordCounter::count(Worker &worker, const Part &part) const {
    const std::string_view text = part.text;
    const std::uint64_t place = part.place;
    const auto *data = reinterpret_cast<const std::uint8_t *>(text.data());
    SplitRun run(*splitter_, data, text.size());
    WordMap &map = worker.map;
    std::uint32_t start = 0;
    for (std::size_t count; (count = run.next(worker.ends.get())) != 0;) {
        worker.words += count;
        const std::uint32_t *ends = worker.ends.get();
        // The keys of a block first, so that the cache misses overlap.
        for (std::size_t from = 0; from < count; from += block) {
            WordKey keys[block];
            const std::size_t size = std::min(block, count - from);
            const std::uint32_t block_start = start;
            for (std::size_t i = 0; i < size; i++) {
                const std::uint32_t end = ends[from + i], length = end - start;
                keys[i] = WordKey{};
                if (length <= WordKey::longest) {
                    if (text.size() - start >= 16) {
                        keys[i] = WordMap::key_of(data + start, length);
                    } else {
                        std::uint8_t padded[16] = {};
                        std::memcpy(padded, data + start, length);
                        keys[i] = WordMap::key_of(padded, length);
                    }
                    map.prefetch(keys[i]);
                }
                start = end;
            }
            start = block_start;
            for (std::size_t i = 0; i < size; i++) {
                const std::uint32_t end = ends[from + i];
                if (keys[i].b) map.add_short(keys[i], 1, place + start);
                else map.add_long(data + start, end - start, 1, place + start);
                start = end;
            }
        }
    }
}

// Cuts a text after about every `size` bytes, or at the next offset where a cut is possible.
void WordCounter::divide(std::vector<Part> &parts, Part whole, std::size_t size) const {
    for (std::size_t window = size; whole.text.size() > window;) {
        std::size_t end = window;
        while ((static_cast<unsigned char>(whole.text[end]) & 0xC0) == 0x80) end--;
        const std::size_t cut = tkx_cut(&core_.file(), whole.text.data(), end);
        if (cut == 0) {
            window *= 2;
            continue;
        }
        parts.push_back({whole.text.substr(0, cut), whole.place});
        whole = {whole.text.substr(cut), whole.place + cut};
        window = size;
    }
    parts.push_back(whole);
    for (const Part &part : parts)
        if (part.text.size() > UINT32_MAX)
            throw nb::value_error("a text has 4 GB without a place where it can be cut");
}

void WordCounter::add(nb::handle texts, std::size_t threads) {
    // A tuple of our own, so that no other thread changes it while the GIL is released.
    nb::object items = owned(PySequence_Tuple(texts.ptr()));
    std::vector<Part> parts;
    std::uint64_t bytes = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); i++) {
        PyObject *item = PyTuple_GET_ITEM(items.ptr(), i);
        if (!PyUnicode_Check(item)) fail_type("texts must hold str", item);
        Py_ssize_t size = 0;
        const char *utf8 = PyUnicode_AsUTF8AndSize(item, &size);
        if (!utf8) fail_python();
        const auto length = static_cast<std::size_t>(size);
        const Part whole{{utf8, length}, bytes_ + bytes};
        if (length > UINT32_MAX || (threads > 1 && length > 2 * part_size))
            divide(parts, whole, part_size);
        else if (length) parts.push_back(whole);
        bytes += length;
    }
    const auto worth = static_cast<std::size_t>(bytes / bytes_a_thread);
    threads = std::max<std::size_t>(1, std::min({threads, parts.size(), worth}));
    while (workers_.size() < threads) workers_.push_back(std::make_unique<Worker>());
    std::atomic<std::size_t> next{0};
    std::atomic<bool> out_of_memory{false};
    auto work = [&](std::size_t worker) noexcept {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < parts.size();)
                count(*workers_[worker], parts[i]);
        } catch (const std::bad_alloc &) {
            out_of_memory = true;
        }
    };
    {
        nb::gil_scoped_release released;
        std::vector<std::thread> others;
        others.reserve(threads);
        try {
            for (std::size_t i = 1; i < threads; i++) others.emplace_back(work, i);
        } catch (const std::system_error &) {
            // The system gives no more threads: those that run do the work.
        }
        work(0);
        for (std::thread &other : others) other.join();
    }
    if (out_of_memory) throw std::bad_alloc();
    bytes_ += bytes;
}

// Adds the maps of all workers to the map of the first one.
void WordCounter::join() {
    Worker &first = *workers_.front();
    for (; workers_.size() > 1; workers_.pop_back()) {
        first.map.absorb(workers_.back()->map);
        first.words += workers_.back()->words;
    }
}

std::size_t WordCounter::distinct() {
    join();
    return workers_.front()->map.size();
}

std::uint64_t WordCounter::words() const {
    std::uint64_t words = 0;
    for (const std::unique_ptr<Worker> &worker : workers_) words += worker->words;
    return words;
}

std::size_t WordCounter::cut(nb::handle data) const {
    const Text text = bytes_of(data);
    return tkx_cut(&core_.file(), text.bytes.data(), text.bytes.size());
}

nb::object WordCounter::words_of_all(bool sorted) {
    join();
    const WordMap &map = workers_.front()->map;
    std::vector<const WordMap::Slot *> slots = map.words();
    std::size_t size = 0;
    for (const WordMap::Slot *slot : slots) size += map.length(*slot);
    std::unique_ptr<std::uint64_t[]> counts(new std::uint64_t[slots.size() + 1]);
    std::unique_ptr<std::uint32_t[]> lengths(new std::uint32_t[slots.size() + 1]);
    std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[size + 1]);
    {
        nb::gil_scoped_release released;
        std::sort(slots.begin(), slots.end(), [&](const WordMap::Slot *a, const WordMap::Slot *b) {
            return sorted ? map.view(*a) < map.view(*b) : a->first < b->first;
        });
        std::uint8_t *end = bytes.get();
        for (std::size_t i = 0; i < slots.size(); i++) {
            counts[i] = slots[i]->count;
            lengths[i] = static_cast<std::uint32_t>(map.length(*slots[i]));
            map.copy(*slots[i], end);
            end += lengths[i];
        }
    }
    const std::size_t count = slots.size();
    return nb::make_tuple(array_of(std::move(counts), count), array_of(std::move(lengths), count),
                          array_of(std::move(bytes), size));
}

void WordCounter::add_words(const Numbers &counts, const Lengths &lengths, const Bytes &bytes) {
    const std::size_t count = counts.shape(0);
    std::uint64_t size = 0, words = 0, seen = 0;
    bool is_sound = lengths.shape(0) == count;
    for (std::size_t i = 0; is_sound && i < count; i++) {
        const std::uint64_t times = counts.data()[i], length = lengths.data()[i];
        std::uint64_t of_word = 0;
        size += length;
        is_sound = times && length && !__builtin_mul_overflow(times, length, &of_word) &&
                   !__builtin_add_overflow(seen, of_word, &seen);
        words += times;
    }
    if (!is_sound || size != bytes.shape(0) || bytes_ + seen < bytes_)
        throw nb::value_error("counts, lengths and bytes of words do not fit together");
    nb::gil_scoped_release released;
    Worker &worker = *workers_.front();
    const std::uint8_t *at = bytes.data();
    std::uint64_t place = bytes_;
    for (std::size_t i = 0; i < count; i++) {
        const std::uint32_t length = lengths.data()[i];
        worker.map.add(at, length, counts.data()[i], place);
        at += length;
        place += length;
    }
    worker.words += words;
    bytes_ += seen;
}

nb::object WordCounter::merges(std::size_t count, const char *tie_break, std::size_t longest,
                               nb::handle progress) {
    const TieBreak chosen = tie_break_of(tie_break);
    join();
    std::vector<LearnedMerge> found;
    std::vector<std::uint64_t> uses;
    std::size_t too_long = 0;
    bool is_interrupted = false;
    {
        nb::gil_scoped_release released;
        PairMerger merger(workers_.front()->map, chosen, longest);
        found = merger.run(count, [&](std::size_t done) {
            nb::gil_scoped_acquire held;
            if (PyErr_CheckSignals() == 0) {
                const auto number = static_cast<Py_ssize_t>(done);
                nb::object result = nb::steal(PyObject_CallFunction(progress.ptr(), "n", number));
                if (result) return true;
            }
            is_interrupted = true;
            return false;
        });
        uses = merger.uses();
        too_long = merger.too_long();
    }
    if (is_interrupted) fail_python();
    std::unique_ptr<std::uint64_t[]> numbers(new std::uint64_t[3 * found.size() + 1]);
    for (std::size_t i = 0; i < found.size(); i++) {
        numbers[3 * i] = found[i].left;
        numbers[3 * i + 1] = found[i].right;
        numbers[3 * i + 2] = found[i].count;
    }
    return nb::make_tuple(array_of(std::move(numbers), 3 * found.size()), array_of(uses), too_long);
}

}  // namespace tokexport
