// What the bulk engine derives from a file: made once, then read by all threads.
#pragma once

#include <memory>
#include <utility>

#include "character_table.h"
#include "pair_table.h"
#include "splitter.h"
#include "tokexport.h"

namespace tokexport {

class Engine {
public:
    // Null: not a file that the engine does. `file` must outlive the engine.
    static std::unique_ptr<const Engine> make(const tkx &file);

    const tkx &file;
    const std::unique_ptr<const Splitter> splitter;
    const PairTable pairs;
    const CharacterTable characters;

    Engine(const tkx &f, std::unique_ptr<const Splitter> s, PairTable p, CharacterTable c)
        : file(f), splitter(std::move(s)), pairs(std::move(p)), characters(std::move(c)) {}
};

}  // namespace tokexport
