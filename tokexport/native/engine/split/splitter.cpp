// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "splitter.h"

#include <algorithm>
#include <cstring>

#include "engine/bridge/bridge.h"
#include "engine/eight_bytes.h"

#if defined(__GNUC__)
#define SPLIT_UNROLL _Pragma("GCC unroll 8")
#else
#define SPLIT_UNROLL
#endif

namespace tokexport {

namespace {

// How many characters before its first one a part of a chunk reads, from the state at the beginning
// of a text: after them, it is nearly always in the state in which the part before ends.
constexpr std::size_t warm_up = 16;

constexpr std::size_t parts = 6;

// A chunk of fewer characters is not divided into parts.
constexpr std::size_t min_parts = 128;
static_assert(min_parts / parts >= warm_up, "a part begins after its first characters");

// How many codes are read to decide an undecided boundary.
constexpr std::size_t near_codes = 256;

std::size_t length_of(std::uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// Computes `count` verdicts from each state, at codes that are `size` apart, and leaves the states
// after them. The loops over the parts are unrolled so that `rows` is in registers.
void step_parts(const std::uint32_t *entries, std::size_t stride, const std::uint8_t *codes,
                std::size_t size, std::size_t count, std::uint8_t *verdicts,
                std::uint32_t (&states)[parts]) {
    std::size_t rows[parts];
    for (std::size_t k = 0; k < parts; k++) rows[k] = states[k] * stride;
    for (std::size_t i = 0; i < count; i++) {
        SPLIT_UNROLL
        for (std::size_t k = 0; k < parts; k++) {
            const std::uint32_t entry = (entries + codes[i + k * size])[rows[k]];
            verdicts[i + k * size] = static_cast<std::uint8_t>(entry);
            rows[k] = entry >> 16;
        }
    }
    for (std::size_t k = 0; k < parts; k++)
        states[k] = static_cast<std::uint32_t>(rows[k] / stride);
}

// The same with pairs of codes; `size` and `count` are even.
void step_parts_by_pairs(const std::uint32_t *entries, std::size_t stride,
                         const std::uint16_t *pairs, std::size_t size, std::size_t count,
                         std::uint8_t *verdicts, std::uint32_t (&states)[parts]) {
    std::size_t rows[parts];
    for (std::size_t k = 0; k < parts; k++) rows[k] = states[k] * stride;
    for (std::size_t i = 0; i < count; i += 2) {
        SPLIT_UNROLL
        for (std::size_t k = 0; k < parts; k++) {
            const std::uint32_t entry = (entries + pairs[(i + k * size) / 2])[rows[k]];
            const std::uint16_t both = static_cast<std::uint16_t>(entry);
            std::memcpy(verdicts + i + k * size, &both, sizeof both);
            rows[k] = entry >> 16;
        }
    }
    for (std::size_t k = 0; k < parts; k++)
        states[k] = static_cast<std::uint32_t>(rows[k] / stride);
}

// The first byte after `at` that differs from the byte at `at`, at most `limit`.
const std::uint8_t *skip_run(const std::uint8_t *at, const std::uint8_t *limit) {
    const std::uint8_t byte = *at;
    for (at++; limit - at >= 8; at += 8) {
        const std::uint64_t other = load_u64(at) ^ byte * low_bits;
        if (other) return at + lowest_bit(other) / 8;
    }
    while (at < limit && *at == byte) at++;
    return at;
}

}  // namespace

std::unique_ptr<const Splitter> Splitter::make_up_to(const tkx &file, unsigned width) {
    for (const unsigned known : {512u, 256u, 128u})
        if (known <= width && split_steps(known)) return make(file, known);
    return make(file, 0);
}

std::unique_ptr<const Splitter> Splitter::make(const tkx &file, unsigned width) {
    auto splitter = std::make_unique<Splitter>();
    splitter->steps_ = split_steps(width);
    if (!splitter->steps_ || !has_elements(file) || !make_classes(file, splitter->classes_))
        return nullptr;
    const bool has_inner_ends =
        tkx_bulk_has_space_tokens(&file, 0) || tkx_bulk_has_space_tokens(&file, 1);
    ElementGraph graph;
    if (!make_elements(file, splitter->classes_.of_stages, graph) ||
        !make_machine(graph, has_inner_ends, splitter->machine_))
        return nullptr;
    splitter->cuts_.fill(splitter->machine_);
    return splitter;
}

SplitRun::SplitRun(const Splitter &splitter, const std::uint8_t *text, std::size_t size,
                   const TokenSpan *tokens, std::size_t token_count)
    : splitter_(splitter),
      text_(text),
      end_(text + size),
      at_(text),
      token_(tokens),
      tokens_end_(tokens + token_count) {}

std::size_t SplitRun::next(std::uint32_t *ends) {
    const SplitMachine &machine = splitter_.machine_;
    while (at_ < end_) {
        std::size_t size = static_cast<std::size_t>(end_ - at_), length;
        const bool is_last = size <= split_chunk_size;
        if (!is_last) {
            size = split_chunk_size;
            while ((at_[size] & 0xC0) == 0x80) size--;
        }
        splitter_.steps_->read(splitter_.classes_, at_, size, chunk_);
        chunk_.codes[chunk_.count] = is_last ? static_cast<std::uint8_t>(machine.class_count)
                                             : splitter_.classes_.read(at_ + size, length);
        if (token_ < tokens_end_) end_before_tokens(size);
        if (at_ == text_) state_ = (machine.entries[chunk_.codes[0]] >> 16) / machine.stride();
        judge(is_last);
        if (token_ < tokens_end_) cut_at_tokens(size);
        if (at_ == text_) chunk_.verdicts[0] = 0;  // no pre-token ends before the first character
        splitter_.steps_->mark(chunk_);
        resolve();
        std::size_t count =
            splitter_.steps_->harvest(chunk_, static_cast<std::uint32_t>(at_ - text_), ends);
        at_ += size;
        if (is_last) ends[count++] = static_cast<std::uint32_t>(at_ - text_);
        if (count) return count;
    }
    return 0;
}

// Gives the characters of tokens, in the chunk of this size and directly after it, the code of the
// end of a text: the machine is at the beginning of a text after it.
void SplitRun::end_before_tokens(std::size_t size) {
    const std::size_t from = static_cast<std::size_t>(at_ - text_), to = from + size;
    while (token_ < tokens_end_ && token_->to < from) token_++;
    for (const TokenSpan *token = token_; token < tokens_end_ && token->from <= to; token++) {
        const std::size_t first = splitter_.steps_->character(
                              chunk_, std::max<std::size_t>(token->from, from) - from),
                          last = splitter_.steps_->character(
                              chunk_, std::min<std::size_t>(token->to, to) - from);
        std::memset(chunk_.codes + first, static_cast<int>(splitter_.machine_.class_count),
                    last - first + (token->to > to));
    }
}

// Makes the boundaries of tokens in the chunk cuts. The machine leaves those inside tokens alone.
void SplitRun::cut_at_tokens(std::size_t size) {
    const std::size_t from = static_cast<std::size_t>(at_ - text_), to = from + size;
    for (const TokenSpan *token = token_; token < tokens_end_ && token->from < to; token++) {
        if (token->from >= from)
            chunk_.verdicts[splitter_.steps_->character(chunk_, token->from - from)] = cut;
        if (token->to >= from && token->to < to)
            chunk_.verdicts[splitter_.steps_->character(chunk_, token->to - from)] = cut;
    }
}

// The end of the text at `at`: the beginning of the next token or the end.
const std::uint8_t *SplitRun::text_end(const std::uint8_t *at) const {
    const TokenSpan *const next = std::lower_bound(
        token_, tokens_end_, static_cast<std::size_t>(at - text_),
        [](const TokenSpan &token, std::size_t offset) { return token.from < offset; });
    return next < tokens_end_ ? text_ + next->from : end_;
}

// Fills the verdicts of the chunk. The verdict on the boundary before a character comes with the
// code of the next character, or of the end of the text.
void SplitRun::judge(bool is_last) {
    const SplitMachine &machine = splitter_.machine_;
    const std::size_t count = chunk_.count - is_last;
    if (count < min_parts) state_ = judge_part(state_, 0, count);
    else judge_parts(count);
    if (is_last)
        chunk_.verdicts[count] = static_cast<std::uint8_t>(
            machine.entries[state_ * machine.stride() + machine.class_count]);
}

// Computes the verdicts [0, count) in several parts at once: a step waits for the previous step of
// its own part only. Each part except the first begins in a state that is only likely, and is
// repeated if the part before it ends in a different state.
void SplitRun::judge_parts(std::size_t count) {
    const SplitMachine &machine = splitter_.machine_;
    const std::size_t size = ((count + parts - 1) / parts + 1) & ~std::size_t(1);
    const std::size_t together = (count - (parts - 1) * size) & ~std::size_t(1);
    std::uint32_t starts[parts] = {}, states[parts];
    for (std::size_t i = 0; i <= warm_up; i++) {
        SPLIT_UNROLL
        for (std::size_t k = 1; k < parts; k++)
            starts[k] = machine.entries[starts[k] + chunk_.codes[k * size - warm_up + i]] >> 16;
    }
    for (std::size_t k = 1; k < parts; k++) starts[k] /= machine.stride();
    starts[0] = state_;
    std::copy(starts, starts + parts, states);
    if (machine.pairs.empty()) {
        step_parts(machine.entries.data(), machine.stride(), chunk_.codes + 1, size, together,
                   chunk_.verdicts, states);
    } else {
        splitter_.steps_->pair(chunk_, count, machine.pair_base);
        step_parts_by_pairs(machine.pairs.data(), machine.pair_base * machine.pair_base,
                            chunk_.pairs, size, together, chunk_.verdicts, states);
    }
    for (std::size_t k = 0; k < parts; k++) {
        const std::size_t from = k * size, to = std::min(count, from + size);
        const bool is_right = k == 0 || states[k - 1] == starts[k];
        states[k] = is_right ? judge_part(states[k], from + together, to)
                             : judge_part(states[k - 1], from, to);
    }
    state_ = states[parts - 1];
}

// Computes the verdicts [from, to), beginning in `state`; returns the state after them.
std::uint32_t SplitRun::judge_part(std::uint32_t state, std::size_t from, std::size_t to) {
    const SplitMachine &machine = splitter_.machine_;
    const std::uint32_t *entries = machine.entries.data();
    std::uint32_t row = state * machine.stride();
    for (std::size_t i = from; i < to; i++) {
        const std::uint32_t entry = entries[row + chunk_.codes[i + 1]];
        chunk_.verdicts[i] = static_cast<std::uint8_t>(entry);
        row = entry >> 16;
    }
    return row / machine.stride();
}

// Decides the undecided boundaries of the chunk. For most of them the next codes are enough; for
// the others, the text is read.
void SplitRun::resolve() {
    for (std::size_t i = 0; 64 * i < chunk_.count; i++) {
        for (std::uint64_t open = chunk_.undecided[i]; open; open &= open - 1) {
            const std::size_t character = 64 * i + lowest_bit(open);
            const std::uint32_t first = chunk_.verdicts[character] >> decision_shift;
            std::uint32_t decision = decide_in_chunk(character + 2, first);
            if (decision >= first_open_decision) {
                const std::uint8_t *at = at_ + splitter_.steps_->position(chunk_, character);
                at += length_of(*at);
                at += length_of(*at);
                decision = decide(at, first);
            }
            chunk_.cuts[i] |= std::uint64_t(decision == is_cut) << lowest_bit(open);
        }
    }
}

// Reads codes from a character on until the decision is made, and returns its state. Stops after
// near_codes of them, and at the end of the chunk.
std::uint32_t SplitRun::decide_in_chunk(std::size_t character, std::uint32_t decision) const {
    const std::uint16_t *decisions = splitter_.machine_.decisions.data();
    const std::size_t stride = splitter_.machine_.stride();
    const std::uint8_t *code = chunk_.codes + character;
    const std::uint8_t *const end =
        chunk_.codes + std::min(chunk_.count + 1, character + near_codes);
    while (code < end && decision >= first_open_decision) {
        const std::uint32_t next = decisions[decision * stride + *code];
        code = next == decision ? skip_run(code, end) : code + 1;
        decision = next;
    }
    return decision;
}

// Reads text from `at` on until the decision is made. A pattern may leave many boundaries undecided
// until a character at any distance: results on the way are stored, so that every text takes
// linear time.
std::uint32_t SplitRun::decide(const std::uint8_t *at, std::uint32_t decision) {
    const SplitMachine &machine = splitter_.machine_;
    const std::size_t stride = machine.stride();
    const std::size_t row_size = machine.decisions.size() / stride;
    const std::uint8_t *const end = text_end(at);
    const auto row_of = [&](const std::uint8_t *p) {
        return (static_cast<std::size_t>(p - text_) + known_step - 1) / known_step;
    };
    std::size_t row = row_of(at);
    trail_.clear();
    while (decision >= first_open_decision) {
        const std::uint32_t before = decision;
        std::size_t length = 0;
        if (at == end) {
            decision = machine.decisions[decision * stride + machine.class_count];
            break;
        }
        if (static_cast<std::size_t>(at - text_) >= row * known_step) {
            if (trail_.empty() && row * row_size >= known_from_ * row_size + known_.size()) {
                known_.clear();
                known_from_ = row;
            }
            const std::size_t place = (row - known_from_) * row_size + decision;
            if (place < known_.size() && known_[place]) {
                decision = known_[place] - 1u;
                break;
            }
            trail_.push_back(place);
            row++;
        }
        decision = machine.decisions[decision * stride + splitter_.classes_.read(at, length)];
        if (decision == before && length == 1) {
            at = skip_run(
                at, text_ + std::min(row * known_step, static_cast<std::size_t>(end - text_)));
        } else {
            at += length;
        }
    }
    for (std::size_t place : trail_) {
        if (known_.size() <= place) known_.resize((place / row_size + 1) * row_size);
        known_[place] = static_cast<std::uint8_t>(decision + 1);
    }
    return decision;
}

}  // namespace tokexport
