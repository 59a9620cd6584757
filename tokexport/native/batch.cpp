// Encoding many texts with threads.
#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "core.h"
#include "failure.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// A thread costs some 20 microseconds to start; it is worth it for this much text.
constexpr std::size_t bytes_a_thread = std::size_t(1) << 15;

// Where the ids of one text lie: in the workspace of the thread that took it.
struct Result {
    std::size_t worker = 0, first = 0, count = 0;
};

}  // namespace

nb::object Core::encode_batch(nb::handle texts, nb::handle allowed, Truth template_, std::size_t threads) {
    if (PyUnicode_Check(texts.ptr()) || PyBytes_Check(texts.ptr())) fail_type("texts must be several texts (encode takes one)", texts);
    // A tuple of our own: no other thread can change it while the GIL is free.
    nb::object items = owned(PySequence_Tuple(texts.ptr()));
    const std::size_t count = static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr()));
    std::vector<Text> sources;
    sources.reserve(count);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; i++) {
        sources.push_back(text_of(PyTuple_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i))));
        bytes += sources.back().bytes.size();
    }
    const Allowed chosen = allowed_of(allowed);
    const std::vector<Piece> &pieces = pieces_of(1, template_);

    threads = std::max<std::size_t>(1, std::min({threads, count, bytes / bytes_a_thread}));
    const std::size_t step = std::max<std::size_t>(1, std::min<std::size_t>(64, count / (threads * 8)));
    std::vector<std::unique_ptr<WorkspacePool::Lease>> spaces;
    for (std::size_t i = 0; i < threads; i++) spaces.push_back(std::make_unique<WorkspacePool::Lease>(pool_));

    std::vector<Result> results(count);
    std::vector<Outcome> outcomes(threads);       // of each worker, the first that was no success
    std::vector<std::size_t> failed(threads);     // and the text it befell
    std::vector<char> out_of_memory(threads, 0);
    std::atomic<std::size_t> next{0};
    auto work = [&](std::size_t worker) noexcept {
        try {
            Workspace &space = **spaces[worker];
            std::size_t used = 0;
            for (std::size_t first; (first = next.fetch_add(step)) < count;) {
                for (std::size_t i = first; i < std::min(first + step, count); i++) {
                    const std::size_t before = used;
                    Outcome outcome = encode_pieces(space, used, &sources[i].bytes, pieces, chosen);
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
        if (outcomes[i].code != TKX_OK) fail_text(outcomes[i], sources[failed[i]].bytes);
    }

    nb::object lists = owned(PyList_New(static_cast<Py_ssize_t>(count)));
    for (std::size_t i = 0; i < count; i++) {
        const Result &result = results[i];
        nb::object list = ints_.list((**spaces[result.worker]).ids.data() + result.first, result.count);
        PyList_SET_ITEM(lists.ptr(), static_cast<Py_ssize_t>(i), list.release().ptr());
    }
    return lists;
}

}  // namespace tokexport
