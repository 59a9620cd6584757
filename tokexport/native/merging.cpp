#include "merging.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace tokexport {

namespace {

using Id = std::uint32_t;

constexpr Id none = UINT32_MAX;
constexpr std::size_t columns = 4, rank_column = 2;  // of a merge

struct Merge {
    Id left = 0, right = 0, product = none, rank = none;
};

// The merges by their pair: open addressing, at most three quarters full. Most pairs that are asked for do
// not merge: a bit for each hash says so, in little memory.
class Merges {
public:
    explicit Merges(std::size_t most) {
        std::size_t size = 16;
        while (3 * size < 4 * most) size *= 2;
        slots_.resize(size);
        is_taken_.resize(8 * size);
        places_.reserve(most);
    }

    void add(const Merge &merge) {
        const std::uint64_t hash = hash_of(merge.left, merge.right);
        is_taken_[hash & (is_taken_.size() - 1)] = true;
        const std::size_t at = slot(hash, merge.left, merge.right);
        if (slots_[at].product == none) places_.push_back(static_cast<Id>(at));
        slots_[at] = merge;
    }

    // The merge of two symbols, or null.
    const Merge *find(Id left, Id right) const {
        const std::uint64_t hash = hash_of(left, right);
        if (!is_taken_[hash & (is_taken_.size() - 1)]) return nullptr;
        const Merge &found = slots_[slot(hash, left, right)];
        return found.product == none ? nullptr : &found;
    }

    // The merges, in the order in which their pairs were added.
    std::size_t count() const { return places_.size(); }
    const Merge &operator[](std::size_t i) const { return slots_[places_[i]]; }

private:
    static std::uint64_t hash_of(Id left, Id right) {
        const std::uint64_t hash = (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15;
        return hash ^ hash >> 32;
    }

    std::size_t slot(std::uint64_t hash, Id left, Id right) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>(hash) & mask;
        while (slots_[at].product != none &&
               (slots_[at].left != left || slots_[at].right != right))
            at = (at + 1) & mask;
        return at;
    }

    std::vector<Merge> slots_;
    std::vector<Id> places_;
    std::vector<bool> is_taken_;
};

// Lists of values, one a key, in one piece of memory; count calls with each key come first, then
// begin, then add calls with the same keys.
template <typename T> class Lists {
public:
    explicit Lists(std::size_t keys) : ends_(keys + 1) {}

    void count(Id key) { ends_[key]++; }

    void begin() {
        Id first = 0;
        for (Id &end : ends_) end = std::exchange(first, first + end);
        values_.resize(first);
    }

    void add(Id key, T value) { values_[ends_[key]++] = value; }

    struct Range {
        const T *first, *last;

        const T *begin() const { return first; }
        const T *end() const { return last; }
    };

    Range of(Id key) const {
        const Id first = key ? ends_[key - 1] : 0;
        return {values_.data() + first, values_.data() + ends_[key]};
    }

    bool has(Id key) const { return ends_[key] != (key ? ends_[key - 1] : 0); }

private:
    std::vector<Id> ends_;
    std::vector<T> values_;
};

struct Parts {
    Id left, right;
};

// Finds the merge that leaves one symbol.
class Merging {
public:
    explicit Merging(const Merges &merges) : merges_(merges) {}

    // The merge that comes last, or null where more than one symbol is left.
    const Merge *last_merge(const std::vector<Id> &symbols) {
        symbols_ = symbols;
        joins_.clear();
        for (std::size_t i = 1; i < symbols.size(); i++)
            joins_.push_back(join(symbols[i - 1], symbols[i]));
        const Merge *last = nullptr;
        while (!joins_.empty()) {
            const auto best = std::min_element(
                joins_.begin(), joins_.end(),
                [](const Join &one, const Join &other) { return one.rank < other.rank; });
            last = best->merge;
            if (!last) return nullptr;
            const std::ptrdiff_t at = best - joins_.begin();
            joins_.erase(best);
            symbols_.erase(symbols_.begin() + at + 1);
            Id *const symbol = &symbols_[static_cast<std::size_t>(at)];
            *symbol = last->product;
            if (at > 0) joins_.begin()[at - 1] = join(symbol[-1], symbol[0]);
            if (joins_.begin() + at < joins_.end())
                joins_.begin()[at] = join(symbol[0], symbol[1]);
        }
        return last;
    }

private:
    struct Join {
        Id rank;
        const Merge *merge;
    };

    Join join(Id left, Id right) const {
        const Merge *found = merges_.find(left, right);
        return {found ? found->rank : none, found};
    }

    const Merges &merges_;
    std::vector<Id> symbols_;
    std::vector<Join> joins_;
};

struct Way {
    const Merge *last;  // the merge that comes last; null: a symbol is a way of itself
    Id begin, end;
};

class Search {
    // Some ways that are neighbours.
    struct Numbered {
        Id first = 0, count = 0;
    };

public:
    Search(const Merges &merges, std::size_t id_count)
        : merges_(merges),
          merging_(merges),
          is_symbol_(id_count),
          makes_(id_count),
          part_of_(id_count),
          waits_for_(id_count),
          ways_of_(id_count) {
        for (Id i = 0; i < merges.count(); i++) makes_.count(merges[i].product);
        makes_.begin();
        for (Id i = 0; i < merges.count(); i++)
            makes_.add(merges[i].product, {merges[i].left, merges[i].right});
        each_part([this](Id part, Id) { part_of_.count(part); });
        part_of_.begin();
        each_part([this](Id part, Id product) {
            part_of_.add(part, product);
            waits_for_[product]++;
        });
    }

    void begin_with(Id symbol) { is_symbol_[symbol] = true; }

    // Finds all ways; gives an id that is made out of itself, if there is one.
    std::optional<Id> run() {
        std::vector<Id> order;
        std::size_t made = 0;
        for (Id id = 0; id < waits_for_.size(); id++) {
            if (makes_.has(id)) {
                made++;
                if (!waits_for_[id]) order.push_back(id);
            } else if (is_symbol_[id]) {
                make(id);
            }
        }
        for (std::size_t i = 0; i < order.size(); i++) {
            for (const Id product : part_of_.of(order[i])) {
                if (--waits_for_[product] == 0) order.push_back(product);
            }
        }
        if (order.size() < made) return in_a_circle();
        for (const Id id : order) {
            if (!make(id)) break;
        }
        return std::nullopt;
    }

    const std::vector<Way> &ways() const { return ways_; }
    std::vector<Id> &symbols() { return symbols_; }

private:
    template <typename Do> void each_part(Do act) const {
        for (Id i = 0; i < merges_.count(); i++) {
            const Merge &merge = merges_[i];
            if (makes_.has(merge.left)) act(merge.left, merge.product);
            if (makes_.has(merge.right)) act(merge.right, merge.product);
        }
    }

    // The ways of an id whose parts have theirs; false where two have different last merges.
    bool make(Id id) {
        const Id first = static_cast<Id>(ways_.size());
        if (is_symbol_[id]) add(nullptr, {id});
        tried_.clear();
        const Merge *last = nullptr;
        for (const Parts &parts : makes_.of(id)) {
            const Numbered heads = ways_of_[parts.left], tails = ways_of_[parts.right];
            for (Id i = 0; i < heads.count; i++) {
                for (Id j = 0; j < tails.count; j++) {
                    const Way &head = ways_[heads.first + i], &tail = ways_[tails.first + j];
                    joined_.assign(at(head.begin), at(head.end));
                    joined_.insert(joined_.end(), at(tail.begin), at(tail.end));
                    if (std::find(tried_.begin(), tried_.end(), joined_) != tried_.end()) continue;
                    tried_.push_back(joined_);
                    const Merge *by = merging_.last_merge(joined_);
                    if (by && by->product == id) {
                        add(by, joined_);
                        if (last && last != by) return false;
                        last = by;
                    }
                }
            }
        }
        ways_of_[id] = {first, static_cast<Id>(ways_.size()) - first};
        return true;
    }

    void add(const Merge *last, const std::vector<Id> &symbols) {
        const Id begin = static_cast<Id>(symbols_.size());
        symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
        if (symbols_.size() >= none) throw nb::value_error("tokens of 4 billion symbols");
        ways_.push_back({last, begin, static_cast<Id>(symbols_.size())});
    }

    std::vector<Id>::const_iterator at(std::size_t place) const {
        return symbols_.begin() + static_cast<std::ptrdiff_t>(place);
    }

    // Of ids that each wait for another of them: one that waits for itself in the end.
    Id in_a_circle() const {
        std::set<Id> seen;
        Id id = 0;
        while (!waits_for_[id]) id++;
        while (seen.insert(id).second) {
            for (const Parts &parts : makes_.of(id)) {
                const bool for_left = waits_for_[parts.left] > 0;
                if (!for_left && !waits_for_[parts.right]) continue;
                id = for_left ? parts.left : parts.right;
                break;
            }
        }
        return id;
    }

    const Merges &merges_;
    Merging merging_;
    std::vector<bool> is_symbol_;
    // By id: the merges that make it, the products of which it is a part, and on how many parts
    // that are made it waits.
    Lists<Parts> makes_;
    Lists<Id> part_of_;
    std::vector<Id> waits_for_;
    // By id: its first way and their count. Ways of one id are neighbours.
    std::vector<Numbered> ways_of_;
    std::vector<Way> ways_;
    std::vector<Id> symbols_;
    std::vector<std::vector<Id>> tried_;
    std::vector<Id> joined_;
};

}  // namespace

nb::object ways_of_merges(SmallNumbers merges, SmallNumbers symbols, std::uint32_t id_count) {
    const std::size_t count = merges.shape(0) / columns;
    if (merges.shape(0) % columns) throw nb::value_error("four numbers for each merge");
    for (std::size_t i = 0; i < merges.shape(0); i++) {
        if (merges(i) >= (i % columns == rank_column ? none : id_count))
            throw nb::value_error("an id or a rank that is none");
    }
    for (std::size_t i = 0; i < symbols.shape(0); i++) {
        if (symbols(i) >= id_count) throw nb::value_error("an id or a rank that is none");
    }
    std::vector<Id> last, bounds, all;
    std::optional<Id> made_of_itself;
    {
        nb::gil_scoped_release released;
        Merges table(count);
        for (const Id *row = merges.data(); row < merges.data() + count * columns; row += columns)
            table.add({row[0], row[1], row[3], row[rank_column]});
        Search search(table, id_count);
        for (std::size_t i = 0; i < symbols.shape(0); i++) search.begin_with(symbols(i));
        made_of_itself = search.run();
        for (const Way &way : search.ways()) {
            if (!way.last) continue;
            const Merge &merge = *way.last;
            last.insert(last.end(), {merge.product, merge.left, merge.right, merge.rank});
            bounds.insert(bounds.end(), {way.begin, way.end});
        }
        all = std::move(search.symbols());
    }
    if (made_of_itself) return nb::int_(*made_of_itself);
    return nb::make_tuple(array_of(std::move(last)), array_of(std::move(bounds)),
                          array_of(std::move(all)));
}

}  // namespace tokexport
