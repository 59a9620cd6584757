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
constexpr std::uint64_t no_label = 256;
// A node of more children goes where nothing stands yet: to look for a hole that has all of their
// places would take too long. Smaller nodes fill the holes that this leaves.
constexpr std::size_t crowd = 8;
// Places that are looked at for a smaller node, before it goes where nothing stands yet.
constexpr int patience = 60;

// Bits of any number, false at first.
class Flags {
public:
    bool operator[](std::size_t at) const { return at < flags_.size() && flags_[at]; }

    void set(std::size_t at) {
        if (at >= flags_.size()) flags_.resize(2 * at + 1);
        flags_[at] = 1;
    }

    // The first that is false, from a place on.
    std::size_t next_free(std::size_t at) const {
        if (at >= flags_.size()) return at;
        const void *found = std::memchr(&flags_[at], 0, flags_.size() - at);
        if (!found) return flags_.size();
        return static_cast<std::size_t>(static_cast<const unsigned char *>(found) - flags_.data());
    }

private:
    std::vector<unsigned char> flags_;
};

using Node = std::uint32_t;

struct Key {
    std::string_view bytes;
    std::uint64_t id;
};

// The nodes in depth-first order, node 0 the root: the first child of a node follows it.
struct Nodes {
    std::vector<unsigned char> labels{0};
    std::vector<std::uint64_t> ids;
    // By node: its first child and its next sibling, 0 where it has none, and how many children.
    std::vector<Node> child{0}, sibling{0}, count{0};

    Nodes(const std::vector<Key> &sorted, std::uint64_t no_id) : ids{no_id} {
        std::vector<Node> path{0}, youngest{0};  // the youngest child of each node
        std::string_view last;
        for (const Key &key : sorted) {
            const auto end = key.bytes.begin() + std::min(key.bytes.size(), last.size());
            const auto other = std::mismatch(key.bytes.begin(), end, last.begin()).first;
            path.resize(static_cast<std::size_t>(other - key.bytes.begin()) + 1);
            for (auto byte = other; byte != key.bytes.end(); byte++) {
                const Node node = static_cast<Node>(labels.size()), parent = path.back();
                (count[parent] ? sibling[youngest[parent]] : child[parent]) = node;
                youngest[parent] = node;
                count[parent]++;
                labels.push_back(static_cast<unsigned char>(*byte));
                ids.push_back(no_id);
                for (std::vector<Node> *column : {&child, &sibling, &count, &youngest})
                    column->push_back(0);
                path.push_back(node);
            }
            ids[path.back()] = key.id;
            last = key.bytes;
        }
    }
};

// Gives each node a place and each one with children a base. Nodes are placed in depth-first order,
// so that what is read together lies together. Every base leaves room for all labels.
class Placing {
public:
    explicit Placing(const Nodes &nodes)
        : places(nodes.labels.size()),
          bases(nodes.labels.size()),
          nodes_(nodes) {
        for (std::size_t label = 0; label < resume_.size(); label++) resume_[label] = 1 + label;
        for (Node node = 0; node < bases.size(); node++) {
            if (nodes.count[node] || !node) place(node);
        }
    }

    std::vector<std::size_t> places, bases;

private:
    void place(Node node) {
        const std::size_t count = nodes_.count[node];
        const std::size_t first = count ? nodes_.labels[nodes_.child[node]] : 0;
        const std::size_t base = count == 1 ? alone(first) : beside(node, first, count);
        bases[node] = base;
        used_.set(base);
        for (Node child = nodes_.child[node]; child; child = nodes_.sibling[child]) {
            places[child] = base + nodes_.labels[child];
            taken_.set(places[child]);
            end_ = std::max(end_, places[child] + 1);
        }
        start_ = std::max(start_, taken_.next_free(start_));
    }

    // The base for an only child.
    std::size_t alone(std::size_t label) {
        std::size_t at = taken_.next_free(resume_[label]);
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
        for (Node child = nodes_.child[node]; child; child = nodes_.sibling[child]) {
            if (taken_[base + nodes_.labels[child]]) return false;
        }
        return true;
    }

    const Nodes &nodes_;
    Flags taken_;            // places that hold a node
    Flags used_;             // bases that a node has
    std::size_t end_ = 1;    // nothing stands from here on
    std::size_t start_ = 1;  // all places before are taken
    // For an only child with a label: where the search goes on. Places before are taken, or their
    // base is used, and stay so.
    std::array<std::size_t, labels_of_a_node> resume_;
};

}  // namespace

nb::tuple double_array(nb::bytes keys, Numbers ends, Numbers ids, std::uint64_t no_id) {
    if (ids.shape(0) != ends.shape(0)) throw nb::value_error("one end and one id for each key");
    if (keys.size() >= UINT32_MAX) throw nb::value_error("keys of 4 GB or more");
    const std::vector<std::string_view> all = keys_of(keys, ends);
    for (const std::string_view key : all) {
        if (key.empty()) throw nb::value_error("a key without bytes");
    }
    std::vector<std::uint64_t> unit_bases, unit_ids, labels;
    std::size_t root = 0;
    {
        nb::gil_scoped_release released;
        std::vector<Key> sorted;
        for (std::size_t i = 0; i < all.size(); i++) sorted.push_back({all[i], ids(i)});
        std::sort(sorted.begin(), sorted.end(),
                  [](const Key &one, const Key &other) { return one.bytes < other.bytes; });
        const Nodes nodes(sorted, no_id);
        const Placing placed(nodes);
        root = placed.bases[0];
        const std::size_t last = *std::max_element(placed.bases.begin(), placed.bases.end());
        unit_bases.assign(last + labels_of_a_node, 0);
        unit_ids.assign(unit_bases.size(), no_id);
        labels.assign(unit_bases.size(), no_label);
        for (std::size_t node = 1; node < nodes.labels.size(); node++) {
            const std::size_t at = placed.places[node];
            unit_bases[at] = placed.bases[node];
            unit_ids[at] = nodes.ids[node];
            labels[at] = nodes.labels[node];
        }
    }
    return nb::make_tuple(array_of(std::move(unit_bases)), array_of(std::move(unit_ids)),
                          array_of(std::move(labels)), root);
}

}  // namespace tokexport
