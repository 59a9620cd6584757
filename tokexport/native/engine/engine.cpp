// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "engine.h"

#include <utility>

#include "engine/bridge/bridge.h"

namespace tokexport {

std::unique_ptr<const Engine> Engine::make(const tkx &file, unsigned width) {
    std::unique_ptr<const Splitter> splitter;
    std::unique_ptr<const CrossingSplitter> crossings = CrossingSplitter::make(file);
    std::unique_ptr<const ScoreSum> sum = ScoreSum::make(file);
    std::unique_ptr<const WordStages> words;
    PairTable pairs;
    if (sum) {
        crossings = CrossingSplitter::of_cuts(file);
    } else if (crossings) {
        if (!pairs.fill(file)) return nullptr;
    } else {
        if (tkx_bulk_is_byte_level(&file)) splitter = Splitter::make_up_to(file, width);
        if (splitter && (!pairs.fill(file) || pairs.tied_symbol() != PairTable::no_id))
            return nullptr;
        if (!splitter) words = WordStages::make(file, width, splitter);
        if (!splitter) return nullptr;
    }
    auto made = std::make_unique<Engine>(file, std::move(pairs), width);
    if (crossings && !sum) {
        made->symbols = std::make_unique<CharacterSymbols>(file, made->pairs);
        made->has_light_normalizer = tkx_bulk_has_light_normalizer(&file) != 0;
    }
    for (const int normalized : {0, 1})
        made->has_space_tokens[normalized] = !sum && tkx_bulk_has_space_tokens(&file, normalized);
    // Another form of a token may be, or have, white space.
    if (splitter && !words && tkx_bulk_tokens_are_verbatim(&file))
        made->token_words = TokenWords::make(file);
    made->splitter = std::move(splitter);
    made->crossings = std::move(crossings);
    made->words = std::move(words);
    made->sum = std::move(sum);
    return made;
}

bool Engine::can_cut(bool special) const {
    return has_light_normalizer && tkx_bulk_can_cut(&file, special);
}

std::size_t Engine::last_cut(const char *text, std::size_t size) const {
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text);
    do size = crossings->last_cut(bytes, size);
    while (size && !tkx_bulk_is_outside_tokens(&file, bytes, size));
    return size;
}

const CharacterTable *Engine::characters() const {
    std::call_once(characters_once_, [this] {
        auto made = std::make_unique<CharacterTable>();
        if (file.cuts_bytes && made->fill(file, pairs)) characters_ = std::move(made);
    });
    return characters_.get();
}

}  // namespace tokexport
