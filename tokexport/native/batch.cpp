// Encoding many texts with threads: to a list a text, or to one array for all.
#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "arrays.h"
#include "arrow.h"
#include "core.h"
#include "failure.h"
#include "numpy_ids.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// A thread costs some 20 microseconds to start; it is worth it for this much text.
constexpr std::size_t bytes_a_thread = std::size_t(1) << 15;

}  // namespace

// Where the ids of each text lie: in the workspace of the thread that took it.
struct Core::Batch {
    struct Result {
        std::size_t worker = 0, first = 0, count = 0;
    };
    std::vector<std::unique_ptr<WorkspacePool::Lease>> spaces;
    std::vector<Result> results;

    const std::uint32_t *ids(const Result &result) const {
        return (**spaces[result.worker]).ids.data() + result.first;
    }
};

// Encodes all texts, whose bytes must stay, by at most so many threads; the GIL is free in between.
void Core::encode_texts(const std::vector<std::string_view> &sources, const Allowed &chosen,
                        bool template_, std::size_t threads, bool is_utf8, Batch &batch) {
    const std::size_t count = sources.size();
    std::size_t bytes = 0;
    for (std::string_view source : sources) bytes += source.size();
    const std::vector<Piece> &pieces = pieces_of(1, template_);

    threads = std::max<std::size_t>(1, std::min({threads, count, bytes / bytes_a_thread}));
    const std::size_t step =
        std::max<std::size_t>(1, std::min<std::size_t>(64, count / (threads * 8)));
    auto &spaces = batch.spaces;
    for (std::size_t i = 0; i < threads; i++)
        spaces.push_back(std::make_unique<WorkspacePool::Lease>(pool_));

    auto &results = batch.results;
    results.resize(count);
    std::vector<Outcome> outcomes(threads);    // of each worker, the first that was no success
    std::vector<std::size_t> failed(threads);  // and the text it befell
    std::vector<char> out_of_memory(threads, 0);
    std::atomic<std::size_t> next{0};
    auto work = [&](std::size_t worker) noexcept {
        try {
            Workspace &space = **spaces[worker];
            std::size_t used = 0;
            for (std::size_t first; (first = next.fetch_add(step)) < count;) {
                for (std::size_t i = first; i < std::min(first + step, count); i++) {
                    const std::size_t before = used;
                    Outcome outcome =
                        encode_pieces(space, used, &sources[i], pieces, chosen, is_utf8);
                    if (outcome.code != TKX_OK) {
                        outcomes[worker] = outcome;
                        failed[worker] = i;
                        next.store(count);
                        return;
                    }
                    results[i] = {worker, before, used - before};
                }
            }
        } catch (const std::bad_alloc &) {
            out_of_memory[worker] = 1;
            next.store(count);
        }
    };
    if (threads == 1 && bytes < bytes_a_thread) {
        work(0);
    } else {
        nb::gil_scoped_release released;
        std::vector<std::thread> others;
        others.reserve(threads - 1);
        try {
            for (std::size_t i = 1; i < threads; i++) others.emplace_back(work, i);
        } catch (const std::system_error &) {
            // No more threads to be had: those that run do the work.
        }
        work(0);
        for (std::thread &other : others) other.join();
    }
    for (std::size_t i = 0; i < threads; i++) {
        if (out_of_memory[i]) throw std::bad_alloc();
        if (outcomes[i].code != TKX_OK) fail_text(outcomes[i], sources[failed[i]]);
    }
}

// A tuple of our own, so that no other thread changes it while the GIL is free, and the bytes of
// its texts.
std::vector<Text> Core::texts_of(nb::handle texts, nb::object &items) const {
    if (PyUnicode_Check(texts.ptr()) || PyBytes_Check(texts.ptr()))
        fail_type("texts must be several texts (encode takes one)", texts);
    items = owned(PySequence_Tuple(texts.ptr()));
    const Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
    std::vector<Text> sources;
    sources.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; i++)
        sources.push_back(text_of(PyTuple_GET_ITEM(items.ptr(), i)));
    return sources;
}

namespace {

std::vector<std::string_view> views_of(const std::vector<Text> &texts) {
    std::vector<std::string_view> views;
    views.reserve(texts.size());
    for (const Text &text : texts) views.push_back(text.bytes);
    return views;
}

}  // namespace

nb::object Core::encode_batch(nb::handle texts, nb::handle allowed, Truth template_,
                              std::size_t threads) {
    nb::object items;
    const std::vector<Text> sources = texts_of(texts, items);
    Batch batch;
    encode_texts(views_of(sources), allowed_of(allowed), template_, threads, true, batch);
    nb::object lists = owned(PyList_New(static_cast<Py_ssize_t>(sources.size())));
    for (std::size_t i = 0; i < sources.size(); i++) {
        nb::object list = ints_.list(batch.ids(batch.results[i]), batch.results[i].count);
        PyList_SET_ITEM(lists.ptr(), static_cast<Py_ssize_t>(i), list.release().ptr());
    }
    return lists;
}

nb::object Core::encode_flat(nb::handle texts, nb::handle allowed, Truth template_,
                             std::size_t threads) {
    nb::object items;
    std::vector<Text> sources;
    std::optional<ArrowTexts> arrow = ArrowTexts::of(texts);
    if (!arrow) sources = texts_of(texts, items);
    const std::vector<std::string_view> views = arrow ? arrow->views() : views_of(sources);
    Batch batch;
    encode_texts(views, allowed_of(allowed), template_, threads, !arrow, batch);

    std::unique_ptr<std::uint64_t[]> offsets(new std::uint64_t[views.size() + 1]);
    std::size_t count = 0;
    for (std::size_t i = 0; i < views.size(); i++) {
        offsets[i] = count;
        count += batch.results[i].count;
    }
    offsets[views.size()] = count;
    Buffer<std::uint32_t> ids;
    ids.resize(count);
    {
        nb::gil_scoped_release released;
        for (std::size_t i = 0; i < views.size(); i++)
            std::copy_n(batch.ids(batch.results[i]), batch.results[i].count,
                        ids.data() + offsets[i]);
    }
    return nb::make_tuple(array_of_ids(ids, count), array_of(std::move(offsets), views.size() + 1));
}

}  // namespace tokexport
