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

struct Merge {
    Id left, right, product;
    std::uint64_t rank;
};

// The merges by their pair: open addressing, at most half full.
class Merges {
public:
    explicit Merges(std::size_t most) {
        std::size_t size = 16;
        while (size < 2 * most) size *= 2;
        places_.assign(size, none);
        all_.reserve(most);
    }

    void add(const Merge &merge) {
        Id &place = places_[slot(merge.left, merge.right)];
        if (place == none) {
            place = static_cast<Id>(all_.size());
            all_.push_back(merge);
        } else {
            all_[place] = merge;
        }
    }

    // The number of the merge of two symbols, or none.
    Id find(Id left, Id right) const { return places_[slot(left, right)]; }

    const std::vector<Merge> &all() const { return all_; }

private:
    std::size_t slot(Id left, Id right) const {
        const std::size_t mask = places_.size() - 1;
        std::uint64_t hash = (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15;
        std::size_t at = static_cast<std::size_t>(hash ^ hash >> 32) & mask;
        while (places_[at] != none) {
            const Merge &merge = all_[places_[at]];
            if (merge.left == left && merge.right == right) break;
            at = (at + 1) & mask;
        }
        return at;
    }

    std::vector<Id> places_;
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
        std::size_t first = 0;
        for (std::size_t &end : ends_) end = std::exchange(first, first + end);
        numbers_.resize(first);
    }

    void add(Id key, Id number) { numbers_[ends_[key]++] = number; }

    Range of(Id key) const {
        const std::size_t first = key ? ends_[key - 1] : 0;
        return {numbers_.data() + first, numbers_.data() + ends_[key]};
    }

    bool has(Id key) const { return ends_[key] != (key ? ends_[key - 1] : 0); }

private:
    std::vector<std::size_t> ends_;
    std::vector<Id> numbers_;
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
            joins_.push_back(merges_.find(symbols[i - 1], symbols[i]));
        Id last = none;
        while (!joins_.empty()) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < joins_.size(); i++) {
                if (rank(i) < rank(best)) best = i;
            }
            last = joins_[best];
            if (last == none) return none;
            const Id product = merges_.all()[last].product;
            const auto at = static_cast<std::ptrdiff_t>(best);
            symbols_[best] = product;
            symbols_.erase(symbols_.begin() + at + 1);
            joins_.erase(joins_.begin() + at);
            if (best > 0) joins_[best - 1] = merges_.find(symbols_[best - 1], product);
            if (best < joins_.size()) joins_[best] = merges_.find(product, symbols_[best + 1]);
        }
        return last;
    }

private:
    // No merge has the largest rank: ranks are numbers of places in a list, or of ids.
    std::uint64_t rank(std::size_t at) const {
        return joins_[at] == none ? UINT64_MAX : merges_.all()[joins_[at]].rank;
    }

    const Merges &merges_;
    std::vector<Id> symbols_, joins_;
};

struct Way {
    Id last;  // the number of the merge that comes last; none: a symbol is a way of itself
    std::size_t begin, end;
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
    const std::vector<Id> &symbols() const { return symbols_; }

private:
    template <typename Do> void each_part(Do act) const {
        for (const Merge &merge : merges_.all()) {
            if (makes_.has(merge.left)) act(merge.left, merge.product);
            if (makes_.has(merge.right)) act(merge.right, merge.product);
        }
    }

    // The ways of an id whose parts have theirs; false where two have different last merges.
    bool make(Id id) {
        first_[id] = ways_.size();
        if (is_symbol_[id]) add(none, {id});
        tried_.clear();
        Id last = none;
        for (const Id number : makes_.of(id)) {
            const Merge &merge = merges_.all()[number];
            for (std::size_t i = 0; i < count_[merge.left]; i++) {
                for (std::size_t j = 0; j < count_[merge.right]; j++) {
                    const Way &head = ways_[first_[merge.left] + i];
                    const Way &tail = ways_[first_[merge.right] + j];
                    std::vector<Id> symbols(at(head.begin), at(head.end));
                    symbols.insert(symbols.end(), at(tail.begin), at(tail.end));
                    if (std::find(tried_.begin(), tried_.end(), symbols) != tried_.end()) continue;
                    const Id by = merging_.last_merge(symbols);
                    if (by != none && merges_.all()[by].product == id) {
                        add(by, symbols);
                        if (last != none && last != by) return false;
                        last = by;
                    }
                    tried_.push_back(std::move(symbols));
                }
            }
        }
        count_[id] = ways_.size() - first_[id];
        return true;
    }

    void add(Id last, const std::vector<Id> &symbols) {
        const std::size_t begin = symbols_.size();
        symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
        ways_.push_back({last, begin, symbols_.size()});
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
    std::vector<std::size_t> waits_for_;
    // By id: its first way and their count. Ways of one id are neighbours.
    std::vector<std::size_t> first_, count_;
    std::vector<Way> ways_;
    std::vector<Id> symbols_;
    std::vector<std::vector<Id>> tried_;
};

}  // namespace

nb::object ways_of_merges(Numbers lefts, Numbers rights, Numbers ranks, Numbers products,
                          Numbers symbols, std::uint64_t id_count) {
    const std::size_t count = lefts.shape(0);
    if (rights.shape(0) != count || ranks.shape(0) != count || products.shape(0) != count)
        throw nb::value_error("one left, one right, one rank and one product for each merge");
    if (id_count > UINT32_MAX) throw nb::value_error("ids have 32 bits");
    for (const Numbers *ids : {&lefts, &rights, &products, &symbols}) {
        for (std::size_t i = 0; i < ids->shape(0); i++) {
            if ((*ids)(i) >= id_count) throw nb::value_error("an id that is none");
        }
    }
    std::vector<std::uint64_t> last, ends, all;
    std::optional<Id> made_of_itself;
    {
        nb::gil_scoped_release released;
        Merges merges(count);
        for (std::size_t i = 0; i < count; i++)
            merges.add({static_cast<Id>(lefts(i)), static_cast<Id>(rights(i)),
                        static_cast<Id>(products(i)), ranks(i)});
        Search search(merges, static_cast<std::size_t>(id_count));
        for (std::size_t i = 0; i < symbols.shape(0); i++)
            search.begin_with(static_cast<Id>(symbols(i)));
        made_of_itself = search.run();
        for (const Way &way : search.ways()) {
            if (way.last == none) continue;
            const Merge &merge = merges.all()[way.last];
            last.insert(last.end(), {merge.product, merge.left, merge.right, merge.rank});
            for (std::size_t i = way.begin; i < way.end; i++) all.push_back(search.symbols()[i]);
            ends.push_back(all.size());
        }
    }
    if (made_of_itself) return nb::int_(*made_of_itself);
    return nb::make_tuple(array_of(last), array_of(ends), array_of(all));
}

}  // namespace tokexport
