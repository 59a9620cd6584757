#include "engine.h"

#include <utility>

#include "bridge.h"

namespace tokexport {

std::unique_ptr<const Engine> Engine::make(const tkx &file) {
    if (!tkx_bulk_is_byte_level(&file)) return nullptr;
    std::unique_ptr<const Splitter> splitter = Splitter::make(file);
    if (!splitter) return nullptr;
    PairTable pairs;
    CharacterTable characters;
    if (!pairs.fill(file) || !characters.fill(file, pairs.byte_ids())) return nullptr;
    return std::make_unique<const Engine>(file, std::move(splitter), std::move(pairs),
                                          std::move(characters));
}

}  // namespace tokexport
