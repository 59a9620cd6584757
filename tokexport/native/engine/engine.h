// What the bulk engine derives from a file: made once, then read by all threads.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "character_symbols.h"
#include "character_table.h"
#include "crossing_splitter.h"
#include "pair_table.h"
#include "splitter.h"
#include "tokexport.h"

namespace tokexport {

class Engine {
public:
    static constexpr unsigned widest = 512;

    // Null: not a file that the engine does. `file` must outlive the engine. By vectors of at most
    // `width` bits, as the processor has them.
    static std::unique_ptr<const Engine> make(const tkx &file, unsigned width);

    const tkx &file;
    const PairTable pairs;
    // BPE over bytes has a splitter, BPE over characters the other two.
    std::unique_ptr<const Splitter> splitter;
    std::unique_ptr<const CrossingSplitter> crossings;
    std::unique_ptr<const CharacterSymbols> symbols;
    bool has_light_normalizer = false;  // bridge.h

    // Made when it is first asked for: 0.3 to 3 ms, for which much English has no use. Null: there
    // is none for this file, as where XPRS does not say that characters are merged first.
    const CharacterTable *characters() const;

    // The last place in or before the last byte of a segment (bridge.h), or of a part of one from a
    // character on, where it can be cut so that both sides give its ids; 0: nowhere.
    std::size_t last_cut_of_segment(const std::uint8_t *text, std::size_t size) const {
        return crossings ? crossings->last_cut(text, size) : splitter->last_cut(text, size);
    }

    // Where a text, valid UTF-8, can be cut in or before its last byte so that both sides, the
    // right one as a rest (bridge.h), give its ids; 0: nowhere, or not in such a file.
    std::size_t last_cut(const char *text, std::size_t size) const;

    Engine(const tkx &f, PairTable p) : file(f), pairs(std::move(p)) {}

private:
    mutable std::once_flag characters_once_;
    mutable std::unique_ptr<const CharacterTable> characters_;
};

}  // namespace tokexport
