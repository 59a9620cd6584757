// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Models other than BPE: Unigram (T5, XLM-R), WordPiece (BERT) and the rest; and BPE with stages
// that the splitter does not support (Falcon, CLIP).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "splitter.h"
#include "tokexport.h"

namespace tokexport {

// The first stages of a file, as many as the splitter supports, cut a segment into words. The ids
// of a word depend on its bytes only, so they are cached; for a new word, the core runs the other
// stages and the model.
//
// The first stage may drop its matches or all else (white space): these are words without ids. A
// single space is joined with the next word, as in " word", and skipped before that is encoded, so
// that most words take one lookup.
struct WordStages {
    // Makes the splitter, too. Null if it supports no stage, or if ids depend on other words.
    static std::unique_ptr<const WordStages> make(const tkx &file, unsigned width,
                                                  std::unique_ptr<const Splitter> &splitter);

    // Joins single spaces with the words after them, given where words end, the first of which
    // begins at `start`. The last end stays. Returns the number of ends.
    std::size_t join_spaces(const std::uint8_t *text, std::uint32_t start, std::uint32_t *ends,
                            std::size_t count) const;

    // Whether a space before `at` is joined with the word after it.
    bool joins_space(const std::uint8_t *at) const {
        return at[-1] == ' ' && is_dropped[classes.ascii[' ']];
    }

    // The first byte of a word that is not dropped.
    const std::uint8_t *skip_dropped(const std::uint8_t *p, const std::uint8_t *end) const {
        std::size_t length;
        while (p < end && is_dropped[classes.read(p, length)]) p += length;
        return p;
    }

    const SplitClasses &classes;           // of the splitter
    std::vector<std::uint8_t> is_dropped;  // [class]
    std::uint32_t next;                    // the first stage that the core runs for a word
};

}  // namespace tokexport
