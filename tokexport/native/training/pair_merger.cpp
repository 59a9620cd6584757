// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "pair_merger.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tokexport {

namespace {

constexpr std::size_t byte_count = 256;
constexpr std::size_t merges_a_report = 256;
constexpr std::size_t prefetch_ahead = 8;

unsigned log2_of(std::uint64_t count) {
    return 63u - static_cast<unsigned>(__builtin_clzll(count));
}

// The order of bytes in GPT-2's vocabulary: first those that it shows as themselves in Latin-1.
std::vector<std::uint32_t> gpt2_orders() {
    const auto is_shown = [](unsigned byte) {
        return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    };
    std::vector<std::uint32_t> orders(byte_count);
    std::uint32_t next = 0;
    for (bool shown : {true, false})
        for (unsigned byte = 0; byte < byte_count; byte++)
            if (is_shown(byte) == shown) orders[byte] = next++;
    return orders;
}

}  // namespace

PairMerger::PairMerger(const WordMap &words, TieBreak tie_break, std::size_t longest)
    : tie_break_(tie_break),
      longest_(longest),
      single_uses_(byte_count),
      lengths_(byte_count, 1),
      examples_(byte_count, none) {
    if (tie_break == TieBreak::lowest_gpt2_ids) orders_ = gpt2_orders();
    read_words(words);
    count_byte_pairs();
    // All symbols are still bytes, and no place has been merged away.
    if (tie_break != TieBreak::greatest_bytes) return;
    bytes_.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); i++) {
        const std::uint32_t symbol = places_[i].symbol;
        if (symbol == none) continue;
        bytes_[i] = static_cast<std::uint8_t>(symbol);
        examples_[symbol] = static_cast<std::uint32_t>(i);
    }
}

// Layout: a separator, then each word with a separator after it. A word of one byte has no pair.
void PairMerger::read_words(const WordMap &words) {
    std::vector<const WordMap::Slot *> slots = words.words();
    if (tie_break_ == TieBreak::first_seen)
        std::sort(slots.begin(), slots.end(), [](const WordMap::Slot *a, const WordMap::Slot *b) {
            return a->first < b->first;
        });
    std::size_t size = 1;
    for (const WordMap::Slot *slot : slots) size += words.length(*slot) + 1;
    if (size > most_places) throw std::length_error("the distinct words have 4 GB or more");
    places_.reserve(size);
    places_.push_back({none, none, 0});
    std::vector<std::uint8_t> bytes;
    for (const WordMap::Slot *slot : slots) {
        const std::size_t length = words.length(*slot);
        bytes.resize(length);
        words.copy(*slot, bytes.data());
        if (length < 2) {
            single_uses_[bytes[0]] += slot->count;
            continue;
        }
        const auto word = static_cast<std::uint32_t>(word_counts_.size());
        for (std::uint8_t byte : bytes) places_.push_back({byte, none, word});
        places_.push_back({none, none, word});
        word_counts_.push_back(slot->count);
    }
}

void PairMerger::count_byte_pairs() {
    std::vector<std::uint32_t> of_bytes(byte_count * byte_count, none);
    for (std::size_t i = 1; i + 1 < places_.size(); i++) {
        const std::uint32_t left = places_[i].symbol, right = places_[i + 1].symbol;
        if (left == none || right == none) continue;
        std::uint32_t &pair = of_bytes[left * byte_count + right];
        if (pair == none) {
            pair = static_cast<std::uint32_t>(pairs_.size());
            pairs_.push_back({left, right, 0, 0});
            pair_counts_.push_back(0);
        }
        pairs_[pair].size++;
        pair_counts_[pair] += word_counts_[places_[i].word];
        places_[i].pair = pair;
        left_events_.push_back({pair, static_cast<std::uint32_t>(i)});
    }
    write_occurrences();
    std::vector<Event>().swap(left_events_);  // the largest that it will be
    for (std::uint32_t pair = 0; pair < pairs_.size(); pair++) offer(pair);
}

std::vector<LearnedMerge> PairMerger::run(std::size_t count,
                                          const std::function<bool(std::size_t)> &progress) {
    std::vector<LearnedMerge> merges;
    with_left_.assign(byte_count + count, none);
    with_right_.assign(byte_count + count, none);
    while (merges.size() < count) {
        const std::uint32_t best = next_best();
        if (best == none) break;
        const Pair &pair = pairs_[best];
        const auto product = static_cast<std::uint32_t>(lengths_.size());
        merges.push_back({pair.left, pair.right, pair_counts_[best]});
        lengths_.push_back(lengths_[pair.left] + lengths_[pair.right]);
        examples_.push_back(first_place(best));
        merge(best, product);
        if (merges.size() % merges_a_report == 0 && !progress(merges.size())) break;
    }
    return merges;
}

std::vector<std::uint64_t> PairMerger::uses() const {
    std::vector<std::uint64_t> uses = single_uses_;
    uses.resize(lengths_.size());
    for (std::size_t at = 0; at < places_.size();) {
        const Place &place = places_[at];
        if (place.symbol != none) uses[place.symbol] += word_counts_[place.word];
        at += place.symbol == none ? 1 : lengths_[place.symbol];
    }
    return uses;
}

// The pair of the merged id and a neighbour, created by this merge if it is new.
std::uint32_t PairMerger::pair_with(std::uint32_t other, bool is_left) {
    std::uint32_t &pair = (is_left ? with_left_ : with_right_)[other];
    if (pair == none) {
        pair = static_cast<std::uint32_t>(pairs_.size());
        pairs_.push_back({is_left ? other : product_, is_left ? product_ : other, 0, 0});
        pair_counts_.push_back(0);
    }
    return pair;
}

// Replaces each occurrence of a pair by the merged id, from left to right.
void PairMerger::merge(std::uint32_t pair, std::uint32_t product) {
    const Pair merged = pairs_[pair];
    const std::uint32_t left_length = lengths_[merged.left], length = lengths_[product];
    const std::uint32_t *occurrence = occurrences_.data() + merged.first;
    product_ = product;
    first_new_ = pairs_.size();
    const auto add = [this](std::vector<Event> &events, std::uint32_t to, std::uint32_t place,
                            std::uint64_t weight) {
        pairs_[to].size++;
        pair_counts_[to] += weight;
        places_[place].pair = to;
        events.push_back({to, place});
    };
    for (std::uint32_t i = 0; i < merged.size; i++) {
        if (i + prefetch_ahead < merged.size)
            __builtin_prefetch(&places_[occurrence[i + prefetch_ahead]]);
        const std::uint32_t at = occurrence[i], right_at = at + left_length, end = at + length;
        if (places_[at].pair != pair) continue;
        const std::uint64_t weight = word_counts_[places_[at].word];
        const std::uint32_t before = places_[at - 1].symbol, after = places_[end].symbol;
        if (before == product) {
            // Adjacent occurrences: the pair of the previous one with our left symbol never was.
            const Event cancelled = right_events_.back();
            right_events_.pop_back();
            pairs_[cancelled.pair].size--;
            pair_counts_[cancelled.pair] -= weight;
            add(right_events_, pair_with(product, false), at - length, weight);
        } else if (before != none) {
            const std::uint32_t before_at = at - lengths_[before];
            pair_counts_[places_[before_at].pair] -= weight;
            add(left_events_, pair_with(before, true), before_at, weight);
        }
        const std::uint32_t old = places_[right_at].pair;
        places_[right_at].pair = none;
        places_[at].symbol = places_[end - 1].symbol = product;
        places_[at].pair = none;
        if (after == none) continue;
        pair_counts_[old] -= weight;
        add(right_events_, pair_with(after, false), at, weight);
    }
    pair_counts_[pair] = 0;
    write_occurrences();
    for (std::size_t i = first_new_; i < pairs_.size(); i++) {
        if (pairs_[i].left == product) with_right_[pairs_[i].right] = none;
        else with_left_[pairs_[i].left] = none;
        offer(static_cast<std::uint32_t>(i));
    }
}

// Writes the occurrences of the new pairs, whose sizes are known.
void PairMerger::write_occurrences() {
    std::uint64_t end = occurrences_.size();
    for (std::size_t i = first_new_; i < pairs_.size(); i++) {
        pairs_[i].first = end;
        end += pairs_[i].size;
        pairs_[i].size = 0;
    }
    occurrences_.resize(end);
    for (std::vector<Event> *events : {&left_events_, &right_events_}) {
        for (const Event &event : *events) {
            Pair &pair = pairs_[event.pair];
            occurrences_[pair.first + pair.size++] = event.place;
        }
        events->clear();
    }
}

void PairMerger::offer(std::uint32_t pair) {
    const std::uint64_t count = pair_counts_[pair];
    if (count == 0) return;
    const unsigned level = log2_of(count);
    if (level < level_) {
        waiting_[level].push_back(pair);
        return;
    }
    heap_.push_back({count, key_of(pair), pair});
    std::push_heap(heap_.begin(), heap_.end(),
                   [this](const Candidate &a, const Candidate &b) { return comes_later(a, b); });
}

// The heap is empty: moves the pairs of the next lower level into it.
void PairMerger::warm_up() {
    std::vector<std::uint32_t> pairs;
    pairs.swap(waiting_[--level_]);
    for (std::uint32_t pair : pairs) offer(pair);
}

// The pair to merge next, or none.
std::uint32_t PairMerger::next_best() {
    const auto later = [this](const Candidate &a, const Candidate &b) { return comes_later(a, b); };
    for (;;) {
        while (heap_.empty()) {
            if (level_ == 0) return none;
            warm_up();
        }
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Candidate best = heap_.back();
        heap_.pop_back();
        const Pair &pair = pairs_[best.pair];
        if (std::size_t(lengths_[pair.left]) + lengths_[pair.right] > longest_) {
            too_long_++;
            continue;
        }
        if (best.count == pair_counts_[best.pair] &&
            (tie_break_ != TieBreak::first_seen || best.key == key_of(best.pair)))
            return best.pair;
        offer(best.pair);
    }
}

// The first occurrence that no merge has removed.
std::uint32_t PairMerger::first_place(std::uint32_t pair) {
    Pair &found = pairs_[pair];
    while (places_[occurrences_[found.first]].pair != pair) {
        found.first++;
        found.size--;
    }
    return occurrences_[found.first];
}

std::uint64_t PairMerger::key_of(std::uint32_t pair) {
    const Pair &found = pairs_[pair];
    switch (tie_break_) {
        case TieBreak::first_seen: return first_place(pair);
        case TieBreak::greatest_bytes: {
            std::uint64_t key = 0;
            const std::uint8_t *bytes = &bytes_[examples_[found.left]];
            for (std::uint32_t i = 0; i < 8; i++)
                key = key << 8 | (i < lengths_[found.left] ? bytes[i] : 0);
            return ~key;
        }
        case TieBreak::lowest_gpt2_ids:
            return std::uint64_t(found.left < byte_count ? orders_[found.left] : found.left) << 32 |
                   (found.right < byte_count ? orders_[found.right] : found.right);
        default: return std::uint64_t(found.left) << 32 | found.right;
    }
}

bool PairMerger::comes_later(const Candidate &a, const Candidate &b) const {
    if (a.count != b.count) return a.count < b.count;
    if (a.key != b.key) return a.key > b.key;
    if (tie_break_ != TieBreak::greatest_bytes) return false;
    const Pair &left = pairs_[a.pair], &right = pairs_[b.pair];
    const int order = compare_bytes(left.left, right.left);
    return order ? order < 0 : compare_bytes(left.right, right.right) < 0;
}

int PairMerger::compare_bytes(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t size = std::min(lengths_[a], lengths_[b]);
    const int order = std::memcmp(&bytes_[examples_[a]], &bytes_[examples_[b]], size);
    if (order) return order;
    return lengths_[a] < lengths_[b] ? -1 : lengths_[a] > lengths_[b];
}

}  // namespace tokexport
