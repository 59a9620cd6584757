#include "engine.h"

#include <utility>

#include "bridge.h"

namespace tokexport {

std::unique_ptr<const Engine> Engine::make(const tkx &file) {
    if (!tkx_bulk_is_byte_level(&file)) return nullptr;
    std::unique_ptr<const Splitter> splitter = Splitter::make(file);
    if (!splitter) return nullptr;
    PairTable pairs;
    if (!pairs.fill(file)) return nullptr;
    return std::make_unique<const Engine>(file, std::move(splitter), std::move(pairs));
}

const CharacterTable *Engine::characters() const {
    std::call_once(characters_once_, [this] {
        auto made = std::make_unique<CharacterTable>();
        if (made->fill(file, pairs)) characters_ = std::move(made);
    });
    return characters_.get();
}

}  // namespace tokexport
