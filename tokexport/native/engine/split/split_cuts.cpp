// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "split_cuts.h"

#include <algorithm>

namespace tokexport {

namespace {

class CutFinder {
public:
    explicit CutFinder(const SplitMachine &machine)
        : machine_(machine),
          classes_(machine.class_count) {}

    // For each class on the left of `right`: whether there is certainly a cut between them, and
    // cutting the text there changes no other boundary.
    void find(std::uint32_t right, std::vector<std::uint8_t> &cuts) const {
        std::vector<std::uint8_t> begins(machine_.state_count);
        for (std::uint32_t state = 0; state < machine_.state_count; state++)
            begins[state] = begins_as(state, next(0, right));
        for (std::uint32_t left = 0; left < classes_; left++) {
            bool is_certain = true;
            for (std::uint32_t state = 0; is_certain && state < machine_.state_count; state++) {
                const std::uint32_t before = next(state, left);
                is_certain = begins[next(before, right)] && ends_as(before, right);
            }
            cuts[left] = is_certain && are_decided(left, right);
        }
    }

private:
    std::uint32_t next(std::uint32_t state, std::uint32_t c) const {
        return (machine_.entries[state * machine_.stride() + c] >> 16) / machine_.stride();
    }

    std::uint8_t verdict(std::uint32_t state, std::uint32_t c) const {
        return static_cast<std::uint8_t>(machine_.entries[state * machine_.stride() + c]);
    }

    std::uint32_t decide(std::uint32_t decision, std::uint32_t c) const {
        return machine_.decisions[decision * machine_.stride() + c];
    }

    // Whether the boundary before the last character read is a cut, whatever follows, and all that
    // follows is read as after the first character of a text. Equal states have one number.
    bool begins_as(std::uint32_t state, std::uint32_t first) const {
        for (std::uint32_t c = 0; c <= classes_; c++) {
            if (verdict(state, c) != cut) return false;
            if (c < classes_ && next(state, c) != next(first, c)) return false;
        }
        return true;
    }

    // Whether the boundary before the last character read has the same, decided verdict before
    // `right` as at the end of a text.
    bool ends_as(std::uint32_t state, std::uint32_t right) const {
        const std::uint8_t seen = verdict(state, right);
        return !(seen & undecided) && seen == verdict(state, classes_);
    }

    // Whether `right` decides whatever may be undecided after `left`, and decides it as the end of
    // a text does.
    bool are_decided(std::uint32_t left, std::uint32_t right) const {
        const auto is_decided = [&](std::uint32_t decision) {
            if (decision < first_open_decision) return true;
            const std::uint32_t decided = decide(decision, right);
            return decided < first_open_decision && decided == decide(decision, classes_);
        };
        const std::size_t decisions = machine_.decisions.size() / machine_.stride();
        for (std::uint32_t d = first_open_decision; d < decisions; d++)
            if (!is_decided(decide(d, left))) return false;
        for (std::uint32_t state = 0; state < machine_.state_count; state++) {
            const std::uint8_t seen = verdict(state, left);
            if ((seen & undecided) && !is_decided(seen >> decision_shift)) return false;
        }
        return true;
    }

    const SplitMachine &machine_;
    const std::uint32_t classes_;
};

}  // namespace

void SplitCuts::fill(const SplitMachine &machine) {
    const CutFinder finder(machine);
    const std::uint32_t classes = machine.class_count;
    class_count_ = classes;
    cuts_.resize(class_count_ * class_count_);
    std::vector<std::uint8_t> cuts(classes);
    for (std::uint32_t right = 0; right < classes; right++) {
        finder.find(right, cuts);
        for (std::uint32_t left = 0; left < classes; left++)
            cuts_[left * class_count_ + right] = cuts[left];
    }
}

std::size_t SplitCuts::last_cut(const SplitClasses &classes, const std::uint8_t *text,
                                std::size_t size) const {
    const auto step_back = [&](std::size_t at) {
        while (at > 0 && (text[--at] & 0xC0) == 0x80) continue;
        return at;
    };
    // The last character may be incomplete.
    std::size_t right = step_back(step_back(size)), length;
    if (!right) return 0;
    for (std::uint8_t of_right = classes.read(text + right, length); right > 0;) {
        const std::size_t left = step_back(right);
        const std::uint8_t of_left = classes.read(text + left, length);
        if (is_cut(of_left, of_right)) return right;
        right = left;
        of_right = of_left;
    }
    return 0;
}

}  // namespace tokexport
