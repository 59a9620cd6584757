// Encoding with threads: many texts, or the parts of a long one, to lists or to one array.
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
#include "gathering.h"
#include "numpy_ids.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

// A thread costs some 20 microseconds to start; it is worth it for this much text.
constexpr std::size_t bytes_a_thread = std::size_t(1) << 15;

// A long text is cut into so many parts a thread, each of at most so many bytes: a thread that
// another process holds up leaves them to the others.
constexpr std::size_t parts_a_thread = 16, longest_part = std::size_t(1) << 20;

std::size_t bytes_of(const std::vector<std::string_view> &texts) {
    std::size_t bytes = 0;
    for (std::string_view text : texts) bytes += text.size();
    return bytes;
}

// Hands chunks of work to threads: to each of n threads every n-th, and when these are done, those
// of others. So texts that come again go to the thread that has them in its caches.
class Chunks {
public:
    Chunks(std::size_t count, std::size_t threads) : count_(count), taken_(threads) {}

    // The next chunk for a thread, or `count` and more.
    std::size_t next(std::size_t thread) {
        std::size_t chunk = count_;
        for (std::size_t i = 0; i < taken_.size() && chunk >= count_; i++) {
            const std::size_t owner = (thread + i) % taken_.size();
            chunk = owner + taken_[owner].fetch_add(1) * taken_.size();
        }
        return chunk;
    }

    void stop() {
        for (auto &taken : taken_) taken.store(count_);
    }

private:
    std::size_t count_;
    std::vector<std::atomic<std::size_t>> taken_;
};

// Calls `work` with 0 to threads - 1, each on a thread of its own.
template <class Work> void on_threads(std::size_t threads, Work work) {
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

}  // namespace

// The parts of the texts, and the ids of all of them: those of one thread are in its workspace,
// those of several are gathered.
struct Core::Batch {
    struct Part {
        std::string_view bytes;
        std::size_t text;  // its number
        bool is_first, is_last;
        std::size_t count = 0;
    };
    std::vector<std::unique_ptr<WorkspacePool::Lease>> spaces;
    std::vector<Part> parts;
    std::vector<std::size_t> first_parts;  // of each text, and how many parts there are
    // What cuts the texts, where the core does not: then all parts but the first are rests.
    const Engine *cutter = nullptr;
    std::unique_ptr<GatheredIds> gathered;

    explicit Batch(WorkspacePool &pool) { add_space(pool); }

    // Gives the workspaces back so that the next batch takes them in the same order.
    ~Batch() {
        if (!spaces.empty()) spaces.front().reset();
        while (!spaces.empty()) spaces.pop_back();
    }

    void add_space(WorkspacePool &pool) {
        spaces.push_back(std::make_unique<WorkspacePool::Lease>(pool));
    }

    Buffer<std::uint8_t> &text() { return (**spaces[0]).text; }
    Buffer<std::uint32_t> &ids() { return gathered ? gathered->ids() : (**spaces[0]).ids; }

    // Where the ids of each text begin, and their number.
    std::unique_ptr<std::uint64_t[]> offsets() const {
        const std::size_t texts = first_parts.size() - 1;
        std::unique_ptr<std::uint64_t[]> made(new std::uint64_t[texts + 1]);
        std::size_t count = 0;
        for (std::size_t i = 0; i < texts; i++) {
            made[i] = count;
            for (std::size_t k = first_parts[i]; k < first_parts[i + 1]; k++)
                count += parts[k].count;
        }
        made[texts] = count;
        return made;
    }
};

// Cuts a text where that is certain to change nothing, into parts of about `size` bytes.
void Core::add_parts(std::string_view text, std::size_t number, std::size_t size,
                     Batch &batch) const {
    bool is_first = true;
    while (text.size() / 2 > size) {
        std::size_t searched = 0, until = size, cut = 0;
        const auto last_cut = [&](const char *from, std::size_t length) {
            return batch.cutter ? batch.cutter->last_cut(from, length)
                                : tkx_cut(&file_, from, length);
        };
        while ((cut = last_cut(text.data() + searched, until - searched)) == 0 &&
               until < text.size()) {
            // From the last three characters on, of which one may be cut off.
            searched = until - std::min<std::size_t>(until, 12);
            while (searched && (text[searched] & 0xC0) == 0x80) searched--;
            until = std::min(until + size, text.size());
        }
        if (cut == 0) break;
        cut += searched;
        batch.parts.push_back({text.substr(0, cut), number, is_first, false});
        text.remove_prefix(cut);
        is_first = false;
    }
    batch.parts.push_back({text, number, is_first, true});
}

// What cuts texts in place of the core: the engine, where the file has no places for that since a
// space is put before each text. Null: nothing.
const Engine *Core::cutting_engine(std::size_t bytes, std::size_t part_size) const {
    if (file_.cuts.data || part_size < bulk_from_ ||
        std::max(bytes, bytes_without_tables_.load(std::memory_order_relaxed)) < worth_tables_)
        return nullptr;
    const Engine *made = engine();
    return made && made->has_light_normalizer ? made : nullptr;
}

// Encodes all texts, whose bytes must stay, by at most so many threads; the GIL is free in between.
void Core::encode_texts(const std::vector<std::string_view> &sources, const Allowed &chosen,
                        bool template_, std::size_t threads, bool is_utf8, Batch &batch) {
    const std::size_t bytes = bytes_of(sources);
    threads = std::max<std::size_t>(1, std::min(threads, bytes / bytes_a_thread));
    const bool may_cut = threads > 1 && holds_text_once(items_of(1, template_));
    const std::size_t part_size =
        may_cut ? std::min(bytes / (threads * parts_a_thread), longest_part) : SIZE_MAX;
    if (may_cut && is_utf8 && chosen.mode == Allowed::none)
        batch.cutter = cutting_engine(bytes, part_size);
    // Many short texts are worth the tables, too.
    if (bytes >= worth_tables_) bytes_without_tables_.fetch_add(bytes, std::memory_order_relaxed);
    cut_texts(sources, part_size, batch);
    if (encode_parts(sources, chosen, template_, threads, is_utf8, batch)) return;
    batch.cutter = nullptr;
    cut_texts(sources, SIZE_MAX, batch);
    encode_parts(sources, chosen, template_, threads, is_utf8, batch);
}

void Core::cut_texts(const std::vector<std::string_view> &sources, std::size_t part_size,
                     Batch &batch) const {
    batch.parts.clear();
    batch.parts.reserve(sources.size());
    batch.first_parts.clear();
    batch.first_parts.reserve(sources.size() + 1);
    for (std::size_t i = 0; i < sources.size(); i++) {
        batch.first_parts.push_back(batch.parts.size());
        add_parts(sources[i], i, part_size, batch);
    }
    batch.first_parts.push_back(batch.parts.size());
}

// False: the engine has refused a rest.
bool Core::encode_parts(const std::vector<std::string_view> &sources, const Allowed &chosen,
                        bool template_, std::size_t threads, bool is_utf8, Batch &batch) {
    const std::vector<Item> &items = items_of(1, template_);
    auto &parts = batch.parts;
    const std::size_t count = parts.size();
    threads = std::max<std::size_t>(1, std::min(threads, count));
    const std::size_t step =
        std::max<std::size_t>(1, std::min<std::size_t>(64, count / (threads * parts_a_thread)));
    while (batch.spaces.size() < threads) batch.add_space(pool_);

    const std::size_t bytes = bytes_of(sources), chunk_count = (count + step - 1) / step;
    if (threads > 1) batch.gathered = std::make_unique<GatheredIds>(chunk_count, likely_ids(bytes));
    else batch.gathered.reset();

    std::vector<Outcome> outcomes(threads);    // of each worker, the first that was no success
    std::vector<std::size_t> failed(threads);  // and the text it befell
    std::vector<char> out_of_memory(threads, 0);
    std::vector<GatheredIds::Waiting> waiting(threads);
    Chunks chunks(chunk_count, threads);
    auto work = [&](std::size_t worker) noexcept {
        try {
            Workspace &space = **batch.spaces[worker];
            std::size_t used = 0;
            for (std::size_t chunk; (chunk = chunks.next(worker)) < chunk_count;) {
                const std::size_t first = chunk * step;
                for (std::size_t i = first; i < std::min(first + step, count); i++) {
                    Batch::Part &part = parts[i];
                    const std::size_t before = used;
                    const bool is_rest = batch.cutter && !part.is_first;
                    Outcome outcome = encode_items(space, used, &part.bytes, items, chosen, is_utf8,
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
    if (threads == 1 && bytes < bytes_a_thread) {
        work(0);
    } else {
        nb::gil_scoped_release released;
        on_threads(threads, work);
    }
    for (std::size_t i = 0; i < threads; i++) {
        if (out_of_memory[i]) throw std::bad_alloc();
        if (outcomes[i].code == TKX_E_NOT_FOUND && batch.cutter) return false;
        if (outcomes[i].code != TKX_OK) fail_text(outcomes[i], sources[failed[i]]);
    }
    if (batch.gathered) {
        batch.gathered->make_room();
        for (std::size_t i = 0; i < threads; i++)
            waiting[i].finish(*batch.gathered, (**batch.spaces[i]).ids.data());
    }
    return true;
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
    Batch batch(pool_);
    encode_texts(views_of(sources), allowed_of(allowed), template_, threads, true, batch);
    nb::object lists = owned(PyList_New(static_cast<Py_ssize_t>(sources.size())));
    const auto offsets = batch.offsets();
    for (std::size_t i = 0; i < sources.size(); i++)
        PyList_SET_ITEM(lists.ptr(), static_cast<Py_ssize_t>(i),
                        ints_.list(batch.ids().data() + offsets[i], offsets[i + 1] - offsets[i])
                            .release()
                            .ptr());
    return lists;
}

nb::object Core::encode_parallel(nb::handle text, nb::handle allowed, Truth template_,
                                 std::size_t threads) {
    const bool is_bytes = PyBytes_Check(text.ptr());
    Batch batch(pool_);
    const Text source = is_bytes ? bytes_of(text) : text_of(text, &batch.text());
    encode_texts({source.bytes}, allowed_of(allowed), template_, threads, !is_bytes, batch);
    return ints_.list(batch.ids().data(), batch.offsets()[1]);
}

nb::object Core::encode_parallel_numpy(nb::handle text, nb::handle allowed, Truth template_,
                                       std::size_t threads) {
    Batch batch(pool_);
    const Text source = text_of(text, &batch.text());
    encode_texts({source.bytes}, allowed_of(allowed), template_, threads, true, batch);
    return array_of_ids(batch.ids(), batch.offsets()[1]);
}

nb::object Core::encode_flat(nb::handle texts, nb::handle allowed, Truth template_,
                             std::size_t threads) {
    nb::object items;
    std::vector<Text> sources;
    std::optional<ArrowTexts> arrow = ArrowTexts::of(texts);
    if (!arrow) sources = texts_of(texts, items);
    const std::vector<std::string_view> views = arrow ? arrow->views() : views_of(sources);
    Batch batch(pool_);
    encode_texts(views, allowed_of(allowed), template_, threads, !arrow, batch);

    std::unique_ptr<std::uint64_t[]> offsets = batch.offsets();
    nb::object ids = array_of_ids(batch.ids(), offsets[views.size()]);
    return nb::make_tuple(std::move(ids), array_of(std::move(offsets), views.size() + 1));
}

}  // namespace tokexport
