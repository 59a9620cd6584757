#include "word_counter.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "arrays.h"
#include "failure.h"
#include "training/pair_merger.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// Less text than this is not worth a thread.
constexpr std::size_t bytes_a_thread = std::size_t(1) << 18;
constexpr std::size_t block = 64;

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

void WordCounter::count(Worker &worker, std::string_view text, std::uint64_t place) const {
    const auto *data = reinterpret_cast<const std::uint8_t *>(text.data());
    SplitRun run(*splitter_, data, text.size());
    WordMap &map = worker.map;
    std::uint32_t start = 0;
    for (std::size_t count; (count = run.next(worker.ends.get())) != 0;) {
        worker.words += count;
        const std::uint32_t *ends = worker.ends.get();
        // First the keys of a block, so that the misses of the machine's cache overlap.
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

void WordCounter::add(nb::handle texts, std::size_t threads) {
    // A tuple of our own, so that no other thread changes it while the GIL is free.
    nb::object items = owned(PySequence_Tuple(texts.ptr()));
    struct Part {
        std::string_view text;
        std::uint64_t place;
    };
    std::vector<Part> parts;
    std::uint64_t bytes = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); i++) {
        PyObject *item = PyTuple_GET_ITEM(items.ptr(), i);
        if (!PyUnicode_Check(item)) fail_type("texts must hold str", item);
        Py_ssize_t size = 0;
        const char *utf8 = PyUnicode_AsUTF8AndSize(item, &size);
        if (!utf8) fail_python();
        if (static_cast<std::uint64_t>(size) > UINT32_MAX)
            throw nb::value_error("a text has 4 GB or more; give it in parts");
        if (size == 0) continue;
        parts.push_back({{utf8, static_cast<std::size_t>(size)}, bytes_ + bytes});
        bytes += static_cast<std::uint64_t>(size);
    }
    const auto worth = static_cast<std::size_t>(bytes / bytes_a_thread);
    threads = std::max<std::size_t>(1, std::min({threads, parts.size(), worth}));
    while (workers_.size() < threads) workers_.push_back(std::make_unique<Worker>());
    std::atomic<std::size_t> next{0};
    std::atomic<bool> out_of_memory{false};
    auto work = [&](std::size_t worker) noexcept {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < parts.size();)
                count(*workers_[worker], parts[i].text, parts[i].place);
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
            // No more threads to be had: those that run do the work.
        }
        work(0);
        for (std::thread &other : others) other.join();
    }
    if (out_of_memory) throw std::bad_alloc();
    bytes_ += bytes;
}

// The maps of all workers into that of the first.
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

nb::object WordCounter::merges(std::size_t count, const char *tie_break, nb::handle progress) {
    const TieBreak chosen = tie_break_of(tie_break);
    join();
    std::vector<LearnedMerge> found;
    std::uint64_t tokens = 0;
    bool is_interrupted = false;
    {
        nb::gil_scoped_release released;
        PairMerger merger(workers_.front()->map, chosen);
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
        tokens = merger.symbol_count();
    }
    if (is_interrupted) fail_python();
    std::unique_ptr<std::uint64_t[]> numbers(new std::uint64_t[3 * found.size() + 1]);
    for (std::size_t i = 0; i < found.size(); i++) {
        numbers[3 * i] = found[i].left;
        numbers[3 * i + 1] = found[i].right;
        numbers[3 * i + 2] = found[i].count;
    }
    return nb::make_tuple(array_of(std::move(numbers), 3 * found.size()), tokens);
}

}  // namespace tokexport
