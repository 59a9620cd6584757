// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// The bulk engine in one workspace: from pre-tokens to ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache_sizes.h"
#include "character_words.h"
#include "engine.h"
#include "engine/bridge/bridge.h"
#include "engine/merges/short_merges.h"
#include "engine/split/splitter.h"
#include "engine/words/word_block.h"
#include "engine/words/word_cache.h"
#include "passage_cache.h"

namespace tokexport {

// Encodes segments exactly like the core. Pre-tokens are looked up in the word cache in blocks
// (words/word_block.h). Misses are set aside; when there are enough, they are encoded together, and
// their ids are inserted at their positions.
class Encoder {
public:
    Encoder(const Engine &engine, const CacheSizes &sizes);
    Encoder(const Encoder &) = delete;
    Encoder &operator=(const Encoder &) = delete;

    // Implements tkx_bulk_encode.
    int encode(tkx_context *ctx, tkx_bulk_segment &segment);

    const Engine &engine() const { return engine_; }

    // bridge.h
    bool is_rest = false;

    // Texts that are encoded together: new ones of 300 bytes take 0.7 of the time that they take
    // one by one. With 16 at a time they take 3 to 5 % longer, with 128 as long.
    static constexpr std::size_t most_collected = 64, longest_collected = 2048;

    // Whether the ids of a text do not depend on the one before it.
    bool can_collect() const { return !engine_.sum; }
    // Enough room for the ids of `count` texts of `bytes` bytes.
    static constexpr std::size_t room_to_collect(std::size_t bytes, std::size_t count) {
        return bytes * (1 + most_more_ids) + count + block * (1 + most_more_ids) + spare;
    }
    // Until end_collecting, tkx_encode and the like collect a text instead of encoding it, or fail.
    void begin_collecting() {
        collects_ = true;
        collected_count_ = 0;
    }
    void end_collecting() { collects_ = false; }
    bool collects() const { return collects_; }
    std::size_t collected() const { return collected_count_; }
    // Implement tkx_bulk_collect and tkx_bulk_run_collected.
    bool collect(const tkx_bulk_segment &segment);
    int encode_collected(tkx_context *ctx, std::uint32_t *ids, std::size_t capacity,
                         std::size_t *counts);
    // Implements tkx_bulk_name_unknown.
    std::uint32_t name_unknown(const std::uint8_t *text, std::size_t size) {
        return unknown_.id_of(text, size);
    }

private:
    static constexpr std::size_t block = WordBlock::most;
    // Misses that are encoded together; 128 to 1024 perform the same within 5 %.
    static constexpr std::size_t enough_misses = 256, most_misses = enough_misses + block;
    // Pre-tokens of at least this many bytes are not encoded in blocks; a power of 2.
    static constexpr std::size_t longest = 1024;
    static_assert(TokenWords::most_bytes < longest, "encode_long does not look for them");
    static constexpr std::size_t enough_miss_bytes = std::size_t(1) << 16,
                                 most_miss_bytes =
                                     enough_miss_bytes + block * (longest + most_more_ids);
    // How many ids after the last one may be overwritten: ids are copied without counting.
    static constexpr std::size_t spare = 16;
    // Words and fragments merged together. A fragment of three characters, which gets room for four
    // ids, has at least three bytes.
    static constexpr std::size_t most_short_words = 4096,
                                 most_miss_ids = most_miss_bytes + most_miss_bytes / 3 +
                                                 most_misses * ShortWord::least_room + 4 + spare;

    static constexpr std::uint32_t no_end = ~std::uint32_t(0);

    // The end of a passage in the current run.
    struct PassageEnd {
        std::uint32_t at;  // in bytes from run_
        // The number of ids up to there; until that is known, the number of ids from out_ on,
        // without those of misses.
        std::size_t ids;
        std::size_t misses;  // misses_.total there
    };

    static constexpr std::size_t short_passage = longest_collected;  // bytes, at most
    // Bytes per miss, less than which make a passage costly: English and code have 70 to 100, texts
    // in many scripts 20.
    static constexpr std::size_t costly_bytes_per_miss = 32;
    // Added tokens that are split together with the segments between them.
    static constexpr std::size_t most_tokens = 1024;
    // Passages that are looked up together.
    static constexpr std::size_t most_passages = 16;

    void begin(tkx_context *ctx, std::uint32_t *ids, std::size_t capacity);
    int add_run(const std::uint8_t *text, std::size_t size, std::size_t kind);
    int encode_run(const std::uint8_t *text, std::size_t size, std::size_t kind);
    int encode_with_tokens(std::size_t from, std::size_t to, std::uint32_t id);
    int encode_group();
    int encode_segment(std::size_t size, bool is_spaced);
    int add_token(std::uint32_t id);
    int encode_by_passages(const std::uint8_t *text, std::size_t size, std::size_t kind);
    int encode_passages(const Passage *passages, std::size_t count);
    int encode_segments(const Passage &text);
    int encode_new_passages(const Passage *passages, std::size_t count);
    bool take_passage(const Passage &passage);
    PassageCache &cache_of(const Passage &passage) {
        return passage.size <= short_passage ? short_passages_ : long_passages_;
    }
    std::size_t passage_size(const std::uint8_t *text, std::size_t size, std::size_t kind) const;
    void set_text(std::size_t from);
    void note_passage_end(std::uint32_t start);
    void note_token_end();
    void count_ids_of_passages();
    template <class Run> int encode_pre_tokens(Run run, bool is_spaced);
    int encode_spaced(std::uint32_t end);
    // Whether so many more ids fit, with those of the misses.
    bool has_room(std::size_t count) const {
        return static_cast<std::size_t>(at_ - out_) + misses_.bytes + count + spare <=
               capacity_ - std::min(capacity_, count_);
    }

    int encode_block(std::uint32_t start, const std::uint32_t *ends, std::size_t count);
    int take_waiting();
    int encode_long(std::uint32_t start, std::uint32_t end, bool is_first = false);
    int resolve();
    void release_slots();
    void list_new_misses();
    void find_token_words();
    int merge_bytes();
    int merge_other(Miss &miss, std::uint32_t *ids, CharacterWords::Later &later,
                    std::size_t &long_count);
    int merge_characters();
    int encode_word(const std::uint8_t *bytes, std::size_t size, std::uint32_t *ids,
                    std::size_t capacity, std::size_t *made);
    int encode_words();
    int encode_parts();
    int encode_part(const std::uint8_t *bytes, std::size_t size, bool is_first, std::uint32_t *ids,
                    std::size_t capacity, std::size_t *made, int *is_stable);
    void close_gaps();
    void insert_ids();
    void write_out();

    const Engine &engine_;
    WordCache words_;
    // Storing a document of 300 bytes takes a third of the time in memory already in use, so short
    // passages have 4 MB of their own. The other cache has 16 MB, room for two texts of 3 MB with
    // their ids, and touches two large pages before any hit: with 6 MB new text was 3 % slower.
    PassageCache short_passages_, long_passages_;
    CharacterWords character_words_;
    std::unique_ptr<std::uint32_t[]> ends_, miss_ids_, scratch_;
    Misses misses_{most_misses};
    std::unique_ptr<std::uint32_t[]> new_misses_;  // their numbers
    std::size_t new_count_ = 0;
    std::unique_ptr<tkx_bulk_word[]> queries_;
    std::unique_ptr<ShortWord[]> short_words_;
    std::unique_ptr<LongWord[]> long_words_;
    WordBlock blocks_[2] = {};      // zeroed: elements after the last one are computed, too
    WordBlock *waiting_ = nullptr;  // the block whose ids are not taken yet, or null

    // The current text; text_ is that of the current segment in it.
    tkx_context *ctx_ = nullptr;
    int normalized_ = 0;
    const std::uint8_t *text_ = nullptr, *limit_ = nullptr;
    std::uint32_t *ids_ = nullptr;
    std::size_t capacity_ = 0, count_ = 0;
    // The ids since the last call of resolve, without those of misses, are from out_ up to at_.
    std::uint32_t *out_ = nullptr, *at_ = nullptr;
    UnknownTexts unknown_{engine_.file.id_count, engine_.file.unknown_id};
    float sum_ = 0;  // of the scores of the ids up to out_, if the engine has a sum

    // The current run, the ends of its passages, how many were reached, and for how many of them
    // the ids are counted. next_end_ is the offset of the next end in text_, or no_end.
    const std::uint8_t *run_ = nullptr;
    const std::uint8_t *whole_ = nullptr;  // the text of encode_segments
    std::size_t token_end_ = 0;            // of the added tokens so far, in bytes from run_
    // The text of a group: segments, and added tokens that are pre-tokens (TokenWords).
    std::size_t group_ = 0, group_end_ = 0;  // in bytes from run_; equal if there is none
    std::unique_ptr<TokenSpan[]> tokens_;    // in bytes from group_
    std::size_t token_count_ = 0;
    PassageEnd passage_ends_[std::max(most_passages, most_collected)];
    std::size_t passage_count_ = 0, reached_ends_ = 0, counted_ends_ = 0;
    std::uint32_t next_end_ = no_end;

    struct Collected {
        Passage passage;
        int normalized;
    };
    bool collects_ = false;
    std::unique_ptr<Collected[]> collected_;
    std::size_t collected_count_ = 0;
};

}  // namespace tokexport

// The encoder as the C code names it.
struct tkx_bulk : tokexport::Encoder {
    using Encoder::Encoder;
};
