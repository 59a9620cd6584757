// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// Merging pre-tokens by their characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "engine.h"
#include "engine/bridge/bridge.h"
#include "engine/merges/character_table.h"
#include "engine/merges/pair_table.h"
#include "engine/merges/short_merges.h"
#include "engine/words/word_cache.h"

namespace tokexport {

// Cuts a pre-token that is not ASCII where no merge crosses, and merges the fragments. For Chinese
// and Japanese, after the split: 29 and 36 ns a byte -> 10. Four of five fragments of Chinese are
// one character (cl100k), whose symbol is in a table.
class CharacterWords {
public:
    CharacterWords(const Engine &engine, WordCache &cache)
        : engine_(engine),
          pairs_(engine.pairs),
          cache_(cache) {}

    // Whether to merge a pre-token of this size so: the tables pay off after some kilobytes of text
    // that is not ASCII.
    bool is_worth_it(std::size_t size) {
        if (characters_) return true;
        seen_ += size;
        if (seen_ >= enough) begin();
        return characters_ != nullptr;
    }

    // How many ids after the last one may be overwritten.
    static constexpr std::size_t spare = 8;

    // Fragments to be merged together later, in the order of their ids.
    struct Later {
        ShortWord *words;
        std::size_t count, capacity;

        bool takes(std::size_t symbols) const {
            return symbols <= ShortWord::most_symbols && count < capacity;
        }

        // Adds a word, or a fragment whose `symbols` symbols are at `ids`; the key of a fragment is
        // that of its bytes, with `part`, or 0. Returns how many ids it has room for.
        std::size_t add(const WordKey &key, std::uint32_t *ids, std::size_t symbols = 0) {
            words[count] = {key, ids, static_cast<std::uint32_t>(symbols), 0};
            return words[count++].room();
        }
    };

    // Adds the ids of a fragment to the cache, if its key is that of a part.
    void add_part(const WordKey &key, const std::uint32_t *ids, std::size_t count) {
        if (key.b & WordKey::part && count <= WordSlot::most_inline)
            cache_.insert(key, nullptr, 0, ids, count);
    }

    // Like tkx_bulk_merge, except that fragments to be merged later are written as symbols; merging
    // may leave fewer ids. If `later` is null, there are no such fragments.
    int merge(tkx_context *ctx, const std::uint8_t *bytes, std::size_t size, std::uint32_t *ids,
              std::size_t *count, Later *later);

private:
    static constexpr std::size_t window = 64;

    struct Free {
        void operator()(void *memory) const { std::free(memory); }
    };

    void begin();
    std::size_t read(const std::uint8_t *bytes, const std::uint8_t *end);
    void find_pairs();
    void merge_two(std::size_t first);
    void merge_three(std::size_t first);
    bool write_known(const std::uint8_t *bytes);
    int merge_parts(tkx_context *ctx, const std::uint8_t *bytes, std::size_t first,
                    std::size_t last, Later *later);

    static constexpr std::size_t enough = 4096;

    const Engine &engine_;
    const PairTable &pairs_;
    const CharacterTable *characters_ = nullptr;
    std::size_t seen_ = 0;
    WordCache &cache_;
    // By code point that `symbol` knows: the two or three ids of a character without a symbol, 21
    // bits each, the first lowest, no_id if there is no third; 0 until computed on demand.
    std::unique_ptr<std::uint64_t[], Free> known_;
    // The characters of the window: their symbols, their offsets in the pre-token, and the slots of
    // the pairs with the next one, where crossed. Then bit sets: in the first two, bit i is the
    // boundary between characters i and i + 1.
    std::uint32_t symbols_[window + 3], starts_[window + 1];
    const PairTable::Slot *slots_[window];
    std::uint64_t crossed_ = 0, crossed_in_part_ = 0, no_symbol_ = 0;
    std::uint32_t *ids_ = nullptr;  // where the next id goes
};

}  // namespace tokexport
