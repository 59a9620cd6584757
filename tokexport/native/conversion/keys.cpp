// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "keys.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nb = nanobind;

namespace tokexport {

namespace {

constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;

// The first eight bytes of a string, or all bytes of a shorter one.
std::uint64_t word_of(std::string_view key) {
    std::uint64_t word = 0;
    std::memcpy(&word, key.data(), std::min(key.size(), sizeof word));
    return word;
}

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

Strings::Strings(nb::bytes joined, SmallNumbers ends)
    : joined_(std::move(joined)),
      bytes_(joined_.c_str()),
      ends_(std::move(ends)) {
    if (size() >= UINT32_MAX / 4) throw nb::value_error("more strings than a tokenizer has");
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < size(); i++) {
        if (ends_(i) < last || ends_(i) > joined_.size())
            throw nb::value_error("an end of a key that is before the last one or outside");
        last = ends_(i);
    }
}

Keys::Keys(nb::bytes joined, SmallNumbers ends) : strings_(std::move(joined), std::move(ends)) {
    std::size_t size = 16;
    while (size < 2 * strings_.size()) size *= 2;
    slots_.assign(size, {0, missing});
    for (std::size_t i = 0; i < strings_.size(); i++) {
        const std::uint64_t hash = hash_of(strings_[i]);
        Slot &taken = slots_[slot(strings_[i], hash)];
        if (taken.place == missing) taken = {tag_of(hash), static_cast<std::uint32_t>(i)};
    }
}

nb::object Keys::place(const nb::bytes &key) const {
    const std::uint32_t found = find({key.c_str(), key.size()});
    return found == missing ? nb::none() : nb::object(nb::int_(found));
}

nb::object Keys::firsts() const {
    std::vector<std::uint32_t> found(strings_.size());
    for (std::size_t i = 0; i < found.size(); i++) found[i] = find(strings_[i]);
    return array_of(std::move(found));
}

std::uint64_t Keys::hash_of(std::string_view key) {
    std::uint64_t hash = key.size() * factor;
    while (key.size() > sizeof hash) {
        hash = (hash ^ word_of(key)) * factor;
        hash ^= hash >> 32;
        key.remove_prefix(sizeof hash);
    }
    hash = (hash ^ word_of(key)) * factor;
    return hash ^ hash >> 29;
}

std::size_t Keys::slot(std::string_view key, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash) & mask;
    while (slots_[at].place != missing &&
           (slots_[at].tag != tag_of(hash) || strings_[slots_[at].place] != key))
        at = (at + 1) & mask;
    return at;
}

}  // namespace tokexport
