// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "split_elements.h"

#include <algorithm>

#include "split_intern.h"
#include "stage_entries.h"

namespace tokexport {

namespace {

// The published patterns have 8 to 560 elements, with up to 3,900 successors; more than this would
// take long to load.
constexpr std::size_t max_elements = 2000, max_successors = 20000;

// The situation of a stage, other than a state. The JOINED ones begin a match or gap without a cut.
enum Where : std::uint32_t { match = 0x10000, joined_match, gap, joined_gap };

bool is_gap(std::uint32_t where) { return where == gap || where == joined_gap; }
bool is_match_start(std::uint32_t where) { return where == match || where == joined_match; }

using Elements = std::vector<std::uint32_t>;

struct ElementRange {
    const std::uint32_t *first, *last;
    const std::uint32_t *begin() const { return first; }
    const std::uint32_t *end() const { return last; }
};

// The elements of one stage: {where, ended, passed ...}, with `passed` in ascending order.
class Stage {
public:
    explicit Stage(const tkx_stage &stage) : s_(stage), live_(stage.state_count) {
        const bool inverted = stage.flags & invert;
        after_match_ = stage.behavior == contiguous ? joined_match : match;
        gap_after_match_ = stage.behavior == (inverted ? merged_with_previous : merged_with_next)
                               ? joined_gap
                               : gap;
        match_after_gap_ = stage.behavior == (inverted ? merged_with_next : merged_with_previous)
                               ? joined_match
                               : match;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::uint32_t q = s_.state_count - 1u; q > 0; q--) {
                if (live_[q]) continue;
                for (std::uint32_t c = 0; c <= s_.class_count && !live_[q]; c++)
                    live_[q] = accepts(q, c) || (c < s_.class_count && live_[next(q, c)]);
                changed |= live_[q];
            }
        }
        starts_ = {number({match, 0}), number({gap, 0})};
    }

    const Elements &starts() const { return starts_; }
    std::uint32_t where(std::uint32_t element) const { return *elements_.begin(element); }
    bool cuts(std::uint32_t element) const {
        return where(element) == match || where(element) == gap;
    }

    // Whether the text of the stage may end here. Only elements in which a match begins qualify: a
    // gap, or a match that continues, would be the same end a second time.
    bool ends(std::uint32_t element) const {
        const std::uint32_t *p = elements_.begin(element), *end = elements_.end(element);
        if (!is_match_start(p[0]) || (p[1] && !accepts(p[1], s_.class_count))) return false;
        return std::none_of(p + 2, end,
                            [this](std::uint32_t q) { return accepts(q, s_.class_count); });
    }

    // The elements that a character leads to. The range is valid until the next call.
    ElementRange step(std::uint32_t element, std::uint32_t class_) {
        const std::size_t at = std::size_t(element) * s_.class_count + class_;
        if (at >= steps_.size()) steps_.resize(2 * at + s_.class_count);
        if (!steps_[at].is_known) {
            const auto begin = static_cast<std::uint32_t>(reached_.size());
            find_step(element, class_);
            steps_[at] = {begin, static_cast<std::uint32_t>(reached_.size()), true};
        }
        return {reached_.data() + steps_[at].begin, reached_.data() + steps_[at].end};
    }

private:
    bool accepts(std::uint32_t q, std::uint32_t class_) const {
        return tokexport::accepts(s_, q, class_);
    }
    std::uint32_t next(std::uint32_t q, std::uint32_t class_) const {
        return next_state(s_, q, class_);
    }
    std::uint32_t number(const Elements &element) { return elements_.intern(element); }

    // Adds an element with the matches passed.
    void reach(std::uint32_t where, std::uint32_t ended) {
        scratch_.assign({where, ended});
        scratch_.insert(scratch_.end(), passed_.begin(), passed_.end());
        reached_.push_back(number(scratch_));
    }

    void find_step(std::uint32_t element, std::uint32_t class_) {
        const std::uint32_t *from = elements_.begin(element), *end = elements_.end(element),
                            where = from[0], ended = from[1];
        passed_.clear();
        const auto pass = [&](std::uint32_t q) {
            const std::uint32_t to = next(q, class_);
            const auto place = std::lower_bound(passed_.begin(), passed_.end(), to);
            if (live_[to] && (place == passed_.end() || *place != to)) passed_.insert(place, to);
        };
        for (const std::uint32_t *q = from + 2; q < end; q++) {
            if (accepts(*q, class_)) return;
            pass(*q);
        }
        if (ended) {
            if (!accepts(ended, class_)) return;
            pass(ended);
        }
        if (is_gap(where)) {  // the character is in a gap: no match may begin with it
            pass(s_.start);
            reach(joined_gap, 0);
            reach(match_after_gap_, 0);
            return;
        }
        const std::uint32_t q = next(is_match_start(where) ? s_.start : where, class_);
        if (!live_[q] || std::binary_search(passed_.begin(), passed_.end(), q)) return;
        reach(q, 0);
        reach(after_match_, q);
        reach(gap_after_match_, q);
    }

    struct Step {
        std::uint32_t begin = 0, end = 0;
        bool is_known = false;
    };

    const tkx_stage &s_;
    std::uint32_t after_match_, gap_after_match_, match_after_gap_;
    std::vector<std::uint8_t> live_;  // [state]: it may still accept
    Interner elements_;
    Elements starts_, scratch_, passed_;
    std::vector<Step> steps_;  // [element * class_count + class]: where in `reached_`
    Elements reached_;
};

// The elements of all stages: tuples with one element per stage.
class Sequence {
public:
    Sequence(const tkx &file, const std::vector<std::vector<std::uint8_t>> &classes)
        : classes_(classes) {
        for (std::uint32_t i = 0; i < file.stage_count; i++) stages_.emplace_back(file.stages[i]);
    }

    std::size_t size() const { return elements_.size(); }

    Elements starts() {
        found_.clear();
        tuple_.assign(stages_.size(), 0);
        add_starts(0);
        return found_;
    }

    const Elements &step(std::uint32_t element, std::uint32_t class_) {
        from_.assign(elements_.begin(element), elements_.end(element));
        tuple_.assign(stages_.size(), 0);
        found_.clear();
        add_steps(0, class_, false);
        return found_;
    }

    bool cuts(std::uint32_t element) const {
        for (std::size_t i = 0; i < stages_.size(); i++)
            if (stages_[i].cuts(elements_.begin(element)[i])) return true;
        return false;
    }
    bool ends(std::uint32_t element) const {
        for (std::size_t i = 0; i < stages_.size(); i++)
            if (!stages_[i].ends(elements_.begin(element)[i])) return false;
        return true;
    }
    std::uint32_t where(std::uint32_t element, std::size_t stage) const {
        return stages_[stage].where(elements_.begin(element)[stage]);
    }

private:
    void add_starts(std::size_t stage) {
        if (stage == stages_.size()) {
            found_.push_back(elements_.intern(tuple_));
            return;
        }
        for (std::uint32_t start : stages_[stage].starts()) {
            tuple_[stage] = start;
            add_starts(stage + 1);
        }
    }

    // At a cut of a stage, the texts of all later stages end, and their next texts begin.
    void add_steps(std::size_t stage, std::uint32_t class_, bool is_cut) {
        if (stage == stages_.size()) {
            found_.push_back(elements_.intern(tuple_));
            return;
        }
        Stage &s = stages_[stage];
        const ElementRange reached = s.step(from_[stage], classes_[class_][stage]);
        if (is_cut) {
            if (std::none_of(reached.begin(), reached.end(),
                             [&](std::uint32_t element) { return s.ends(element); }))
                return;
            for (std::uint32_t start : s.starts()) {
                tuple_[stage] = start;
                add_steps(stage + 1, class_, true);
            }
            return;
        }
        for (std::uint32_t element : reached) {
            tuple_[stage] = element;
            add_steps(stage + 1, class_, s.cuts(element));
        }
    }

    const std::vector<std::vector<std::uint8_t>> &classes_;
    std::vector<Stage> stages_;
    Interner elements_;
    Elements from_, tuple_, found_;
};

// Removes the elements from which no text can reach its end.
void prune(ElementGraph &graph) {
    const std::uint32_t count = static_cast<std::uint32_t>(graph.cuts.size());
    std::vector<std::uint8_t> useful = graph.ends;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t element = count; element-- > 0;) {
            if (useful[element]) continue;
            const std::uint32_t *last = graph.end(element, graph.class_count - 1);
            for (const std::uint32_t *p = graph.begin(element, 0); p < last; p++)
                useful[element] |= useful[*p];
            changed |= useful[element];
        }
    }
    std::uint32_t kept = 0, from = 0;
    for (std::size_t i = 1; i < graph.offsets.size(); i++) {
        const bool is_source_useful = useful[(i - 1) / graph.class_count];
        for (; from < graph.offsets[i]; from++)
            if (is_source_useful && useful[graph.successors[from]])
                graph.successors[kept++] = graph.successors[from];
        graph.offsets[i] = kept;
    }
    graph.successors.resize(kept);
    const auto is_useless = [&](std::uint32_t element) { return !useful[element]; };
    graph.starts.erase(std::remove_if(graph.starts.begin(), graph.starts.end(), is_useless),
                       graph.starts.end());
}

}  // namespace

bool has_elements(const tkx &file) {
    for (std::uint32_t i = 0; i < file.stage_count; i++) {
        const tkx_stage &s = file.stages[i];
        if (s.labels || s.start_varies) return false;
        if (s.flags & (on_bytes | rewrite | empty_matches | search_starts)) return false;
        if (s.behavior == removed && !(s.flags & invert)) return false;
    }
    return file.stage_count > 0;
}

bool make_elements(const tkx &file, const std::vector<std::vector<std::uint8_t>> &classes,
                   ElementGraph &graph) {
    Sequence sequence(file, classes);
    graph.class_count = static_cast<std::uint32_t>(classes.size());
    graph.starts = sequence.starts();
    graph.offsets = {0};
    for (std::uint32_t element = 0; element < sequence.size(); element++) {
        if (element == max_elements || graph.successors.size() > max_successors) return false;
        graph.cuts.push_back(sequence.cuts(element));
        graph.ends.push_back(sequence.ends(element));
        for (std::uint32_t c = 0; c < graph.class_count; c++) {
            const Elements &reached = sequence.step(element, c);
            graph.successors.insert(graph.successors.end(), reached.begin(), reached.end());
            graph.offsets.push_back(static_cast<std::uint32_t>(graph.successors.size()));
        }
    }
    prune(graph);
    // A stage that drops gaps is supported only if it never has any.
    for (std::uint32_t i = 0; i < file.stage_count; i++) {
        if (file.stages[i].behavior != removed) continue;
        const auto drops = [&](std::uint32_t element) {
            return is_gap(sequence.where(element, i));
        };
        if (std::any_of(graph.starts.begin(), graph.starts.end(), drops) ||
            std::any_of(graph.successors.begin(), graph.successors.end(), drops))
            return false;
    }
    return true;
}

}  // namespace tokexport
