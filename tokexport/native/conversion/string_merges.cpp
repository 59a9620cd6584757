// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "string_merges.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_columns.h"
#include "python/held_bytes.h"

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::int32_t missing = -1;
constexpr std::int32_t malformed = -2;

using Text = std::optional<std::string_view>;
using Pair = std::optional<std::pair<std::string_view, std::string_view>>;  // of a merge

// A Python string as UTF-8; empty if the object is not a str, or has a lone surrogate.
Text text_of(PyObject *object) {
    if (!PyUnicode_Check(object)) return std::nullopt;
    Py_ssize_t size = 0;
    const char *bytes = PyUnicode_AsUTF8AndSize(object, &size);
    if (!bytes) {
        PyErr_Clear();
        return std::nullopt;
    }
    return std::string_view(bytes, static_cast<std::size_t>(size));
}

// The two strings of a line that has exactly one space.
Pair parts_of_line(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) return std::nullopt;
    return std::pair(line.substr(0, space), line.substr(space + 1));
}

Pair parts(PyObject *merge) {
    if (const Text line = text_of(merge)) return parts_of_line(*line);
    if (!PyList_Check(merge) || PyList_GET_SIZE(merge) != 2) return std::nullopt;
    const Text left = text_of(PyList_GET_ITEM(merge, 0)),
               right = text_of(PyList_GET_ITEM(merge, 1));
    if (!left || !right) return std::nullopt;
    return std::pair(*left, *right);
}

// Looks up the ids of merges in batches: each merge takes three lookups that wait for memory.
class Finder {
public:
    Finder(const Keys &vocab, SmallNumbers ids, std::size_t prefix_size)
        : vocab_(vocab),
          ids_(std::move(ids)),
          prefix_size_(prefix_size) {
        if (ids_.shape(0) != vocab.strings().size()) throw nb::value_error("one id for each key");
    }

    void add(const Pair &pair) {
        if (!pair) {
            find_all();
            found_.insert(found_.end(), 3, malformed);
            return;
        }
        const auto &[left, right] = *pair;
        add_key(left, {});
        add_key(right, {});
        const bool has_rest = right.size() >= prefix_size_;
        add_key(left, has_rest ? right.substr(prefix_size_) : std::string_view());
        if (!has_rest) keys_.back().is_missing = true;
        if (keys_.size() >= most_keys) find_all();
    }

    // The ids of all merges added.
    std::vector<std::int32_t> &all() {
        find_all();
        return found_;
    }

    void reserve(std::size_t numbers) { found_.reserve(numbers); }

private:
    static constexpr std::size_t most_keys = 96;

    struct Key {
        std::size_t begin, size;
        std::uint64_t hash;
        bool is_missing;
    };

    void add_key(std::string_view first, std::string_view second) {
        const std::size_t begin = bytes_.size();
        bytes_ += first;
        bytes_ += second;
        const std::uint64_t hash = Keys::hash_of(std::string_view(bytes_).substr(begin));
        vocab_.fetch_slot(hash);
        keys_.push_back({begin, bytes_.size() - begin, hash, false});
    }

    void find_all() {
        for (const Key &key : keys_) vocab_.fetch_end(key.hash);
        for (const Key &key : keys_) vocab_.fetch_bytes(key.hash);
        for (const Key &key : keys_) {
            const std::string_view text = std::string_view(bytes_).substr(key.begin, key.size);
            const std::uint32_t place =
                key.is_missing ? Keys::missing : vocab_.find(text, key.hash);
            found_.push_back(place == Keys::missing ? missing
                                                    : static_cast<std::int32_t>(ids_(place)));
        }
        keys_.clear();
        bytes_.clear();
    }

    const Keys &vocab_;
    SmallNumbers ids_;
    std::size_t prefix_size_;
    std::string bytes_;  // of the keys not looked up yet
    std::vector<Key> keys_;
    std::vector<std::int32_t> found_;
};

}  // namespace

nb::object merges_of_strings(const Keys &vocab, SmallNumbers ids, const nb::list &merges,
                             std::size_t prefix_size) {
    Finder finder(vocab, std::move(ids), prefix_size);
    for (const nb::handle merge : merges) finder.add(parts(merge.ptr()));
    return array_of(std::move(finder.all()));
}

nb::object merges_of_array(const Keys &vocab, SmallNumbers ids, nb::handle document,
                           std::size_t begin, std::size_t prefix_size) {
    const HeldBytes held(document);
    if (begin > held.size()) throw nb::value_error("a value outside of its document");
    Finder finder(vocab, std::move(ids), prefix_size);
    JsonColumns array(held.text().substr(begin));
    // A merge has six bytes or more. Pages that are not written take no memory.
    finder.reserve((held.size() - begin) / 2);
    while (array.next()) {
        const bool is_line = array.kind() == JsonColumns::Kind::strings;
        finder.add(is_line
                       ? parts_of_line(array.first)
                       : std::pair(std::string_view(array.first), std::string_view(array.second)));
    }
    return array_of(std::move(finder.all()));
}

}  // namespace tokexport
