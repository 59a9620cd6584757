#include "run_merges.h"

#include <algorithm>

namespace tokexport {

namespace {

struct Run {
    std::uint32_t symbol;
    std::size_t count;
};

class Runs {
public:
    explicit Runs(const PairTable &pairs) : pairs_(pairs) {}

    // False: too many runs for the length.
    bool read(const std::uint8_t *bytes, std::size_t size) {
        const std::size_t most = std::min<std::size_t>(most_at_first, 1 + size / bytes_a_run);
        for (std::size_t i = 0; i < size;) {
            if (count_ == most) return false;
            std::size_t end = i + 1;
            while (end < size && bytes[end] == bytes[i]) end++;
            runs_[count_++] = {pairs_.byte_id(bytes[i]), end - i};
            i = end;
        }
        return true;
    }

    // False: a merge would have to come between those of a run, or there are too many runs.
    bool merge() {
        for (;;) {
            std::size_t at = 0;
            bool is_inner = false;
            std::uint32_t best = PairTable::no_id;
            for (std::size_t i = 0; i < count_; i++) {
                const std::uint32_t x = runs_[i].symbol;
                const std::uint32_t inner = runs_[i].count > 1 ? pairs_.product(x, x) : best;
                if (inner < best) best = inner, at = i, is_inner = true;
                const std::uint32_t outer =
                    i + 1 < count_ ? pairs_.product(x, runs_[i + 1].symbol) : best;
                if (outer < best) best = outer, at = i, is_inner = false;
            }
            if (best == PairTable::no_id) return true;
            if (count_ == most) return false;
            if (!is_inner) join(at, best);
            else if (!halve(at, best)) return false;
            unite();
        }
    }

    std::size_t write(std::uint32_t *ids) const {
        std::uint32_t *p = ids;
        for (std::size_t i = 0; i < count_; i++)
            p = std::fill_n(p, runs_[i].count, runs_[i].symbol);
        return static_cast<std::size_t>(p - ids);
    }

private:
    static constexpr std::size_t most = 32, most_at_first = 8, bytes_a_run = 16;

    // Merges the symbols of a run in pairs, from the left. The pairs that this makes on the way
    // must not come before the rest: where a product is above its parts none does, but files may
    // have such pairs (Llama-3 has 85).
    bool halve(std::size_t at, std::uint32_t product) {
        Run &run = runs_[at];
        const std::uint32_t id = pairs_.id_of(product);
        if (run.count > 2) {
            const std::uint32_t least =
                std::min({pairs_.product(id, run.symbol), pairs_.product(id, id),
                          at ? pairs_.product(runs_[at - 1].symbol, id) : PairTable::no_id});
            if (least < product) return false;
        }
        const Run rest{run.symbol, run.count % 2};
        run = {id, run.count / 2};
        if (rest.count) insert(at + 1, rest);
        return true;
    }

    // Merges the last symbol of a run with the first of the next one.
    void join(std::size_t at, std::uint32_t product) {
        runs_[at].count--;
        runs_[at + 1].count--;
        insert(at + 1, {pairs_.id_of(product), 1});
    }

    void insert(std::size_t at, Run run) {
        std::copy_backward(runs_ + at, runs_ + count_, runs_ + count_ + 1);
        runs_[at] = run;
        count_++;
    }

    // Drops empty runs, and makes one of neighbours with the same symbol.
    void unite() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count_; i++) {
            if (!runs_[i].count) continue;
            if (kept && runs_[kept - 1].symbol == runs_[i].symbol)
                runs_[kept - 1].count += runs_[i].count;
            else runs_[kept++] = runs_[i];
        }
        count_ = kept;
    }

    const PairTable &pairs_;
    Run runs_[most + 1];
    std::size_t count_ = 0;
};

}  // namespace

std::size_t merge_runs(const PairTable &pairs, const std::uint8_t *bytes, std::size_t size,
                       std::uint32_t *ids) {
    Runs runs(pairs);
    return runs.read(bytes, size) && runs.merge() ? runs.write(ids) : 0;
}

}  // namespace tokexport
