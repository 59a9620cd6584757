// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// What the bulk engine derives from a file: built once, then read by all threads.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "engine/merges/character_symbols.h"
#include "engine/merges/character_table.h"
#include "engine/merges/pair_table.h"
#include "engine/merges/short_merges.h"
#include "engine/split/crossing_splitter.h"
#include "engine/split/splitter.h"
#include "engine/split/word_stages.h"
#include "engine/words/token_words.h"
#include "engine/words/word_block.h"
#include "score_sum.h"
#include "tokexport.h"

namespace tokexport {

class Engine {
public:
    static constexpr unsigned widest = 512;

    // Null if the engine does not support the file, which must outlive the engine. Uses vectors of
    // at most `width` bits that the processor supports.
    static std::unique_ptr<const Engine> make(const tkx &file, unsigned width);

    const tkx &file;
    const PairTable pairs;
    const MergeShortWords merge_short_words;
    const WordLookup word_lookup;
    // BPE over characters uses these two, Unigram in single precision the next two, all other files
    // the splitter.
    std::unique_ptr<const CharacterSymbols> symbols;
    std::unique_ptr<const CrossingSplitter> crossings;
    std::unique_ptr<const ScoreSum> sum;
    std::unique_ptr<const Splitter> splitter;
    std::unique_ptr<const WordStages> words;        // null for BPE over bytes or characters
    std::unique_ptr<const TokenWords> token_words;  // null unless BPE over bytes has some
    bool has_light_normalizer = false;              // bridge.h
    bool has_space_tokens[2] = {};                  // bridge.h

    // Built on demand: it takes 0.3 to 3 ms, and most English does not need it. Null if there is
    // none for this file, for instance if XPRS does not say that characters are merged first.
    const CharacterTable *characters() const;

    // The last offset, in or before the last byte of a segment (bridge.h) or of a part of one that
    // begins with a character, where a cut changes no id; 0: none.
    std::size_t last_cut_of_segment(const std::uint8_t *text, std::size_t size) const {
        if (crossings) return crossings->last_cut(text, size);
        std::size_t at = splitter->last_cut(text, size);
        while (words && at && words->joins_space(text + at)) at = splitter->last_cut(text, at);
        return at;
    }

    // Whether texts can be cut where the right side is a rest (bridge.h); `special`: if special
    // tokens are found in them.
    bool can_cut(bool special) const;

    // For such a file: the last offset, in or before the last byte of a valid UTF-8 text, where a
    // cut changes no id; 0: none.
    std::size_t last_cut(const char *text, std::size_t size) const;

    Engine(const tkx &f, PairTable p, unsigned width)
        : file(f),
          pairs(std::move(p)),
          merge_short_words(short_word_merger(width)),
          word_lookup(tokexport::word_lookup(width)) {}

private:
    mutable std::once_flag characters_once_;
    mutable std::unique_ptr<const CharacterTable> characters_;
};

}  // namespace tokexport
