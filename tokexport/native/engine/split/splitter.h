// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Where the pre-tokens of a text end, several times as fast as stage by stage.
//
// The stages of a file become one automaton of 13 to 28 states (split_machine.h), derived from its
// tables at load in at most about 1 ms. Its steps do not depend on where the previous match ended,
// so it runs in several parts of a chunk of text at once; classes, verdicts and ends are computed
// with vectors if the processor has them (split_chunk.h). The result is exactly that of SPEC.md
// 3.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "split_chunk.h"
#include "split_classes.h"
#include "split_cuts.h"
#include "split_machine.h"
#include "tokexport.h"

namespace tokexport {

// Derived from an open file. Immutable, and shared by threads.
class Splitter {
public:
    // Null if the file's stages are not supported: they rewrite the text, drop a part of it, read
    // bytes or labels, match the empty text, or look at the character before a match; or their
    // machine would be too large.
    static std::unique_ptr<const Splitter> make(const tkx &file) { return make_up_to(file, 512); }

    // For tests: with the widest vectors that the processor has, up to this width.
    static std::unique_ptr<const Splitter> make_up_to(const tkx &file, unsigned width);

    // For tests: with vectors of this width (split_steps), which the processor must support.
    static std::unique_ptr<const Splitter> make(const tkx &file, unsigned width);

    // The same as SplitCuts::last_cut.
    std::size_t last_cut(const std::uint8_t *text, std::size_t size) const {
        return cuts_.last_cut(classes_, text, size);
    }

    const SplitClasses &classes() const { return classes_; }

private:
    friend class SplitRun;

    SplitClasses classes_;
    SplitCuts cuts_;
    SplitMachine machine_;
    const SplitSteps *steps_ = nullptr;
};

// A part of a text that is one pre-token, in bytes: the text before it and the text after it are
// split as two texts.
struct TokenSpan {
    std::uint32_t from, to;
};

// Splits one text: valid UTF-8 of less than 4 GB. The splitter and the text must outlive it.
class SplitRun {
public:
    // The room that `ends` must have.
    static constexpr std::size_t block = split_chunk_size + 64;

    // `tokens`: in ascending order, none empty. A splitter of a file without added tokens of white
    // space takes none.
    SplitRun(const Splitter &splitter, const std::uint8_t *text, std::size_t size,
             const TokenSpan *tokens = nullptr, std::size_t token_count = 0);

    // Writes offsets from `text` where the next pre-tokens end, in ascending order; the last one of
    // the text is `size`. Returns how many; 0 when there are no more.
    std::size_t next(std::uint32_t *ends);

private:
    void end_before_tokens(std::size_t size);
    void cut_at_tokens(std::size_t size);
    const std::uint8_t *text_end(const std::uint8_t *at) const;
    void judge(bool is_last);
    void judge_parts(std::size_t count);
    std::uint32_t judge_part(std::uint32_t state, std::size_t from, std::size_t to);
    void resolve();
    std::uint32_t decide_in_chunk(std::size_t character, std::uint32_t decision) const;
    std::uint32_t decide(const std::uint8_t *at, std::uint32_t decision);

    const Splitter &splitter_;
    const std::uint8_t *const text_, *const end_;
    const std::uint8_t *at_;   // where the chunk begins
    std::uint32_t state_ = 0;  // the machine's, after the first character of the chunk
    const TokenSpan *token_;   // the first one that ends in or after the chunk
    const TokenSpan *const tokens_end_;

    // The results of decisions that read beyond a block of `known_step` bytes: at the first
    // character that begins in a block, for each decision state: 0 unknown, 1 no cut, 2 a cut.
    static constexpr std::size_t known_step = 256;
    std::vector<std::uint8_t> known_;
    std::size_t known_from_ = 0;  // the index of the first row
    std::vector<std::size_t> trail_;

    SplitChunk chunk_;
};

}  // namespace tokexport
