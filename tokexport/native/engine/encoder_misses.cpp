// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// How the encoder handles pre-tokens that are not in the cache.
#include <algorithm>
#include <cstring>

#include "eight_bytes.h"
#include "encoder.h"
#include "engine/merges/merge_symbols.h"
#include "engine/merges/run_merges.h"

namespace tokexport {

namespace {

// Whether a key has a byte of 0xE0 or above: a character of three or four bytes.
bool has_long_character(const WordKey &key) {
    const std::uint64_t high = 0x8080808080808080;
    return ((key.a & key.a << 1 & key.a << 2) | (key.b & key.b << 1 & key.b << 2)) & high;
}

// Moves `count` ids up by `distance`, from the end. `before`: how many ids precede them.
void move_up(std::uint32_t *from, std::size_t count, std::size_t distance, std::size_t before) {
    constexpr std::size_t step = 16;
    if (distance < step || before < step) {
        std::memmove(from + distance, from, count * sizeof *from);
        return;
    }
    // 16 at a time: some ids before the first move too, to where others are written later.
    for (std::uint32_t *p = from + count; p > from;) {
        std::uint64_t words[step / 2];
        p -= step;
        std::memcpy(words, p, sizeof words);
        std::memcpy(p + distance, words, sizeof words);
    }
}

// Copies the `count` ids that end at `from` so that they end at `to`. `distance`: how many ids
// before them are written later, and may be overwritten.
void put_up_to(std::uint32_t *to, const std::uint32_t *from, std::size_t count,
               std::size_t distance) {
    if (distance < 4) {
        std::copy_backward(from - count, from, to);
        return;
    }
    for (std::size_t done = 0; done < count; done += 4) {
        std::uint64_t two[2];
        to -= 4;
        from -= 4;
        std::memcpy(two, from, sizeof two);
        std::memcpy(to, two, sizeof two);
    }
}

}  // namespace

// Releases the slots of misses that an error has left: a slot without ids must not be found.
void Encoder::release_slots() {
    for (std::uint32_t i = 0; i < misses_.count; i++)
        if (misses_[i].place != Miss::no_place) words_.release(misses_[i].place, i);
    misses_.clear();
}

// Lists the misses that are not repeated ones. Here and below, what cannot be predicted is computed
// without a branch: whether a miss is repeated (in code two of five are), and whether it is a token
// (half of them are).
void Encoder::list_new_misses() {
    new_count_ = 0;
    for (std::size_t i = 0; i < misses_.count; i++) {
        new_misses_[new_count_] = static_cast<std::uint32_t>(i);
        new_count_ += misses_[i].same == i;
    }
}

// Merges a miss that is not a token, or leaves it to the words that are merged together.
inline int Encoder::merge_other(Miss &miss, std::uint32_t *ids, CharacterWords::Later &later,
                                std::size_t &long_count) {
    const std::size_t words = later.count;
    std::size_t made = 0;
    int code = TKX_OK;
    const bool is_short = miss.size <= WordKey::longest;
    if (!engine_.pairs.has_ids(miss.bytes, miss.size)) {
        code = tkx_bulk_merge(ctx_, miss.bytes, miss.size, ids, &made);
    } else if (const bool is_wide =
                   is_short ? has_long_character(miss.key) : !is_ascii(miss.bytes, miss.size);
               is_wide && character_words_.is_worth_it(miss.size)) {
        code = character_words_.merge(ctx_, miss.bytes, miss.size, ids, &made, &later);
    } else if (is_short) {
        made = later.add(miss.key, ids);
    } else if (!is_wide && miss.size <= LongWord::most_symbols) {
        long_words_[long_count++] = {miss.bytes, ids, miss.size, 0};
        miss.words = Miss::one_long_word;
        miss.count = miss.size;
        return TKX_OK;
    } else if ((made = merge_runs(engine_.pairs, {miss.bytes, miss.size}, ids, miss.size)) == 0) {
        code = tkx_bulk_merge(ctx_, miss.bytes, miss.size, ids, &made);
    }
    miss.words = static_cast<std::uint32_t>(later.count - words);
    miss.count = static_cast<std::uint32_t>(made);
    return code;
}

// Finds those of the misses that are added tokens.
void Encoder::find_token_words() {
    for (std::size_t k = 0; k < new_count_; k++) {
        tkx_bulk_word &query = queries_[k];
        // Most pre-tokens begin with a space; few end with one.
        if (*query.bytes > ' ' || query.bytes[query.size - 1] > ' ') continue;
        const std::uint32_t id = engine_.token_words->find(query.bytes, query.size);
        if (id != TKX_NONE) query.id = id;
    }
}

// Encodes misses for BPE over bytes.
int Encoder::merge_bytes() {
    for (std::size_t k = 0; k < new_count_; k++) {
        const Miss &miss = misses_[new_misses_[k]];
        queries_[k] = {miss.bytes, miss.size, 0, 0, 0, 0};
    }
    int code = tkx_bulk_find(&engine_.file, queries_.get(), new_count_);
    if (code != TKX_OK) return code;
    if (engine_.token_words) find_token_words();
    // Begins at 4, because ids are copied four at a time from their end.
    std::size_t used = 4, long_count = 0;
    // Fragments leave room for one short word per miss.
    CharacterWords::Later later{short_words_.get(), 0, most_short_words - most_misses};
    for (std::size_t k = 0; k < new_count_; k++) {
        Miss &miss = misses_[new_misses_[k]];
        const std::uint32_t id = queries_[k].id;
        const bool is_token = id != TKX_NONE;
        std::uint32_t *ids = &miss_ids_[used];
        miss.first = static_cast<std::uint32_t>(used);
        // Words of characters of one or two bytes are merged as fast from their bytes.
        if (is_token | ((miss.size <= WordKey::longest) & !has_long_character(miss.key) &
                        engine_.pairs.has_all_ids())) {
            ids[0] = id;
            ShortWord &word = later.words[later.count] = {miss.key, ids, 0, 0};
            later.count += !is_token;
            miss.words = !is_token;
            miss.count = is_token ? 1 : static_cast<std::uint32_t>(word.room());
        } else {
            code = merge_other(miss, ids, later, long_count);
            if (code != TKX_OK) return code;
        }
        used += miss.count;
    }
    later.words[later.count] = {};  // close_gaps reads it
    engine_.merge_short_words(engine_.pairs, short_words_.get(), later.count);
    for (std::size_t i = 0; i < later.count; i++)
        character_words_.add_part(short_words_[i].key, short_words_[i].ids, short_words_[i].count);
    merge_words(engine_.pairs, long_words_.get(), long_count);
    return TKX_OK;
}

// The same for BPE over characters. Words are not looked up as whole tokens: merging produces the
// same id.
int Encoder::merge_characters() {
    std::size_t used = 4, words = 0;
    for (std::size_t k = 0; k < new_count_; k++) {
        Miss &miss = misses_[new_misses_[k]];
        std::uint32_t *ids = &miss_ids_[used];
        std::size_t made = engine_.symbols->read(miss.bytes, miss.size, ids);
        miss.first = static_cast<std::uint32_t>(used);
        if (made > 1 && made <= ShortWord::most_symbols) {
            short_words_[words++] = {{0, 0}, ids, static_cast<std::uint32_t>(made), 0};
            miss.words = 1;
            made = std::max(made, ShortWord::least_room);
        } else if (made > 1 && made <= most_symbols) {
            made = merge_symbols(engine_.pairs, ids, made);
        } else if (made != 1) {
            made = merge_runs(engine_.pairs, {miss.bytes, miss.size, engine_.symbols.get()}, ids,
                              miss.size);
            const int code =
                made ? TKX_OK : tkx_bulk_merge(ctx_, miss.bytes, miss.size, ids, &made);
            if (code != TKX_OK) return code;
        }
        miss.count = static_cast<std::uint32_t>(made);
        used += made;
    }
    short_words_[words] = {};  // close_gaps reads it
    engine_.merge_short_words(engine_.pairs, short_words_.get(), words);
    return TKX_OK;
}

// Encodes a word by the core, without what is dropped before it.
int Encoder::encode_word(const std::uint8_t *bytes, std::size_t size, std::uint32_t *ids,
                         std::size_t capacity, std::size_t *made) {
    const std::uint8_t *const end = bytes + size;
    const std::uint8_t *const p = engine_.words->skip_dropped(bytes, end);
    *made = 0;
    if (p == end) return TKX_OK;
    return tkx_bulk_encode_word(ctx_, engine_.words->next, p, static_cast<std::size_t>(end - p),
                                ids, capacity, made);
}

// The same as merge_bytes, for other models: words are encoded one by one.
int Encoder::encode_words() {
    std::size_t used = 4;
    for (std::size_t k = 0; k < new_count_; k++) {
        Miss &miss = misses_[new_misses_[k]];
        const std::size_t most = miss.size + most_more_ids;
        std::size_t made;
        miss_ids_[used] = 0;  // the cache puts their number into the first one, also if it is 0
        const int code = encode_word(miss.bytes, miss.size, &miss_ids_[used], most, &made);
        if (code != TKX_OK) return code;
        if (made > most) return TKX_E_NOT_FOUND;
        miss.first = static_cast<std::uint32_t>(used);
        miss.words = 0;
        miss.count = static_cast<std::uint32_t>(made);
        used += made;
    }
    short_words_[0] = {};  // close_gaps reads it
    return TKX_OK;
}

// Encodes a part by the core, and goes on with the sum. `is_first`: it is the first one of a text,
// and is not cached if other parts may begin with its first character, since the normalizer puts
// nothing before those.
int Encoder::encode_part(const std::uint8_t *bytes, std::size_t size, bool is_first,
                         std::uint32_t *ids, std::size_t capacity, std::size_t *made,
                         int *is_stable) {
    const CrossingSplitter &crossings = *engine_.crossings;
    const bool is_inner = !is_first && crossings.begins_inner(bytes);
    const int kind = (is_inner || *bytes == ' ') && crossings.is_unchanged(bytes, size)
                         ? TKX_BULK_UNCHANGED
                     : is_inner ? TKX_BULK_INNER
                                : TKX_BULK_WHOLE;
    *tkx_bulk_sum(ctx_) = sum_;
    const int code = tkx_bulk_encode_part(ctx_, bytes, size, kind, ids, capacity, made, is_stable);
    sum_ = static_cast<float>(*tkx_bulk_sum(ctx_));
    return code;
}

// The same as encode_words, where a sum runs through the text: also through the ids of the parts
// that were in the cache. Parts whose ids may differ after another sum are not added to it.
int Encoder::encode_parts() {
    const std::uint32_t *from = out_;
    std::size_t used = 4;
    for (std::uint32_t i = 0; i < misses_.count; i++) {
        Miss &miss = misses_[i];
        const Miss &first = misses_[miss.same];
        const std::uint32_t *const to = out_ + miss.at;
        int code =
            engine_.sum->add(ctx_, unknown_, sum_, from, static_cast<std::size_t>(to - from));
        if (code != TKX_OK) return code;
        from = to;
        if (miss.same != i && first.words) {
            miss.first = first.first;
            miss.count = first.count;
            code = engine_.sum->add(ctx_, unknown_, sum_, &miss_ids_[miss.first], miss.count);
            if (code != TKX_OK) return code;
            continue;
        }
        const std::size_t most = miss.size + most_more_ids;
        std::size_t made;
        int is_stable;
        miss_ids_[used] = 0;  // as in encode_words
        code = encode_part(miss.bytes, miss.size, false, &miss_ids_[used], most, &made, &is_stable);
        if (code != TKX_OK) return code;
        if (made > most) return TKX_E_NOT_FOUND;
        miss.first = static_cast<std::uint32_t>(used);
        miss.count = static_cast<std::uint32_t>(made);
        miss.words = is_stable;  // for repeated ones
        used += made;
        if (!is_stable && miss.place != Miss::no_place) {
            words_.release(miss.place, i);
            miss.place = Miss::no_place;
        }
    }
    return engine_.sum->add(ctx_, unknown_, sum_, from, static_cast<std::size_t>(at_ - from));
}

// Closes the gaps that short words leave between the ids of a miss. A repeated miss shares the ids
// of the first one.
void Encoder::close_gaps() {
    const ShortWord *word = short_words_.get();
    const LongWord *long_word = long_words_.get();
    for (std::size_t k = 0; k < new_count_; k++) {
        Miss &miss = misses_[new_misses_[k]];
        if ((miss.words == 0) | ((miss.words == 1) & (miss.count == word->room()))) {
            miss.count = miss.words ? word->count : miss.count;
            word += miss.words;
            continue;
        }
        if (miss.words == Miss::one_long_word) {
            miss.count = (long_word++)->count;
            continue;
        }
        const std::uint32_t *end = &miss_ids_[miss.first] + miss.count;
        std::uint32_t *to = word->ids;
        for (const ShortWord *last = word + miss.words; word < last; word++) {
            const std::uint32_t *from = word->ids, *until = word + 1 < last ? word[1].ids : end;
            for (std::size_t k = 0; k < word->count; k++) *to++ = from[k];
            for (from += word->room(); from < until; from++) *to++ = *from;
        }
        miss.count = static_cast<std::uint32_t>(to - &miss_ids_[miss.first]);
    }
    for (std::size_t i = 0; new_count_ < misses_.count && i < misses_.count; i++) {
        misses_[i].first = misses_[misses_[i].same].first;
        misses_[i].count = misses_[misses_[i].same].count;
    }
}

// Inserts the ids of each miss, moving the ids after them up, and adds the miss to the cache.
void Encoder::insert_ids() {
    std::size_t distance = 0;
    for (std::size_t i = 0; i < misses_.count; i++) distance += misses_[i].count;
    std::uint32_t *end = at_;
    at_ += distance;
    for (std::size_t i = misses_.count; i-- > 0;) {
        const Miss &miss = misses_[i];
        std::uint32_t *from = out_ + miss.at;
        move_up(from, static_cast<std::size_t>(end - from), distance, miss.at);
        distance -= miss.count;
        put_up_to(from + distance + miss.count, &miss_ids_[miss.first] + miss.count, miss.count,
                  distance);
        end = from;
    }
    const bool lacks_memory = tkx_bulk_lacks_memory(ctx_) != 0;
    for (std::size_t k = 0; k < new_count_; k++) {
        const std::uint32_t i = new_misses_[k];
        const Miss &miss = misses_[i];
        if (miss.place == Miss::no_place) continue;
        // Without memory, ids may be missing. A miss may have no ids: its characters are dropped,
        // which is rare in BPE, and normal for white space in other models.
        if (lacks_memory | (!miss.count & !engine_.words & !engine_.sum))
            words_.release(miss.place, i);
        else words_.fill(miss.place, i, miss.bytes, miss.size, &miss_ids_[miss.first], miss.count);
    }
    words_.grow_if_full();
    misses_.clear();
}

}  // namespace tokexport
