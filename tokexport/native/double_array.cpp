#include "double_array.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "keys.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::size_t labels_of_a_node = 256;
constexpr std::uint16_t no_label = 256;
// A node of more children goes where nothing stands yet: to look for a hole that has all of their
// places would take too long. Smaller nodes fill the holes that this leaves.
constexpr std::size_t crowd = 8;
// Of all keys. More than 8 children take at most 256 units, so that units have 32 bits.
constexpr std::size_t most_bytes = std::size_t{1} << 27;
// Places that are looked at for a smaller node, before it goes where nothing stands yet.
constexpr int patience = 60;

// Bits of any number, false at first. Those that are true lie close together: a bit for each word says
// whether it is full, so that the next false one is found in a few steps.
class Flags {
public:
    bool operator[](std::size_t at) const {
        return at / bits < words_.size() && words_[at / bits] >> at % bits & 1;
    }

    void set(std::size_t at) {
        const std::size_t word = at / bits;
        if (word >= words_.size()) words_.resize(2 * word + 1);
        if (word / bits >= full_.size()) full_.resize(2 * (word / bits) + 1);
        words_[word] |= Word{1} << at % bits;
        if (words_[word] == all) full_[word / bits] |= Word{1} << word % bits;
    }

    // The first that is false, from a place on.
    std::size_t next_free(std::size_t at) const {
        const std::size_t word = at / bits;
        const bool is_here = word >= words_.size() || ~words_[word] & all << at % bits;
        return next_in(words_, is_here ? at : bits * next_in(full_, word + 1));
    }

private:
    using Word = std::uint32_t;
    static constexpr std::size_t bits = 32;
    static constexpr Word all = UINT32_MAX;

    // The first bit that is not set, from a place on.
    static std::size_t next_in(const std::vector<Word> &words, std::size_t at) {
        std::size_t word = at / bits;
        if (word >= words.size()) return at;
        Word open = ~words[word] & all << at % bits;
        while (!open) {
            if (++word == words.size()) return bits * word;
            open = ~words[word];
        }
        return bits * word + static_cast<std::size_t>(__builtin_ctz(open));
    }

    std::vector<Word> words_, full_;
};

using Node = std::uint32_t;

// A string in sorted order.
struct Key {
    std::string_view bytes;
    std::uint32_t id;
};

// The nodes in depth-first order, node 0 the root: the first child of a node follows it.
struct Nodes {
    std::vector<unsigned char> labels{0};
    std::vector<std::uint32_t> ids;
    // By node: its next sibling, 0 where it has none, and how many children.
    std::vector<Node> sibling{0};
    std::vector<std::uint16_t> count{0};

    Nodes(const std::vector<Key> &sorted, std::uint32_t no_id) : ids{no_id} {
        std::size_t most = 1;
        for (const Key &key : sorted) most += key.bytes.size();
        labels.reserve(most);  // what is not used is never touched, and so takes no memory
        ids.reserve(most);
        sibling.reserve(most);
        count.reserve(most);
        std::vector<Node> path{0}, youngest{0};  // by depth: a node, and its youngest child
        std::string_view last;
        for (const Key &key : sorted) {
            const auto end = key.bytes.begin() + std::min(key.bytes.size(), last.size());
            const auto other = std::mismatch(key.bytes.begin(), end, last.begin()).first;
            path.resize(static_cast<std::size_t>(other - key.bytes.begin()) + 1);
            youngest.resize(path.size());
            for (auto byte = other; byte != key.bytes.end(); byte++) {
                const Node node = static_cast<Node>(labels.size());
                if (count[path.back()]++) sibling[youngest.back()] = node;
                youngest.back() = node;
                labels.push_back(static_cast<unsigned char>(*byte));
                ids.push_back(no_id);
                sibling.push_back(0);
                count.push_back(0);
                path.push_back(node);
                youngest.push_back(0);
            }
            ids[path.back()] = key.id;
            last = key.bytes;
        }
    }

    // The first child of a node, or 0.
    Node child(Node node) const { return count[node] ? node + 1 : 0; }
};

// The units: of each the base of the node that stands there, its id and its label.
struct Units {
    std::vector<std::uint32_t> bases, ids;
    std::vector<std::uint16_t> labels;

    void reserve(std::size_t size) {
        bases.reserve(size);
        ids.reserve(size);
        labels.reserve(size);
    }

    void resize(std::size_t size, std::uint32_t no_id) {
        bases.resize(size, 0);
        ids.resize(size, no_id);
        labels.resize(size, no_label);
    }
};

// Gives each node a place and each one with children a base. Nodes are placed in depth-first order,
// so that what is read together lies together. Every base leaves room for all labels.
class Placing {
public:
    Placing(const Nodes &nodes, std::uint32_t no_id)
        : nodes_(nodes),
          no_id_(no_id),
          places_(nodes.labels.size()) {
        for (std::size_t label = 0; label < resume_.size(); label++) resume_[label] = 1 + label;
        units.reserve(2 * nodes.labels.size() + labels_of_a_node);
        units.resize(nodes.labels.size() + labels_of_a_node, no_id);
        for (Node node = 0; node < places_.size(); node++) {
            if (nodes.count[node] || !node) place(node);
        }
        units.resize(last_base_ + labels_of_a_node, no_id);
    }

    Units units;
    std::uint32_t root = 0;

private:
    void place(Node node) {
        const std::size_t count = nodes_.count[node];
        const std::size_t first = count ? nodes_.labels[nodes_.child(node)] : 0;
        const std::size_t base = count == 1 ? alone(first) : beside(node, first, count);
        last_base_ = std::max(last_base_, base);
        (node ? units.bases[places_[node]] : root) = static_cast<std::uint32_t>(base);
        used_.set(base);
        if (base + labels_of_a_node > units.bases.size())
            units.resize(base + base / 4 + labels_of_a_node, no_id_);
        for (Node child = nodes_.child(node); child; child = nodes_.sibling[child]) {
            const std::size_t at = base + nodes_.labels[child];
            places_[child] = static_cast<std::uint32_t>(at);
            units.ids[at] = nodes_.ids[child];
            units.labels[at] = nodes_.labels[child];
            taken_.set(at);
            end_ = std::max(end_, at + 1);
        }
        start_ = std::max(start_, taken_.next_free(start_));
    }

    // The base for an only child.
    std::size_t alone(std::size_t label) {
        std::size_t at = taken_.next_free(std::max(resume_[label], start_));
        while (used_[at - label]) at = taken_.next_free(at + 1);
        resume_[label] = at + 1;
        return at - label;
    }

    // The base for several children, of which the first has the label ``first``.
    std::size_t beside(Node node, std::size_t first, std::size_t count) const {
        std::size_t at = start_;
        for (int i = 0; count <= crowd && i < patience; i++) {
            at = taken_.next_free(std::max(at + 1, 1 + first));
            if (!used_[at - first] && has_room(node, at - first)) return at - first;
        }
        std::size_t base = end_ > first ? std::max<std::size_t>(1, end_ - first) : 1;
        while (used_[base]) base++;
        return base;
    }

    bool has_room(Node node, std::size_t base) const {
        for (Node child = nodes_.child(node); child; child = nodes_.sibling[child]) {
            if (taken_[base + nodes_.labels[child]]) return false;
        }
        return true;
    }

    const Nodes &nodes_;
    const std::uint32_t no_id_;
    std::vector<std::uint32_t> places_;  // of nodes
    Flags taken_;                        // places that hold a node
    Flags used_;                         // bases that a node has
    std::size_t end_ = 1;                // nothing stands from here on
    std::size_t start_ = 1;              // all places before are taken
    std::size_t last_base_ = 0;
    // For an only child with a label: where the search goes on. Places before are taken, or their
    // base is used, and stay so.
    std::array<std::size_t, labels_of_a_node> resume_;
};

}  // namespace

nb::tuple double_array(nb::bytes keys, SmallNumbers ends, SmallNumbers ids, std::uint32_t no_id) {
    if (ids.shape(0) != ends.shape(0)) throw nb::value_error("one end and one id for each key");
    if (keys.size() > most_bytes) throw nb::value_error("keys of more than 128 MB");
    const Strings all(std::move(keys), std::move(ends));
    std::vector<Key> sorted;
    sorted.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); i++) {
        if (all[i].empty()) throw nb::value_error("a key without bytes");
        sorted.push_back({all[i], ids(i)});
    }
    Units units;
    std::uint32_t root = 0;
    {
        nb::gil_scoped_release released;
        std::sort(sorted.begin(), sorted.end(),
                  [](const Key &one, const Key &other) { return one.bytes < other.bytes; });
        const Nodes nodes(sorted, no_id);
        std::vector<Key>().swap(sorted);
        Placing placed(nodes, no_id);
        units = std::move(placed.units);
        root = placed.root;
    }
    return nb::make_tuple(array_of(std::move(units.bases)), array_of(std::move(units.ids)),
                          array_of(std::move(units.labels)), root);
}

}  // namespace tokexport
