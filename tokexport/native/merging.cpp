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
        slots_.assign(size, none);
        is_taken_.resize(8 * size);
        all_.reserve(most);
    }

    void add(const Merge &merge) {
        const std::uint64_t hash = hash_of(merge.left, merge.right);
        is_taken_[hash & (is_taken_.size() - 1)] = true;
        Id &number = slots_[slot(hash, merge.left, merge.right)];
        if (number == none) {
            number = static_cast<Id>(all_.size());
            all_.push_back(merge);
        } else {
            all_[number] = merge;
        }
    }

    // The merge of two symbols, or null.
    const Merge *find(Id left, Id right) const {
        const std::uint64_t hash = hash_of(left, right);
        if (!is_taken_[hash & (is_taken_.size() - 1)]) return nullptr;
        const Id number = slots_[slot(hash, left, right)];
        return number == none ? nullptr : &all_[number];
    }

    // The number of a merge that was found.
    Id number_of(const Merge *found) const { return static_cast<Id>(found - all_.data()); }

    const std::vector<Merge> &all() const { return all_; }

private:
    static std::uint64_t hash_of(Id left, Id right) {
        const std::uint64_t hash = (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15;
        return hash ^ hash >> 32;
    }

    std::size_t slot(std::uint64_t hash, Id left, Id right) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>(hash) & mask;
        while (slots_[at] != none &&
               (all_[slots_[at]].left != left || all_[slots_[at]].right != right))
            at = (at + 1) & mask;
        return at;
    }

    std::vector<Id> slots_;  // the number of a merge
    std::vector<bool> is_taken_;
    std::vector<Merge> all_;
};

struct Range {
    const Id *first, *last;

    const Id *begin() const { return first; }
    const Id *end() const { return last; }
};

// Lists of numbers, one a key, in one piece of memory; count calls with each key come first, then
// begin, then add calls with the same keys.
class Lists {
public:
    explicit Lists(std::size_t keys) : ends_(keys + 1) {}

    void count(Id key) { ends_[key]++; }

    void begin() {
        Id first = 0;
        for (Id &end : ends_) end = std::exchange(first, first + end);
        numbers_.resize(first);
    }

    void add(Id key, Id number) { numbers_[ends_[key]++] = number; }

    Range of(Id key) const {
        const Id first = key ? ends_[key - 1] : 0;
        return {numbers_.data() + first, numbers_.data() + ends_[key]};
    }

    bool has(Id key) const { return ends_[key] != (key ? ends_[key - 1] : 0); }

private:
    std::vector<Id> ends_, numbers_;
};

// Finds the merge that leaves one symbol.
class Merging {
public:
    explicit Merging(const Merges &merges) : merges_(merges) {}

    // The number of the merge that comes last, or none where more than one symbol is left.
    Id last_merge(const std::vector<Id> &symbols) {
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
            if (!last) return none;
            const std::ptrdiff_t at = best - joins_.begin();
            joins_.erase(best);
            symbols_.erase(symbols_.begin() + at + 1);
            Id *const symbol = &symbols_[static_cast<std::size_t>(at)];
            *symbol = last->product;
            if (at > 0) joins_.begin()[at - 1] = join(symbol[-1], symbol[0]);
            if (joins_.begin() + at < joins_.end())
                joins_.begin()[at] = join(symbol[0], symbol[1]);
        }
        return last ? merges_.number_of(last) : none;
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
    Id last;  // the number of the merge that comes last; none: a symbol is a way of itself
    Id begin, end;
};

class Search {
public:
    Search(const Merges &merges, std::size_t id_count)
        : merges_(merges),
          merging_(merges),
          is_symbol_(id_count),
          makes_(id_count),
          part_of_(id_count),
          waits_for_(id_count),
          first_(id_count),
          count_(id_count) {
        const std::vector<Merge> &all = merges.all();
        for (const Merge &merge : all) makes_.count(merge.product);
        makes_.begin();
        for (Id i = 0; i < all.size(); i++) makes_.add(all[i].product, i);
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
        for (const Merge &merge : merges_.all()) {
            if (makes_.has(merge.left)) act(merge.left, merge.product);
            if (makes_.has(merge.right)) act(merge.right, merge.product);
        }
    }

    // The ways of an id whose parts have theirs; false where two have different last merges.
    bool make(Id id) {
        first_[id] = static_cast<Id>(ways_.size());
        if (is_symbol_[id]) add(none, {id});
        tried_.clear();
        Id last = none;
        for (const Id number : makes_.of(id)) {
            const Merge &merge = merges_.all()[number];
            for (std::size_t i = 0; i < count_[merge.left]; i++) {
                for (std::size_t j = 0; j < count_[merge.right]; j++) {
                    const Way &head = ways_[first_[merge.left] + i];
                    const Way &tail = ways_[first_[merge.right] + j];
                    joined_.assign(at(head.begin), at(head.end));
                    joined_.insert(joined_.end(), at(tail.begin), at(tail.end));
                    if (std::find(tried_.begin(), tried_.end(), joined_) != tried_.end()) continue;
                    tried_.push_back(joined_);
                    const Id by = merging_.last_merge(joined_);
                    if (by != none && merges_.all()[by].product == id) {
                        add(by, joined_);
                        if (last != none && last != by) return false;
                        last = by;
                    }
                }
            }
        }
        count_[id] = static_cast<Id>(ways_.size()) - first_[id];
        return true;
    }

    void add(Id last, const std::vector<Id> &symbols) {
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
            for (const Id number : makes_.of(id)) {
                const Merge &merge = merges_.all()[number];
                const bool for_left = waits_for_[merge.left] > 0;
                if (!for_left && !waits_for_[merge.right]) continue;
                id = for_left ? merge.left : merge.right;
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
    Lists makes_, part_of_;
    std::vector<Id> waits_for_;
    // By id: its first way and their count. Ways of one id are neighbours.
    std::vector<Id> first_, count_;
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
            if (way.last == none) continue;
            const Merge &merge = table.all()[way.last];
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
