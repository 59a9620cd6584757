// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "split_machine.h"

#include <algorithm>
#include <cstring>

#include "split_intern.h"

namespace tokexport {

namespace {

// Published patterns have 30 to 300 states before minimisation.
constexpr std::size_t max_states = 3000;
// The number of decision states that a verdict has bits for.
constexpr std::uint32_t max_first_decisions = 64;
// Results of decisions that read beyond a block are stored, a byte per decision state (splitter.h).
constexpr std::uint32_t max_decisions = 256;
// The pairs must fit into the first-level cache together with the text.
constexpr std::size_t max_pairs = 16384;

using Numbers = std::vector<std::uint32_t>;

// An automaton with an output at each step.
struct Mealy {
    std::uint32_t width;
    Numbers next, outputs;  // [state * width + symbol]

    std::uint32_t size() const { return static_cast<std::uint32_t>(next.size() / width); }
};

// For each state, the number of its class of equal states (Moore), in the order of first states.
Numbers minimize(const Mealy &automaton, std::uint32_t &class_count) {
    const std::uint32_t size = automaton.size(), width = automaton.width;
    Numbers block(size), refined(size), signature;
    class_count = 0;
    for (bool is_first = true;; is_first = false) {
        Interner signatures;
        for (std::uint32_t state = 0; state < size; state++) {
            const std::size_t row = std::size_t(state) * width;
            signature.assign(1, block[state]);
            for (std::uint32_t c = 0; c < width; c++)
                signature.push_back(is_first ? automaton.outputs[row + c]
                                             : block[automaton.next[row + c]]);
            refined[state] = signatures.intern(signature);
        }
        block.swap(refined);
        if (!is_first && signatures.size() == class_count) return block;
        class_count = static_cast<std::uint32_t>(signatures.size());
    }
}

void sort_unique(Numbers &numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

class Determiniser {
public:
    explicit Determiniser(const ElementGraph &graph)
        : graph_(graph),
          width_(graph.class_count + 1) {}

    bool run(SplitMachine &machine) {
        machine_.width = decisions_.width = width_;
        if (!find_states() || !find_decisions()) return false;
        number_decisions();
        std::uint32_t count;
        const Numbers block = minimize(machine_, count);
        if (std::size_t(count) * std::max(width_, graph_.class_count) > 0xFFFF) return false;
        machine.class_count = graph_.class_count;
        machine.state_count = count;
        machine.entries.assign(std::size_t(count) * width_, 0);
        for (std::uint32_t state = 0; state < machine_.size(); state++) {
            for (std::uint32_t c = 0; c < width_; c++) {
                const std::size_t at = std::size_t(state) * width_ + c;
                const std::uint32_t to = c < graph_.class_count ? block[machine_.next[at]] : 0;
                machine.entries[block[state] * std::size_t(width_) + c] =
                    to * width_ << 16 | machine_.outputs[at];
            }
        }
        return fill_decisions(machine);
    }

private:
    // An item is element * 2 + whether it makes the boundary before its own a cut.
    bool find_states() {
        Numbers items;
        for (std::uint32_t start : graph_.starts) items.push_back(2 * start);
        sort_unique(items);
        states_.intern(items);
        for (std::uint32_t state = 0; state < states_.size(); state++) {
            if (states_.size() > max_states) return false;
            const Numbers from(states_.begin(state), states_.end(state));
            for (std::uint32_t c = 0; c < graph_.class_count; c++) {
                items.clear();
                yes_.clear();
                no_.clear();
                for (std::uint32_t item : from) {
                    const std::uint32_t element = item >> 1, cuts = graph_.cuts[element];
                    Numbers &side = item & 1 ? yes_ : no_;
                    for (auto p = graph_.begin(element, c); p < graph_.end(element, c); p++) {
                        items.push_back(2 * *p + cuts);
                        side.push_back(*p);
                    }
                }
                sort_unique(items);
                machine_.next.push_back(states_.intern(items));
                machine_.outputs.push_back(decision());
            }
            std::uint32_t verdict = is_no_cut;
            for (std::uint32_t item : from)
                if ((item & 1) && graph_.ends[item >> 1]) verdict = is_cut;
            machine_.next.push_back(0);
            machine_.outputs.push_back(verdict);
        }
        return true;
    }

    // The decision between the elements of yes_ and those of no_.
    std::uint32_t decision() {
        if (yes_.empty()) return is_no_cut;
        if (no_.empty()) return is_cut;
        sort_unique(yes_);
        sort_unique(no_);
        yes_.push_back(TKX_NONE);
        yes_.insert(yes_.end(), no_.begin(), no_.end());
        return first_open_decision + open_.intern(yes_);
    }

    bool find_decisions() {
        for (std::uint32_t state = 0; state < first_open_decision; state++) {
            decisions_.next.insert(decisions_.next.end(), width_, state);
            decisions_.outputs.insert(decisions_.outputs.end(), width_, state);
        }
        for (std::uint32_t state = 0; state < open_.size(); state++) {
            if (open_.size() > max_states) return false;
            const Numbers from(open_.begin(state), open_.end(state));
            const auto middle = std::find(from.begin(), from.end(), TKX_NONE);
            for (std::uint32_t c = 0; c < graph_.class_count; c++) {
                yes_.clear();
                no_.clear();
                for (auto element = from.begin(); element != from.end(); ++element) {
                    if (element == middle) continue;
                    Numbers &side = element < middle ? yes_ : no_;
                    side.insert(side.end(), graph_.begin(*element, c), graph_.end(*element, c));
                }
                decisions_.next.push_back(decision());
            }
            const bool cuts = std::any_of(from.begin(), middle, [this](std::uint32_t element) {
                return graph_.ends[element];
            });
            decisions_.next.push_back(cuts ? is_cut : is_no_cut);
            decisions_.outputs.insert(decisions_.outputs.end(), width_, first_open_decision);
        }
        return true;
    }

    // Gives equal decisions one number, the smallest ones to those that a verdict refers to, and
    // turns the machine's outputs into verdicts.
    void number_decisions() {
        std::uint32_t count;
        decision_blocks_ = minimize(decisions_, count);
        decision_numbers_.assign(count, TKX_NONE);
        for (std::uint32_t state = 0; state < first_open_decision; state++)
            decision_numbers_[decision_blocks_[state]] = state;
        decision_count_ = first_open_decision;
        const auto number = [this](std::uint32_t state) {
            std::uint32_t &known = decision_numbers_[decision_blocks_[state]];
            if (known == TKX_NONE) known = decision_count_++;
            return known;
        };
        for (std::uint32_t &output : machine_.outputs)
            if (output >= first_open_decision)
                output = undecided | number(output) << decision_shift;
        first_decisions_ = decision_count_;
        for (std::uint32_t state = 0; state < decisions_.size(); state++) number(state);
    }

    bool fill_decisions(SplitMachine &machine) const {
        if (first_decisions_ > max_first_decisions || decision_count_ > max_decisions) return false;
        machine.decisions.assign(std::size_t(decision_count_) * width_, 0);
        for (std::uint32_t state = 0; state < decisions_.size(); state++) {
            const std::size_t row = decision_numbers_[decision_blocks_[state]] * width_;
            for (std::uint32_t c = 0; c < width_; c++) {
                const std::uint32_t to = decisions_.next[state * std::size_t(width_) + c];
                machine.decisions[row + c] =
                    static_cast<std::uint16_t>(decision_numbers_[decision_blocks_[to]]);
            }
        }
        return true;
    }

    const ElementGraph &graph_;
    const std::uint32_t width_;
    Interner states_, open_;
    Mealy machine_, decisions_;
    Numbers yes_, no_, decision_blocks_, decision_numbers_;
    std::uint32_t decision_count_ = 0, first_decisions_ = 0;
};

void add_pairs(SplitMachine &machine) {
    const std::size_t base = machine.pair_base, row = base * base;
    if (base > 127 || machine.state_count * row > max_pairs) return;  // 127: a signed factor
    machine.pairs.resize(machine.state_count * row);
    for (std::size_t state = 0; state < machine.state_count; state++) {
        for (std::size_t pair = 0; pair < row; pair++) {
            const std::uint32_t first = machine.entries[state * machine.stride() + pair / base];
            const std::uint32_t second = machine.entries[(first >> 16) + pair % base];
            const std::uint32_t to = (second >> 16) / machine.stride();
            const std::uint8_t verdicts[] = {static_cast<std::uint8_t>(first),
                                             static_cast<std::uint8_t>(second)};
            std::uint16_t both;
            std::memcpy(&both, verdicts, sizeof both);
            machine.pairs[state * row + pair] = to * static_cast<std::uint32_t>(row) << 16 | both;
        }
    }
}

}  // namespace

bool make_machine(const ElementGraph &graph, bool has_inner_ends, SplitMachine &machine) {
    if (!Determiniser(graph).run(machine)) return false;
    machine.pair_base = machine.class_count + has_inner_ends;
    add_pairs(machine);
    return true;
}

}  // namespace tokexport
