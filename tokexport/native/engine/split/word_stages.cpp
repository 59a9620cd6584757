// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "word_stages.h"

#include <algorithm>
#include <utility>

#include "engine/bridge/bridge.h"
#include "stage_entries.h"

namespace tokexport {

namespace {

constexpr std::uint32_t dead = 0;  // a state

bool always_accepts(const tkx_stage &s, std::uint32_t state) {
    for (std::uint32_t c = 0; c <= s.class_count; c++)
        if (!accepts(s, state, c)) return false;
    return true;
}

// The classes whose characters are in a match wherever they are, if no other characters ever are:
// as in \s+ or [.,]. Empty for patterns that do not decide so by single characters. Each such
// character is a match by itself, so it does not matter where a longer match ends.
std::vector<std::uint8_t> classes_in_matches(const tkx_stage &s) {
    std::vector<std::uint8_t> in_match(s.class_count), is_reached(s.state_count);
    std::vector<std::uint32_t> states;
    const auto reach = [&](std::uint32_t state) {
        if (!is_reached[state]) states.push_back(state);
        is_reached[state] = 1;
    };
    for (std::uint32_t c = 0; c < s.class_count; c++) {
        const std::uint32_t state = next_state(s, s.start, c);
        in_match[c] = state != dead;
        if (in_match[c] && !always_accepts(s, state)) return {};
        if (in_match[c]) reach(state);
    }
    for (std::size_t i = 0; i < states.size(); i++)
        for (std::uint32_t c = 0; c < s.class_count; c++) {
            const std::uint32_t state = next_state(s, states[i], c);
            if (state == dead) continue;
            if (!in_match[c]) return {};
            reach(state);
        }
    return in_match;
}

}  // namespace

std::unique_ptr<const WordStages> WordStages::make(const tkx &file, unsigned width,
                                                   std::unique_ptr<const Splitter> &splitter) {
    // If the first stage rewrites, the core runs it for the whole segment, before the splitter.
    const std::uint32_t first = file.stage_count && (file.stages[0].flags & rewrite) ? 1 : 0;
    tkx words = file;
    std::copy(file.stages + first, file.stages + file.stage_count, words.stages);
    const std::uint32_t most = file.stage_count - first;
    std::vector<std::uint8_t> dropped;
    if (most && words.stages[0].behavior == removed) {
        tkx_stage &stage = words.stages[0];
        dropped = classes_in_matches(stage);
        const bool keeps_matches = stage.flags & invert;
        if (dropped.empty() && !keeps_matches) return nullptr;
        for (std::uint8_t &is_dropped : dropped) is_dropped ^= keeps_matches;
        if (!dropped.empty()) stage.behavior = isolated;
    }
    for (std::uint32_t count = most; count > 0; count--) {
        words.stage_count = count;
        if (!tkx_bulk_has_words(&file, first + count)) continue;
        splitter = Splitter::make_up_to(words, width);
        if (!splitter) continue;
        std::vector<std::uint8_t> is_dropped;
        for (const std::vector<std::uint8_t> &of_stages : splitter->classes().of_stages)
            is_dropped.push_back(!dropped.empty() && dropped[of_stages[0]]);
        return std::unique_ptr<const WordStages>(
            new WordStages{splitter->classes(), std::move(is_dropped), first + count});
    }
    return nullptr;
}

std::size_t WordStages::join_spaces(const std::uint8_t *text, std::uint32_t start,
                                    std::uint32_t *ends, std::size_t count) const {
    if (!is_dropped[classes.ascii[' ']]) return count;
    const std::uint32_t last = ends[count - 1];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; i++) {  // without a branch: words come in any order
        const std::uint32_t end = ends[i];
        const bool is_space = (end - start == 1) & (text[start] == ' ');
        ends[kept] = end;
        kept += !is_space;
        start = end;
    }
    if (!kept || ends[kept - 1] != last) ends[kept++] = last;
    return kept;
}

}  // namespace tokexport
