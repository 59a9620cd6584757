// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

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
#include "memory/free_memory.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::size_t labels_of_a_node = 256;
constexpr std::uint64_t no_label = 256;
constexpr int label_bits = 9;
// A node with more children is placed after all others: finding a hole that fits all of them would
// take too long. Smaller nodes fill the holes that this leaves.
constexpr std::size_t crowd = 8;
// For all keys together. A node of more than 8 children takes at most 256 units: 32 bits suffice.
constexpr std::size_t most_bytes = std::size_t{1} << 27;
// How many positions are tried for a smaller node before it is placed after all others.
constexpr int patience = 60;

// A bit set, all false at first. True bits are clustered: a second level says which words are full,
// so that the next false bit is found in a few steps.
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

    // The first false bit at or after `at`.
    std::size_t next_free(std::size_t at) const {
        const std::size_t word = at / bits;
        const bool is_here = word >= words_.size() || ~words_[word] & all << at % bits;
        return next_in(words_, is_here ? at : bits * next_in(full_, word + 1));
    }

private:
    using Word = std::uint32_t;
    static constexpr std::size_t bits = 32;
    static constexpr Word all = UINT32_MAX;

    // The first zero bit at or after `at`.
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

// The keys in sorted order.
class Sorted {
public:
    Sorted(const Strings &strings, const SmallNumbers &ids) : strings_(strings), ids_(ids) {
        struct Entry {
            std::uint64_t head;  // the first eight bytes; most keys already differ in them
            std::uint32_t place;
        };
        places_.reserve(strings.size());
        common_.reserve(strings.size());
        std::vector<Entry> entries(strings.size());
        for (std::uint32_t i = 0; i < entries.size(); i++) entries[i] = {head_of(strings[i]), i};
        std::sort(entries.begin(), entries.end(), [&](const Entry &one, const Entry &other) {
            if (one.head != other.head) return one.head < other.head;
            return strings[one.place] < strings[other.place];
        });
        for (const Entry &entry : entries) places_.push_back(entry.place);
        std::vector<Entry>().swap(entries);
        give_back_memory();
        std::string_view last;
        for (std::uint32_t i = 0; i < size(); last = (*this)[i++]) {
            const auto end = last.begin() + std::min(last.size(), (*this)[i].size());
            const auto other = std::mismatch(last.begin(), end, (*this)[i].begin()).first;
            common_.push_back(static_cast<std::uint32_t>(other - last.begin()));
        }
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }
    std::string_view operator[](std::uint32_t i) const { return strings_[places_[i]]; }
    std::uint32_t id(std::uint32_t i) const { return ids_(places_[i]); }
    // The length in bytes of the prefix that a key shares with the key before it.
    std::uint32_t common(std::uint32_t i) const { return common_[i]; }

private:
    static std::uint64_t head_of(std::string_view key) {
        std::uint64_t head = 0;
        for (std::size_t i = 0; i < sizeof head; i++)
            head = head << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
        return head;
    }

    const Strings &strings_;
    const SmallNumbers &ids_;
    std::vector<std::uint32_t> places_, common_;
};

// Assigns a position to each node and a base to each node with children. Nodes are placed in
// depth-first order, so that nodes read together are close in memory. Every base leaves room for
// all labels. Nodes are derived from the keys: storing them would take more memory than all units.
class Placing {
public:
    Placing(const Sorted &keys, std::size_t bytes, std::uint32_t no_id)
        : keys_(keys),
          no_id_(no_id) {
        for (std::size_t label = 0; label < resume_.size(); label++) resume_[label] = 1 + label;
        units.reserve(bytes + labels_of_a_node);  // pages that are not written take no memory
        place({0, keys.size(), 0, 0});
        while (!waiting_.empty()) {
            const Node node = waiting_.back();
            waiting_.pop_back();
            place(node);
        }
        units.resize(last_base_ + labels_of_a_node, no_unit());
    }

    std::vector<std::uint64_t> units;
    std::uint32_t root = 0;

private:
    // The range of keys that begin with the same ``depth`` bytes, and the position of their node;
    // the root has none.
    struct Node {
        std::uint32_t first, last, depth;
        std::size_t place;
    };
    // The first key of a child, and its label.
    struct Child {
        std::uint32_t key;
        unsigned char label;
    };

    std::uint64_t no_unit() const { return std::uint64_t{no_id_} << label_bits | no_label; }

    // Finds the children of a node: a child begins where a key differs in the byte after ``depth``.
    void find_children(const Node &node) {
        children_.clear();
        std::uint32_t key = node.first;
        if (key < node.last && keys_[key].size() == node.depth) key++;
        for (std::uint32_t i = key; i < node.last; i++) {
            if (i == key || keys_.common(i) == node.depth)
                children_.push_back({i, static_cast<unsigned char>(keys_[i][node.depth])});
        }
    }

    void place(const Node &node) {
        find_children(node);
        const std::size_t first = children_.empty() ? 0 : children_[0].label;
        const std::size_t base = children_.size() == 1 ? alone(first) : beside(first);
        last_base_ = std::max(last_base_, base);
        if (node.depth) units[node.place] |= std::uint64_t{base} << 32;
        else root = static_cast<std::uint32_t>(base);
        used_.set(base);
        if (base + labels_of_a_node > units.size())
            units.resize(base + labels_of_a_node, no_unit());
        std::uint32_t last = node.last;
        for (std::size_t i = children_.size(); i--;) {
            const auto [key, label] = children_[i];
            const std::size_t at = base + label;
            const bool is_end = keys_[key].size() == node.depth + 1;
            units[at] = std::uint64_t{is_end ? keys_.id(key) : no_id_} << label_bits | label;
            taken_.set(at);
            end_ = std::max(end_, at + 1);
            if (!is_end || last - key > 1) waiting_.push_back({key, last, node.depth + 1, at});
            last = key;
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
    std::size_t beside(std::size_t first) const {
        std::size_t at = start_;
        for (int i = 0; children_.size() <= crowd && i < patience; i++) {
            at = taken_.next_free(std::max(at + 1, 1 + first));
            if (!used_[at - first] && has_room(at - first)) return at - first;
        }
        std::size_t base = end_ > first ? std::max<std::size_t>(1, end_ - first) : 1;
        while (used_[base]) base++;
        return base;
    }

    bool has_room(std::size_t base) const {
        return std::none_of(children_.begin(), children_.end(),
                            [&](const Child &child) { return taken_[base + child.label]; });
    }

    const Sorted &keys_;
    const std::uint32_t no_id_;
    std::vector<Node> waiting_;    // a stack
    std::vector<Child> children_;  // of the node being placed
    Flags taken_;                  // positions that hold a node
    Flags used_;                   // bases that a node has
    std::size_t end_ = 1;          // all positions from here on are free
    std::size_t start_ = 1;        // all positions before are taken
    std::size_t last_base_ = 0;
    // By label: where the search for a node with only this child resumes. Earlier positions are
    // taken or their base is used, which does not change.
    std::array<std::size_t, labels_of_a_node> resume_;
};

}  // namespace

nb::tuple double_array(nb::bytes keys, SmallNumbers ends, SmallNumbers ids, std::uint32_t no_id) {
    if (ids.shape(0) != ends.shape(0)) throw nb::value_error("one end and one id for each key");
    if (keys.size() > most_bytes) throw nb::value_error("keys of more than 128 MB");
    const std::size_t bytes = keys.size();
    const Strings all(std::move(keys), std::move(ends));
    for (std::size_t i = 0; i < all.size(); i++) {
        if (all[i].empty()) throw nb::value_error("a key without bytes");
    }
    std::vector<std::uint64_t> units;
    std::uint32_t root = 0;
    {
        nb::gil_scoped_release released;
        const Sorted sorted(all, ids);
        Placing placed(sorted, bytes, no_id);
        units = std::move(placed.units);
        root = placed.root;
    }
    return nb::make_tuple(array_of(std::move(units)), root);
}

}  // namespace tokexport
