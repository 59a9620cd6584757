#include "split_cuts.h"

#include <algorithm>

namespace tokexport {

namespace {

class CutFinder {
public:
    explicit CutFinder(const SplitMachine &machine)
        : machine_(machine),
          classes_(machine.class_count) {}

    // Whether a cut between two classes is certain, and makes no difference to other places.
    bool is_cut(std::uint32_t left, std::uint32_t right) const {
        for (std::uint32_t state = 0; state < machine_.state_count; state++) {
            const std::uint32_t before = next(state, left);
            // The place before the left character, which then ends the text or does not.
            const std::uint8_t seen = verdict(before, right);
            if ((seen & undecided) || seen != verdict(before, classes_)) return false;
            // The place itself, and the state of a text that begins here.
            if (!is_same_beginning(next(before, right), next(0, right))) return false;
        }
        return are_decided(left, right);
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

    // Whether all that follows the first character of a state is as for the one that begins a text,
    // and the place before that character is a cut. Equal states have one number.
    bool is_same_beginning(std::uint32_t state, std::uint32_t first) const {
        for (std::uint32_t c = 0; c <= classes_; c++) {
            if (verdict(state, c) != cut) return false;
            if (c < classes_ && next(state, c) != next(first, c)) return false;
        }
        return true;
    }

    // Whether what may be undecided after the left character is decided by the right one, as by the
    // end of the text.
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
    class_count_ = machine.class_count;
    cuts_.resize(class_count_ * class_count_);
    for (std::uint32_t left = 0; left < class_count_; left++)
        for (std::uint32_t right = 0; right < class_count_; right++)
            cuts_[left * class_count_ + right] = finder.is_cut(left, right);
}

std::size_t SplitCuts::last_cut(const SplitClasses &classes, const std::uint8_t *text,
                                std::size_t size) const {
    const auto step_back = [&](std::size_t at) {
        while (at > 0 && (text[--at] & 0xC0) == 0x80) continue;
        return at;
    };
    // The last character may be cut off.
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
