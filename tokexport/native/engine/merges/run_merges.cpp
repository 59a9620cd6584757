// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "run_merges.h"

#include <algorithm>

#include "character_table.h"
#include "engine/words/word_cache.h"

namespace tokexport {

namespace {

struct Run {
    std::uint32_t symbol;
    std::size_t count;
};

// The size in bytes of the first `length` bytes and all whole repetitions that follow.
std::size_t repeated(const std::uint8_t *bytes, std::size_t size, std::size_t length) {
    std::size_t i = length;
    while (i + 8 <= size && load64(bytes + i) == load64(bytes + i - length)) i += 8;
    while (i < size && bytes[i] == bytes[i - length]) i++;
    return i / length * length;
}

// The steps of SPEC.md 3.5 on runs. The next pair depends on the symbols of the runs, and on which
// runs have more than one, but not on how many more. So steps that are certain to be repeated are
// done at once, in two cases: may_halve and skip_rounds.
class Runs {
public:
    explicit Runs(const PairTable &pairs) : pairs_(pairs) {}

    // False: too many runs for the length, or a character without a symbol.
    bool read(const RunText &text) {
        const std::size_t most = std::min<std::size_t>(most_at_first, 1 + text.size / bytes_a_run);
        if (text.is_spaced) runs_[count_++] = {text.symbols->symbol(' '), 1};
        for (std::size_t i = 0; i < text.size;) {
            if (count_ == most) return false;
            const std::uint8_t *const p = text.bytes + i;
            const std::size_t length = text.symbols ? character_size(*p) : 1,
                              size = repeated(p, text.size - i, length);
            const std::uint32_t symbol =
                text.symbols ? text.symbols->symbol(decode_character(p)) : pairs_.byte_id(*p);
            if (symbol == PairTable::no_id) return false;
            runs_[count_++] = {symbol, size / length};
            i += size;
        }
        unite();
        return true;
    }

    // False: it would take too many steps or runs.
    bool merge() {
        for (std::size_t step = 0; step < most_steps; step++) {
            Pair best{0, false, PairTable::no_id, no_rank};
            for (std::size_t i = 0; i < count_; i++) {
                if (runs_[i].count > 1) choose(best, i, true);
                if (i + 1 < count_) choose(best, i, false);
            }
            if (best.product == PairTable::no_id) return true;
            if (count_ + 2 > most) return false;
            if (!best.is_inner) join(best);
            else if (may_halve(best)) halve(best);
            else skip_rounds(best.at), begin(best);
            unite();
        }
        return false;
    }

    // 0: there are more than `capacity` ids.
    std::size_t write(std::uint32_t *ids, std::size_t capacity) const {
        std::size_t made = 0;
        for (std::size_t i = 0; i < count_; i++) {
            if (runs_[i].count > capacity - made) return 0;
            std::fill_n(ids + made, runs_[i].count, runs_[i].symbol);
            made += runs_[i].count;
        }
        return made;
    }

private:
    // With existing vocabularies, a few runs of any length take fewer than 200 steps.
    static constexpr std::size_t most = 32, most_at_first = 8, bytes_a_run = 16, most_steps = 1024;
    static constexpr std::uint32_t no_rank = 0xFFFFFFFF;

    // The first two symbols of a run, or its last one and the first of the next run.
    struct Pair {
        std::size_t at;
        bool is_inner;
        std::uint32_t product, rank;
    };

    std::uint32_t rank(std::uint32_t left, std::uint32_t right) const {
        const std::uint32_t product = pairs_.product(left, right);
        return product == PairTable::no_id ? no_rank : pairs_.rank_of(product);
    }

    void choose(Pair &best, std::size_t at, bool is_inner) const {
        const std::uint32_t product =
            pairs_.product(runs_[at].symbol, runs_[is_inner ? at : at + 1].symbol);
        if (product == PairTable::no_id) return;
        const std::uint32_t rank = pairs_.rank_of(product);
        if (rank < best.rank) best = {at, is_inner, product, rank};
    }

    // Whether the pairs of a run, which have the smallest rank, are merged from left to right with
    // no other merge in between. They are if no pair created on the way, of the merged id with the
    // symbol before the run, with one of the run, or with itself, has a smaller rank, or the same
    // rank farther left. Where merged ids have greater ranks than their parts, none has.
    bool may_halve(const Pair &pair) const {
        const Run &run = runs_[pair.at];
        const std::uint32_t id = pairs_.id_of(pair.product);
        return run.count < 4 || (rank(id, run.symbol) > pair.rank && rank(id, id) > pair.rank &&
                                 (pair.at == 0 || rank(runs_[pair.at - 1].symbol, id) > pair.rank));
    }

    void halve(const Pair &pair) {
        Run &run = runs_[pair.at];
        const Run rest{run.symbol, run.count % 2};
        run = {pairs_.id_of(pair.product), run.count / 2};
        insert(pair.at + 1, rest);
        seen_count_ = 0;
    }

    // Merges the first two symbols of a run.
    void begin(const Pair &pair) {
        runs_[pair.at].count -= 2;
        insert(pair.at, {pairs_.id_of(pair.product), 1});
        forget_round(pair);
    }

    // Merges the last symbol of a run with the first of the next one.
    void join(const Pair &pair) {
        runs_[pair.at].count--;
        runs_[pair.at + 1].count--;
        insert(pair.at + 1, {pairs_.id_of(pair.product), 1});
        forget_round(pair);
    }

    // A run of x that cannot be halved is consumed from the left: its first two symbols merge, and
    // the result absorbs one x after the other (31 spaces with Gemma) until it equals the symbol y
    // of the run before. Then all is as it was, except for the lengths of these two runs: that was
    // a round. If its steps merged nothing at y or farther left, and made no x, then the run of y
    // has only grown, and the run of x has only shrunk. So the same steps happen for all
    // counts of y and x that are large enough for pairs of two and for not halving; all rounds that
    // are certain to follow are done at once.
    void skip_rounds(std::size_t at) {
        if (is_round(at)) {
            const std::size_t eaten = seen_[at].count - runs_[at].count,
                              made = runs_[at - 1].count - seen_[at - 1].count,
                              rounds = (runs_[at].count - 4) / eaten;
            runs_[at].count -= rounds * eaten;
            runs_[at - 1].count += rounds * made;
            seen_count_ = 0;
        }
        // The state to compare with is replaced after 1, 2, 4... times, since a round may come here
        // more than once (Mistral: 14 spaces, and 2 more make 16), and the first rounds are
        // different.
        if (seen_count_ && ++times_seen_ < times_retained_) return;
        if (seen_count_) times_retained_ *= 2;
        std::copy_n(runs_, count_, seen_);
        seen_count_ = count_;
        seen_at_ = at;
        times_seen_ = 0;
    }

    bool is_round(std::size_t at) const {
        if (seen_count_ != count_ || seen_at_ != at || at == 0) return false;
        for (std::size_t i = 0; i < count_; i++) {
            if (seen_[i].symbol != runs_[i].symbol) return false;
            if (i != at && i + 1 != at && seen_[i].count != runs_[i].count) return false;
        }
        const Run &y = seen_[at - 1];
        return seen_[at].count > runs_[at].count && runs_[at].count >= 4 &&
               runs_[at - 1].count > y.count &&
               (y.count > 1 || rank(y.symbol, y.symbol) == no_rank);
    }

    // Forgets the saved state after a step that cannot be part of a round.
    void forget_round(const Pair &pair) {
        if (seen_count_ &&
            (pair.at < seen_at_ || pairs_.id_of(pair.product) == seen_[seen_at_].symbol))
            seen_count_ = 0;
    }

    void insert(std::size_t at, Run run) {
        std::copy_backward(runs_ + at, runs_ + count_, runs_ + count_ + 1);
        runs_[at] = run;
        count_++;
    }

    // Drops empty runs, and joins neighbours with the same symbol.
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
    Run runs_[most], seen_[most];
    std::size_t count_ = 0;
    // Describe seen_; a count of 0 means that nothing is saved.
    std::size_t seen_count_ = 0, seen_at_ = 0, times_seen_ = 0, times_retained_ = 1;
};

}  // namespace

std::size_t merge_runs(const PairTable &pairs, const RunText &text, std::uint32_t *ids,
                       std::size_t capacity) {
    Runs runs(pairs);
    return runs.read(text) && runs.merge() ? runs.write(ids, capacity) : 0;
}

}  // namespace tokexport
