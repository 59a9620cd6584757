// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "merging.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace tokexport {

namespace {

using Id = std::uint32_t;
using Row = std::uint32_t;

constexpr std::uint32_t none = UINT32_MAX;
constexpr std::size_t columns = 3;            // of a merge
constexpr std::size_t symbols_of_a_way = 16;  // few ways are longer
// Real vocabularies have one way per id or a few; in a contrived one each merge can square them.
constexpr std::size_t most_tried = 1000;

struct Merge {
    Id left, right, product;
};

// A hash table from pairs to rows of merges: open addressing, at most three quarters full. Most
// pairs looked up have no merge: a bit per hash says so, in little memory.
class Merges {
public:
    Merges(const Id *numbers, std::size_t count, const Id *ranks)
        : numbers_(numbers),
          count_(count),
          ranks_(ranks),
          is_listed_again_(count) {
        std::size_t size = 16;
        while (3 * size < 4 * count) size *= 2;
        slots_.resize(size, none);
        is_taken_.resize(8 * size);
        for (Row row = 0; row < count; row++) {
            const auto [left, right, product] = (*this)[row];
            const std::uint64_t hash = hash_of(left, right);
            is_taken_[hash & (is_taken_.size() - 1)] = true;
            const Row other = std::exchange(slots_[slot(hash, left, right)], row);
            if (other != none) is_listed_again_[other] = true;
        }
    }

    // The row of the merge of two symbols, the last one if it is listed twice, or none.
    Row find(Id left, Id right) const {
        const std::uint64_t hash = hash_of(left, right);
        if (!is_taken_[hash & (is_taken_.size() - 1)]) return none;
        return slots_[slot(hash, left, right)];
    }

    std::size_t count() const { return count_; }
    bool counts(Row row) const { return !is_listed_again_[row]; }
    Merge operator[](Row row) const {
        const Id *const at = numbers_ + columns * row;
        return {at[0], at[1], at[2]};
    }
    Id rank(Row row) const { return ranks_ ? ranks_[row] : row; }

private:
    static std::uint64_t hash_of(Id left, Id right) {
        const std::uint64_t hash = (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15;
        return hash ^ hash >> 32;
    }

    std::size_t slot(std::uint64_t hash, Id left, Id right) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>(hash) & mask;
        for (; slots_[at] != none; at = (at + 1) & mask) {
            const Id *const pair = numbers_ + columns * slots_[at];
            if (pair[0] == left && pair[1] == right) break;
        }
        return at;
    }

    const Id *numbers_;
    std::size_t count_;
    const Id *ranks_;  // null: the rank is the row
    std::vector<bool> is_listed_again_;
    std::vector<Row> slots_;
    std::vector<bool> is_taken_;
};

using Symbols = std::vector<Id>;

// Consecutive symbols.
struct Range {
    const Id *first, *last;

    std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

// Merges a sequence of symbols to find the last merge.
class Merging {
public:
    explicit Merging(const Merges &merges) : merges_(merges) {}

    // The row of the last merge, or none if more than one symbol is left.
    Row last_merge(const Symbols &symbols) {
        symbols_ = symbols;
        return symbols.size() <= most_scanned ? by_scanning() : by_queue();
    }

private:
    // Scanning all pairs for each merge is faster up to about this many symbols.
    static constexpr std::size_t most_scanned = 64;

    struct Join {
        Id rank;
        Row row;
    };

    // A join in the queue, of the symbol at `left` and the next one; stale if one of them has been
    // merged since.
    struct Queued {
        Join join;
        std::size_t left, right;
        Id left_id, right_id;

        // The first in the queue is the leftmost of smallest rank.
        bool operator<(const Queued &other) const {
            return std::tie(other.join.rank, other.left) < std::tie(join.rank, left);
        }
    };

    Row by_scanning() {
        joins_.clear();
        for (std::size_t i = 1; i < symbols_.size(); i++)
            joins_.push_back(join(symbols_[i - 1], symbols_[i]));
        Row last = none;
        while (!joins_.empty()) {
            const auto best = std::min_element(
                joins_.begin(), joins_.end(),
                [](const Join &one, const Join &other) { return one.rank < other.rank; });
            last = best->row;
            if (last == none) return none;
            const std::ptrdiff_t at = best - joins_.begin();
            joins_.erase(best);
            symbols_.erase(symbols_.begin() + at + 1);
            Id *const symbol = &symbols_[static_cast<std::size_t>(at)];
            *symbol = merges_[last].product;
            if (at > 0) joins_.begin()[at - 1] = join(symbol[-1], symbol[0]);
            if (joins_.begin() + at < joins_.end()) joins_.begin()[at] = join(symbol[0], symbol[1]);
        }
        return last;
    }

    // The same in n log n steps; a merged symbol stays at the place of its left part.
    Row by_queue() {
        const std::size_t size = symbols_.size();
        before_.resize(size);
        after_.resize(size);
        for (std::size_t i = 0; i < size; i++) {
            before_[i] = i - 1;
            after_[i] = i + 1;
        }
        queue_ = {};
        for (std::size_t i = 0; i + 1 < size; i++) queue(i, i + 1);
        Row last = none;
        std::size_t count = size;
        while (!queue_.empty()) {
            const Queued best = queue_.top();
            queue_.pop();
            if (symbols_[best.left] != best.left_id || after_[best.left] != best.right ||
                symbols_[best.right] != best.right_id)
                continue;
            last = best.join.row;
            count--;
            symbols_[best.left] = merges_[last].product;
            symbols_[best.right] = none;
            const std::size_t next = after_[best.right];
            after_[best.left] = next;
            if (next < size) {
                before_[next] = best.left;
                queue(best.left, next);
            }
            if (best.left > 0) queue(before_[best.left], best.left);
        }
        return count == 1 ? last : none;
    }

    void queue(std::size_t left, std::size_t right) {
        const Join found = join(symbols_[left], symbols_[right]);
        if (found.row != none) queue_.push({found, left, right, symbols_[left], symbols_[right]});
    }

    Join join(Id left, Id right) const {
        const Row found = merges_.find(left, right);
        return {found == none ? none : merges_.rank(found), found};
    }

    const Merges &merges_;
    Symbols symbols_;
    std::vector<Join> joins_;
    std::priority_queue<Queued> queue_;
    std::vector<std::size_t> before_, after_;
};

// Finds the ways of ids, those of the parts before those of the merged id.
class Search {
public:
    Search(const Merges &merges, std::size_t id_count)
        : merges_(merges),
          merging_(merges),
          is_symbol_(id_count),
          states_(id_count),
          makers_ends_(id_count) {
        found.firsts.resize(id_count);
        found.counts.resize(id_count);
        // Pages that are not written take no memory.
        found.symbols.reserve(symbols_of_a_way * id_count);
        found.bounds.reserve(id_count + 1);
        found.rows.reserve(id_count);
        // Groups the rows by merged id. makers_ends_ holds counts first, then begins, then ends.
        each_row([this](Row, Id product) { makers_ends_[product]++; });
        Row begin = 0;
        for (Row &end : makers_ends_) end = std::exchange(begin, begin + end);
        makers_.resize(begin);
        each_row([this](Row row, Id product) { makers_[makers_ends_[product]++] = row; });
    }

    void begin_with(Id symbol) { is_symbol_[symbol] = true; }

    // Finds all ways. Returns an id that is made out of itself, or has too many ways, if there is
    // one, and whether it has too many.
    std::optional<std::pair<Id, bool>> run() {
        std::vector<Id> path;
        bool makes = true;
        for (Id root = 0; root < states_.size(); root++) {
            path.push_back(root);
            while (!path.empty()) {
                const Id id = path.back();
                if (states_[id] == State::unseen) {
                    states_[id] = State::open;
                    for (Row i = makers_begin(id); i < makers_ends_[id]; i++) {
                        const Merge maker = merges_[makers_[i]];
                        for (const Id part : {maker.right, maker.left}) {
                            if (states_[part] == State::open) return {{part, false}};
                            if (states_[part] == State::unseen) path.push_back(part);
                        }
                    }
                    continue;
                }
                path.pop_back();
                if (states_[id] == State::open) makes = makes && make(id);
                if (tried_ends_.size() > most_tried) return {{id, true}};
                states_[id] = State::done;
            }
        }
        return std::nullopt;
    }

    // What ways_of_merges returns.
    struct Found {
        std::vector<Row> rows;
        std::vector<Id> firsts, counts, bounds{0};
        Symbols symbols;
    } found;

private:
    enum class State : unsigned char { unseen, open, done };

    template <typename Do> void each_row(Do act) const {
        for (Row row = 0; row < merges_.count(); row++) {
            if (merges_.counts(row)) act(row, merges_[row].product);
        }
    }

    Row makers_begin(Id id) const { return id ? makers_ends_[id - 1] : 0; }

    // Finds the ways of an id whose parts have theirs; false if two have different last merges, or
    // there are too many.
    bool make(Id id) {
        found.firsts[id] = static_cast<Id>(found.bounds.size() - 1);
        if (is_symbol_[id]) add(id, {id});
        tried_.clear();
        tried_ends_.clear();
        Row last = none;
        for (Row i = makers_begin(id); i < makers_ends_[id]; i++) {
            const auto [left, right, product] = merges_[makers_[i]];
            for (Id head = 0; head < found.counts[left]; head++) {
                for (Id tail = 0; tail < found.counts[right]; tail++) {
                    if (!join(way(found.firsts[left] + head), way(found.firsts[right] + tail)))
                        continue;
                    if (tried_ends_.size() > most_tried) return false;
                    const Row by = merging_.last_merge(joined_);
                    if (by == none || merges_[by].product != id) continue;
                    add(id, joined_);
                    if (by == last) continue;
                    const bool is_second = last != none;
                    last = by;
                    found.rows.push_back(by);
                    if (is_second) return false;
                }
            }
        }
        return true;
    }

    Range way(Id number) const {
        const Id *const symbols = found.symbols.data();
        return {symbols + found.bounds[number], symbols + found.bounds[number + 1]};
    }

    // Sets joined_ to two ways joined; false if the result was tried for this id already.
    bool join(Range head, Range tail) {
        const std::size_t size = head.size() + tail.size();
        std::size_t begin = 0;
        for (const std::size_t end : tried_ends_) {
            const Id *const tried = tried_.data() + begin;
            if (end - begin == size && std::equal(head.first, head.last, tried) &&
                std::equal(tail.first, tail.last, tried + head.size()))
                return false;
            begin = end;
        }
        joined_.assign(head.first, head.last);
        joined_.insert(joined_.end(), tail.first, tail.last);
        tried_.insert(tried_.end(), joined_.begin(), joined_.end());
        tried_ends_.push_back(tried_.size());
        return true;
    }

    void add(Id id, const Symbols &symbols) {
        found.symbols.insert(found.symbols.end(), symbols.begin(), symbols.end());
        if (found.symbols.size() >= none) throw nb::value_error("tokens of 4 billion symbols");
        found.bounds.push_back(static_cast<Id>(found.symbols.size()));
        found.counts[id]++;
    }

    const Merges &merges_;
    Merging merging_;
    std::vector<bool> is_symbol_;
    std::vector<State> states_;
    // makers_ holds the merges that make id i from makers_ends_[i - 1] up to makers_ends_[i].
    std::vector<Row> makers_ends_, makers_;
    // The sequences tried for an id, one after the other; tried_ends_ has the end of each.
    Symbols tried_, joined_;
    std::vector<std::size_t> tried_ends_;
};

}  // namespace

nb::object ways_of_merges(SmallNumbers merges, SmallNumbers ranks, SmallNumbers symbols,
                          std::uint32_t id_count) {
    const std::size_t count = merges.shape(0) / columns;
    if (merges.shape(0) % columns || (ranks.shape(0) && ranks.shape(0) != count))
        throw nb::value_error("three numbers for each merge, and one rank for each or none at all");
    for (const auto *ids : {&merges, &symbols}) {
        for (std::size_t i = 0; i < ids->shape(0); i++) {
            if ((*ids)(i) >= id_count) throw nb::value_error("an id that is none");
        }
    }
    for (std::size_t i = 0; i < ranks.shape(0); i++) {
        if (ranks(i) == none) throw nb::value_error("a rank that is none");
    }
    std::optional<std::pair<Id, bool>> wrong;
    Search::Found found;
    {
        nb::gil_scoped_release released;
        const Merges table(merges.data(), count, ranks.shape(0) ? ranks.data() : nullptr);
        Search search(table, id_count);
        for (std::size_t i = 0; i < symbols.shape(0); i++) search.begin_with(symbols(i));
        wrong = search.run();
        found = std::move(search.found);
    }
    if (wrong) return nb::make_tuple(wrong->first, wrong->second);
    return nb::make_tuple(array_of(std::move(found.rows)), array_of(std::move(found.firsts)),
                          array_of(std::move(found.counts)), array_of(std::move(found.bounds)),
                          array_of(std::move(found.symbols)));
}

}  // namespace tokexport
