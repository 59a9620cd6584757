#include "merging.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace tokexport {

namespace {

using Id = std::uint32_t;
using Symbols = std::vector<Id>;

struct Merge {
    Id left, right, product;
    std::uint64_t rank;
};

struct Way {
    Merge last;
    Symbols symbols;
};

class Merges {
  public:
    void add(const Merge &merge) {
        const auto [found, is_new] = places_.try_emplace(key(merge.left, merge.right), all_.size());
        if (is_new)
            all_.push_back(merge);
        else
            all_[found->second] = merge;
    }

    const Merge *find(Id left, Id right) const {
        const auto found = places_.find(key(left, right));
        return found == places_.end() ? nullptr : &all_[found->second];
    }

    const std::vector<Merge> &all() const { return all_; }

  private:
    static std::uint64_t key(Id left, Id right) { return std::uint64_t{left} << 32 | right; }

    std::unordered_map<std::uint64_t, std::size_t> places_;
    std::vector<Merge> all_;
};

// The merge that leaves one symbol; nullptr where more than one is left.
const Merge *last_merge(Symbols symbols, const Merges &merges) {
    std::vector<const Merge *> joins;
    for (std::size_t i = 1; i < symbols.size(); i++) joins.push_back(merges.find(symbols[i - 1], symbols[i]));
    const Merge *last = nullptr;
    while (!joins.empty()) {
        std::size_t best = joins.size();
        for (std::size_t i = 0; i < joins.size(); i++) {
            if (joins[i] && (best == joins.size() || joins[i]->rank < joins[best]->rank)) best = i;
        }
        if (best == joins.size()) return nullptr;
        last = joins[best];
        const auto at = static_cast<std::ptrdiff_t>(best);
        symbols[best] = last->product;
        symbols.erase(symbols.begin() + at + 1);
        joins.erase(joins.begin() + at);
        if (best > 0) joins[best - 1] = merges.find(symbols[best - 1], last->product);
        if (best < joins.size()) joins[best] = merges.find(last->product, symbols[best + 1]);
    }
    return last;
}

struct Found {
    std::vector<Way> ways;
    std::optional<Id> made_of_itself;
};

class Search {
  public:
    Search(const Merges &merges, std::size_t id_count) : merges_(merges), makes_(id_count), waits_for_(id_count), part_of_(id_count), ways_(id_count) {
        for (const Merge &merge : merges.all()) makes_[merge.product].push_back(&merge);
        for (const Merge &merge : merges.all()) {
            for (const Id part : {merge.left, merge.right}) {
                if (makes_[part].empty()) continue;
                waits_for_[merge.product]++;
                part_of_[part].push_back(merge.product);
            }
        }
    }

    void begin_with(Id symbol) { ways_[symbol].push_back({symbol}); }

    Found run() {
        Found found;
        std::vector<Id> order;
        std::set<Id> waiting;
        for (Id id = 0; id < makes_.size(); id++) {
            if (makes_[id].empty()) continue;
            if (waits_for_[id])
                waiting.insert(id);
            else
                order.push_back(id);
        }
        for (std::size_t i = 0; i < order.size(); i++) {
            for (const Id product : part_of_[order[i]]) {
                if (--waits_for_[product]) continue;
                waiting.erase(product);
                order.push_back(product);
            }
        }
        if (!waiting.empty()) {
            found.made_of_itself = in_a_circle(waiting);
            return found;
        }
        for (const Id id : order) {
            if (!make(id, found.ways)) break;
        }
        return found;
    }

  private:
    // The ways of an id whose parts have theirs; false where two of them have different last merges.
    bool make(Id id, std::vector<Way> &found) {
        const std::size_t first = found.size();
        std::set<Symbols> tried;
        const Merge *last = nullptr;
        for (const Merge *merge : makes_[id]) {
            for (const Symbols &head : ways_[merge->left]) {
                for (const Symbols &tail : ways_[merge->right]) {
                    Symbols symbols = head;
                    symbols.insert(symbols.end(), tail.begin(), tail.end());
                    if (!tried.insert(symbols).second) continue;
                    const Merge *by = last_merge(symbols, merges_);
                    if (!by || by->product != id) continue;
                    found.push_back({*by, symbols});
                    if (last && last != by) return false;
                    last = by;
                }
            }
        }
        for (std::size_t i = first; i < found.size(); i++) ways_[id].push_back(found[i].symbols);
        return true;
    }

    // Of ids that each wait for another of them: one that waits for itself in the end.
    Id in_a_circle(const std::set<Id> &waiting) const {
        std::set<Id> seen;
        Id id = *waiting.begin();
        while (seen.insert(id).second) {
            for (const Merge *merge : makes_[id]) {
                const bool for_left = waiting.count(merge->left) > 0;
                if (!for_left && !waiting.count(merge->right)) continue;
                id = for_left ? merge->left : merge->right;
                break;
            }
        }
        return id;
    }

    const Merges &merges_;
    std::vector<std::vector<const Merge *>> makes_;
    std::vector<std::size_t> waits_for_;
    std::vector<std::vector<Id>> part_of_;
    std::vector<std::vector<Symbols>> ways_;
};

}  // namespace

nb::object ways_of_merges(Numbers lefts, Numbers rights, Numbers ranks, Numbers products, Numbers symbols, std::uint64_t id_count) {
    const std::size_t count = lefts.shape(0);
    if (rights.shape(0) != count || ranks.shape(0) != count || products.shape(0) != count)
        throw nb::value_error("one left, one right, one rank and one product for each merge");
    if (id_count > UINT32_MAX) throw nb::value_error("ids have 32 bits");
    for (const Numbers *ids : {&lefts, &rights, &products, &symbols}) {
        for (std::size_t i = 0; i < ids->shape(0); i++) {
            if ((*ids)(i) >= id_count) throw nb::value_error("an id that is none");
        }
    }
    std::unique_ptr<std::uint64_t[]> last, ends, all;
    std::size_t way_count = 0, symbol_count = 0;
    std::optional<Id> made_of_itself;
    {
        nb::gil_scoped_release released;
        Merges merges;
        for (std::size_t i = 0; i < count; i++)
            merges.add({static_cast<Id>(lefts(i)), static_cast<Id>(rights(i)), static_cast<Id>(products(i)), ranks(i)});
        Search search(merges, static_cast<std::size_t>(id_count));
        for (std::size_t i = 0; i < symbols.shape(0); i++) search.begin_with(static_cast<Id>(symbols(i)));
        const Found found = search.run();
        made_of_itself = found.made_of_itself;
        way_count = found.ways.size();
        for (const Way &way : found.ways) symbol_count += way.symbols.size();
        last = std::make_unique<std::uint64_t[]>(4 * way_count);
        ends = std::make_unique<std::uint64_t[]>(way_count);
        all = std::make_unique<std::uint64_t[]>(symbol_count);
        std::size_t end = 0;
        for (std::size_t i = 0; i < way_count; i++) {
            const Way &way = found.ways[i];
            const std::uint64_t numbers[] = {way.last.product, way.last.left, way.last.right, way.last.rank};
            std::copy(numbers, numbers + 4, &last[4 * i]);
            std::copy(way.symbols.begin(), way.symbols.end(), &all[end]);
            ends[i] = end += way.symbols.size();
        }
    }
    if (made_of_itself) return nb::int_(*made_of_itself);
    return nb::make_tuple(array_of(std::move(last), 4 * way_count), array_of(std::move(ends), way_count), array_of(std::move(all), symbol_count));
}

}  // namespace tokexport
