// The bulk engine in one workspace: from pre-tokens to ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bridge.h"
#include "character_words.h"
#include "engine.h"
#include "passage_cache.h"
#include "short_merges.h"
#include "splitter.h"
#include "word_cache.h"

namespace tokexport {

// Encodes segments, as the core would. Pre-tokens are looked up in the word cache in blocks, in two
// passes: keys and prefetches first, then ids. Those that are not there are set aside; when there
// are enough, they are encoded together, and their ids are put in where they belong.
class Encoder {
public:
    explicit Encoder(const Engine &engine);
    Encoder(const Encoder &) = delete;
    Encoder &operator=(const Encoder &) = delete;

    // As tkx_bulk_encode.
    int encode(tkx_context *ctx, tkx_bulk_segment &segment);

    const Engine &engine() const { return engine_; }

    // bridge.h
    bool is_rest = false;

private:
    // In L1 there is room for the keys and the slots of 128; 64 are 5 % slower, 512 as well.
    static constexpr std::size_t block = 128;
    // Misses that are encoded together; 128 to 1024 are the same within 5 %.
    static constexpr std::size_t enough_misses = 256, most_misses = enough_misses + block;
    // Bytes of a pre-token that takes part in blocks: a power of 2.
    static constexpr std::size_t longest = 1024;
    static constexpr std::size_t enough_miss_bytes = std::size_t(1) << 16,
                                 most_miss_bytes = enough_miss_bytes + block * longest;
    // What is written beyond the last id: ids are copied without counting.
    static constexpr std::size_t spare = 16;
    // Words and fragments that are merged together: a fragment of three characters, for which four
    // ids are kept, has three bytes at least.
    static constexpr std::size_t most_short_words = 4096,
                                 most_miss_ids = most_miss_bytes + most_miss_bytes / 3 +
                                                 most_misses * ShortWord::least_room + 4 + spare;

    struct Probe {
        WordKey key;
        std::size_t set;
    };

    struct Miss {
        WordKey key;
        const std::uint8_t *bytes;
        std::uint32_t size;
        std::uint32_t at;     // where its ids belong, without those of the misses
        std::uint32_t first;  // its ids in miss_ids_
        std::uint32_t count;
        std::uint32_t words;  // how many of short_words_ make them, or one_long_word
        std::uint32_t place;  // of the slot that is reserved for it, or no_place
        std::uint32_t same;   // the number of an earlier miss with the same bytes, or its own
    };

    static constexpr std::uint32_t no_place = ~std::uint32_t(0), one_long_word = no_place,
                                   no_end = no_place;

    // Where a passage of the run that is encoded ends.
    struct PassageEnd {
        std::uint32_t at;  // in bytes from text_
        // The number of ids up to there. Until that is known: of those from out_ on, without those
        // of the misses, and how many misses there are among them.
        std::size_t ids, misses;
    };

    static constexpr std::size_t short_passage = 2048;  // bytes, at most
    // Passages that are looked for together.
    static constexpr std::size_t most_passages = 16;

    struct Reader;

    int encode_run(const std::uint8_t *text, std::size_t size, bool is_spaced);
    int encode_by_passages(const std::uint8_t *text, std::size_t size, bool is_spaced);
    int encode_passages(const Passage *passages, std::size_t count);
    int encode_new_passages(const Passage *passages, std::size_t count);
    bool take_passage(const Passage &passage);
    PassageCache &cache_of(const Passage &passage) {
        return passage.size <= short_passage ? short_passages_ : long_passages_;
    }
    std::size_t passage_size(const std::uint8_t *text, std::size_t size) const;
    void note_passage_end(std::uint32_t start);
    void count_ids_of_passages();
    template <class Run> int encode_pre_tokens(Run run, bool is_spaced);
    int encode_spaced(std::uint32_t end);

    template <class Load>
    std::uint32_t find_sets(std::uint32_t start, const std::uint32_t *ends, std::size_t count,
                            Load load);
    void take_hits(const std::uint8_t *text, std::uint32_t start, const std::uint32_t *ends,
                   std::size_t count);
    int encode_block(std::uint32_t start, const std::uint32_t *ends, std::size_t count);
    void set_aside(const Probe &probe, const WordSlot *pending, const std::uint8_t *bytes,
                   std::uint32_t size, std::uint32_t at);
    int encode_long(std::uint32_t start, std::uint32_t end);
    int resolve();
    void release_slots();
    int merge_bytes();
    int merge_characters();
    void close_gaps();
    void insert_ids();
    void write_out();

    const Engine &engine_;
    WordCache words_;
    // A document of 300 bytes is kept in a third of the time where the memory is in use already: so
    // short ones have 4 MB of their own. The others have room for two texts of 3 MB, with their
    // ids, and touch two large pages before any is found: with 6 MB new text was 3 % slower.
    PassageCache short_passages_, long_passages_;
    CharacterWords character_words_;
    std::unique_ptr<std::uint32_t[]> ends_, miss_ids_, scratch_;
    std::unique_ptr<Miss[]> misses_;
    std::unique_ptr<tkx_bulk_word[]> queries_;
    std::unique_ptr<ShortWord[]> short_words_;
    std::unique_ptr<LongWord[]> long_words_;
    Probe probes_[block];

    // Of the segment that is encoded.
    tkx_context *ctx_ = nullptr;
    const std::uint8_t *text_ = nullptr, *limit_ = nullptr;
    std::uint32_t *ids_ = nullptr;
    std::size_t capacity_ = 0, count_ = 0;
    // The ids since the last call of resolve, without those of the misses, go from out_ to at_.
    std::uint32_t *out_ = nullptr, *at_ = nullptr;
    std::size_t miss_count_ = 0, miss_bytes_ = 0;

    // Of the run that is encoded: the ends of its passages, how many of them were reached, and of
    // how many of those the ids are counted. next_end_ is that of the next one, or no_end.
    PassageEnd passage_ends_[most_passages];
    std::size_t passage_count_ = 0, reached_ends_ = 0, counted_ends_ = 0;
    std::uint32_t next_end_ = no_end;
};

}  // namespace tokexport

// The name of an encoder in C.
struct tkx_bulk : tokexport::Encoder {
    using Encoder::Encoder;
};
