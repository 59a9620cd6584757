// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The sum of scores that runs through a text, for SentencePiece's Unigram (bridge.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tokexport.h"
#include "unknown_texts.h"

struct tkx_context;

namespace tokexport {

// Adds the scores of ids that are known, as the core does while it looks for them: with rounding,
// and with a reset where the sum at any position, also inside a token, passes a limit.
class ScoreSum {
public:
    // Null if the file has no such sum, or if a token has a space after its first byte.
    static std::unique_ptr<const ScoreSum> make(const tkx &file);

    // Adds ids of stable parts (tkx_bulk_encode_part). Returns a code.
    int add(tkx_context *ctx, const UnknownTexts &unknown, float &sum, const std::uint32_t *ids,
            std::size_t count) const;

private:
    explicit ScoreSum(const tkx &file) : file_(file) {}

    float score(std::uint32_t id) const;
    // Words begin with a space: no token crosses their start.
    bool begins_word(std::uint32_t id) const;
    const std::uint32_t *add_word(tkx_context *ctx, const UnknownTexts &unknown, float &sum,
                                  const std::uint32_t *ids, const std::uint32_t *end,
                                  int &code) const;
    void add_unknown(float &sum, std::uint32_t characters) const;
    void add_all(const UnknownTexts &unknown, float &sum, const std::uint32_t *ids,
                 const std::uint32_t *end) const;

    const tkx &file_;
    double unknown_ = 0;    // the score of an unknown character
    float largest_ = 0;     // a character changes the sum by at most this
    float near_limit_ = 0;  // above this, the sum may pass the limit within a token
};

}  // namespace tokexport
