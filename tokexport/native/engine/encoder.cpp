// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "encoder.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "eight_bytes.h"
#include "engine/merges/run_merges.h"

namespace tokexport {

Encoder::Encoder(const Engine &engine, const CacheSizes &sizes)
    : engine_(engine),
      words_(sizes.words, sizes.word_ring),
      short_passages_(sizes.short_passages, 11, engine.file.id_count <= 1 << 16),
      long_passages_(sizes.long_passages, 11, engine.file.id_count <= 1 << 16),
      character_words_(engine, words_),
      ends_(new std::uint32_t[2 * SplitRun::block]),
      miss_ids_(new std::uint32_t[most_miss_ids]),
      scratch_(new std::uint32_t[spare + block * (longest + most_more_ids) + spare]),
      new_misses_(new std::uint32_t[most_misses]),
      queries_(new tkx_bulk_word[most_misses]),
      short_words_(new ShortWord[most_short_words]),
      long_words_(new LongWord[most_misses]),
      tokens_(new TokenSpan[most_tokens]),
      collected_(new Collected[most_collected]) {}

void Encoder::begin(tkx_context *ctx, std::uint32_t *ids, std::size_t capacity) {
    ctx_ = ctx;
    ids_ = ids;
    capacity_ = capacity;
    count_ = 0;
    out_ = at_ = ids_;
    waiting_ = nullptr;
    release_slots();
}

int Encoder::encode(tkx_context *ctx, tkx_bulk_segment &segment) {
    begin(ctx, segment.ids, segment.capacity);
    limit_ = segment.limit;
    normalized_ = segment.normalized;
    const double before = *tkx_bulk_sum(ctx);
    sum_ = static_cast<float>(before);
    const int code =
        encode_by_passages(segment.text, segment.size, static_cast<std::size_t>(segment.kind));
    segment.count = count_;
    *tkx_bulk_sum(ctx) = code == TKX_OK ? static_cast<double>(sum_) : before;
    return code;
}

// Encodes consecutive new passages.
int Encoder::encode_run(const std::uint8_t *text, std::size_t size, std::size_t kind) {
    const int code = add_run(text, size, kind);
    return code == TKX_OK ? resolve() : code;
}

// The same, but leaves misses to the next call of resolve.
int Encoder::add_run(const std::uint8_t *text, std::size_t size, std::size_t kind) {
    run_ = text;
    token_end_ = group_ = group_end_ = token_count_ = 0;
    set_text(0);
    if (kind < TKX_BULK_TOKENS) return encode_segment(size, kind == TKX_BULK_SPACED);
    const auto take = [](void *self, std::size_t from, std::size_t to, std::uint32_t id) {
        return static_cast<Encoder *>(self)->encode_with_tokens(from, to, id);
    };
    int code = tkx_bulk_scan(ctx_, kind == TKX_BULK_SPECIAL, normalized_, text, size, take, this);
    if (code == TKX_OK) code = encode_group();
    if (code == TKX_OK) note_token_end();
    return code;
}

// Encodes an added token, or a segment between two, of the current run; or adds it to the group.
int Encoder::encode_with_tokens(std::size_t from, std::size_t to, std::uint32_t id) {
    if (id == TKX_NONE || (engine_.token_words && engine_.token_words->has(id))) {
        if (group_ == group_end_) group_ = from;
        group_end_ = to;
        if (id == TKX_NONE) return TKX_OK;
        tokens_[token_count_++] = {static_cast<std::uint32_t>(from - group_),
                                   static_cast<std::uint32_t>(to - group_)};
        return token_count_ < most_tokens ? TKX_OK : encode_group();
    }
    const int code = encode_group();
    if (code != TKX_OK) return code;
    if (from >= token_end_) note_token_end();
    token_end_ = std::max(token_end_, to);
    return add_token(id);
}

// Encodes the group, and begins a new one.
int Encoder::encode_group() {
    if (group_ == group_end_) return TKX_OK;
    const std::size_t size = group_end_ - group_;
    // A token that strips white space may cover also segments and tokens after it.
    if (group_ >= token_end_) note_token_end();
    token_end_ = std::max(token_end_, group_end_);
    set_text(group_);
    group_ = group_end_;
    const std::size_t count = token_count_;
    token_count_ = 0;
    if (!count) return encode_segment(size, false);
    return encode_pre_tokens(SplitRun(*engine_.splitter, text_, size, tokens_.get(), count), false);
}

int Encoder::add_token(std::uint32_t id) {
    if (has_room(1)) {
        *at_++ = id;
        return TKX_OK;
    }
    const int code = resolve();
    if (count_ < capacity_) ids_[count_] = id;
    count_++;
    out_ = at_ = ids_ + std::min(count_, capacity_);
    return code;
}

int Encoder::encode_segment(std::size_t size, bool is_spaced) {
    return engine_.crossings
               ? encode_pre_tokens(CrossingRun(*engine_.crossings, text_, size), is_spaced)
               : encode_pre_tokens(SplitRun(*engine_.splitter, text_, size), false);
}

template <class Run> int Encoder::encode_pre_tokens(Run run, bool is_spaced) {
    std::uint32_t start = 0, *all_ends = ends_.get();
    int code = TKX_OK;
    bool is_first_part = engine_.sum && engine_.crossings->begins_inner(text_);
    for (std::size_t count; (count = run.next(all_ends)) != 0;) {
        if (engine_.words) count = engine_.words->join_spaces(text_, start, all_ends, count);
        const std::uint32_t *ends = all_ends, *last = ends + count;
        // The last block waits while the next ends are found, of which there is at least one block.
        all_ends = ends_.get() + (all_ends == ends_.get() ? SplitRun::block : 0);
        if (is_spaced || is_first_part) {
            code = is_spaced ? encode_spaced(*ends) : encode_long(0, *ends, true);
            if (code != TKX_OK) return code;
            start = *ends++;
            is_spaced = is_first_part = false;
            if (start >= next_end_) note_passage_end(start);
        }
        while (ends < last) {
            std::size_t size = std::min<std::size_t>(block, static_cast<std::size_t>(last - ends));
            if (ends[size - 1] > next_end_)
                size = static_cast<std::size_t>(std::lower_bound(ends, ends + size, next_end_) -
                                                ends) +
                       1;
            code = encode_block(start, ends, size);
            if (code != TKX_OK) return code;
            ends += size;
            start = ends[-1];
            if (start < next_end_) continue;
            code = take_waiting();
            if (code != TKX_OK) return code;
            note_passage_end(start);
        }
    }
    return take_waiting();
}

// Looks up a block, and takes the ids of the one before: its slots have arrived from memory by now.
int Encoder::encode_block(std::uint32_t start, const std::uint32_t *ends, std::size_t count) {
    WordBlock &block = blocks_[waiting_ == blocks_];
    block.text = text_;
    block.start = start;
    block.ends = ends;
    block.count = count;
    const std::uint32_t lengths = engine_.word_lookup.find(words_, block, limit_);
    int code = take_waiting();
    if (code != TKX_OK) return code;
    if (lengths < longest) {
        waiting_ = &block;
        return TKX_OK;
    }
    // The part before the first long pre-token, that pre-token, and the rest.
    std::size_t before = 0;
    while ((before ? ends[before] - ends[before - 1] : ends[0] - start) < longest &&
           before + 1 < count)
        before++;
    std::uint32_t from = start;
    if (before) {
        code = encode_block(start, ends, before);
        if (code == TKX_OK) code = take_waiting();
        from = ends[before - 1];
    }
    if (code == TKX_OK) code = encode_long(from, ends[before]);
    if (code == TKX_OK && before + 1 < count)
        code = encode_block(ends[before], ends + before + 1, count - before - 1);
    return code;
}

// Takes the ids of the block that waits, if there is one, and resolves misses if there are enough.
int Encoder::take_waiting() {
    if (!waiting_) return TKX_OK;
    WordBlock &block = *waiting_;
    waiting_ = nullptr;
    const std::size_t size =
        block.ends[block.count - 1] - block.start + block.count * most_more_ids;
    const bool is_tight = !has_room(size);
    if (is_tight) {
        const int code = resolve();
        if (code != TKX_OK) return code;
        out_ = at_ = scratch_.get();
    }
    // The table may have grown since.
    if (block.shift != words_.shift()) engine_.word_lookup.find(words_, block, limit_);
    at_ = engine_.word_lookup.take(words_, block, out_, at_, misses_);
    if (is_tight || misses_.count >= enough_misses || misses_.bytes >= enough_miss_bytes)
        return resolve();
    return TKX_OK;
}

// The first pre-token, with a space before it. The text might be cut after the space, too; that
// makes no difference to the ids.
int Encoder::encode_spaced(std::uint32_t end) {
    std::uint8_t spaced[256] = {' '};
    std::size_t made = 0;
    int code = has_room(end + std::size_t(1)) ? TKX_OK : resolve();
    if (code != TKX_OK) return code;
    const std::size_t used = count_ + static_cast<std::size_t>(at_ - out_),
                      room = capacity_ - std::min(capacity_, used);
    if (end < sizeof spaced) {
        std::memcpy(spaced + 1, text_, end);
        code = tkx_bulk_encode_long(ctx_, spaced, end + std::size_t(1), at_, room, &made);
    } else {
        made = merge_runs(engine_.pairs, {text_, end, engine_.symbols.get(), true}, at_, room);
        if (!made) code = TKX_E_NOT_FOUND;
    }
    at_ += std::min(made, room);
    // If there was not enough room, at_ was out_.
    if (made > room) count_ += made - room;
    return code;
}

// Encodes a pre-token of at least `longest` bytes, or the first part of a text.
int Encoder::encode_long(std::uint32_t start, std::uint32_t end, bool is_first) {
    int code = resolve();
    if (code != TKX_OK) return code;
    std::size_t made = 0;
    const std::size_t first = std::min(count_, capacity_), size = end - start;
    if (engine_.sum) {
        int is_stable;
        code = encode_part(text_ + start, size, is_first, ids_ + first, capacity_ - first, &made,
                           &is_stable);
        unknown_.resolve(ids_ + first, std::min(made, capacity_ - first));
    } else if (engine_.words) {
        code = encode_word(text_ + start, size, ids_ + first, capacity_ - first, &made);
    } else if (engine_.symbols) {
        made = merge_runs(engine_.pairs, {text_ + start, size, engine_.symbols.get()}, ids_ + first,
                          capacity_ - first);
    } else if (size > engine_.file.max_token_bytes &&  // so it cannot itself be a token
               capacity_ - first >= size + CharacterWords::spare &&
               engine_.pairs.has_ids(text_ + start, size)) {
        made = merge_runs(engine_.pairs, {text_ + start, size}, ids_ + first, size);
        if (!made && !is_ascii(text_ + start, size) && character_words_.is_worth_it(size))
            code = character_words_.merge(ctx_, text_ + start, size, ids_ + first, &made, nullptr);
    }
    if (!made && code == TKX_OK && !engine_.words && !engine_.sum)
        code = tkx_bulk_encode_long(ctx_, text_ + start, size, ids_ ? ids_ + first : nullptr,
                                    capacity_ - first, &made);
    if (code != TKX_OK) return code;
    count_ += made;
    out_ = at_ = ids_ ? ids_ + std::min(count_, capacity_) : nullptr;
    return TKX_OK;
}

// Encodes the misses and inserts their ids. Afterwards out_ is where the next id goes.
int Encoder::resolve() {
    int code = TKX_OK;
    list_new_misses();
    if (engine_.sum) {
        code = encode_parts();
    } else if (misses_.count) {
        code = engine_.words     ? encode_words()
               : engine_.symbols ? merge_characters()
                                 : merge_bytes();
        if (code == TKX_OK) close_gaps();
    }
    if (code != TKX_OK) return code;
    count_ids_of_passages();
    if (misses_.count) insert_ids();
    if (engine_.sum) unknown_.resolve(out_, static_cast<std::size_t>(at_ - out_));
    write_out();
    return TKX_OK;
}

// Keeps a text until encode_collected; false: it is too long, or there are too many.
bool Encoder::collect(const tkx_bulk_segment &segment) {
    if (collected_count_ == most_collected || segment.size > longest_collected) return false;
    Collected &item = collected_[collected_count_++];
    item = {{segment.text, segment.size, static_cast<std::size_t>(segment.kind)},
            segment.normalized};
    item.passage.set_hash();
    short_passages_.prefetch(item.passage);
    return true;
}

// Encodes the collected texts; `counts`: the number of ids of each. Their misses are encoded
// together.
int Encoder::encode_collected(tkx_context *ctx, std::uint32_t *ids, std::size_t capacity,
                              std::size_t *counts) {
    begin(ctx, ids, capacity);
    passage_count_ = reached_ends_ = counted_ends_ = 0;
    std::size_t misses = misses_.total, from = 0;
    for (std::size_t i = 0; i < collected_count_; i++) {
        Passage &text = collected_[i].passage;
        limit_ = text.bytes + text.size;
        normalized_ = collected_[i].normalized;
        std::size_t known = 0;
        if (has_room(text.size + 1)) known = short_passages_.take(text, at_, text.size + 1);
        if (known > text.size + 1) return TKX_E_NOT_FOUND;
        at_ += known;
        if (known) text.hash = 0;  // so that it is not added again
        const int code = known ? TKX_OK : add_run(text.bytes, text.size, text.kind);
        if (code != TKX_OK) return code;
        passage_ends_[reached_ends_++] = {0, static_cast<std::size_t>(at_ - out_), misses_.total};
    }
    const int code = resolve();
    if (code != TKX_OK) return code;
    if (count_ > capacity_ || tkx_bulk_lacks_memory(ctx_)) return TKX_E_WORK;
    for (std::size_t i = 0; i < collected_count_; i++) {
        const Passage &text = collected_[i].passage;
        const PassageEnd &end = passage_ends_[i];
        const bool is_costly = (end.misses - misses) * costly_bytes_per_miss > text.size;
        if (text.hash && end.ids > from)
            short_passages_.add(text, ids_ + from, end.ids - from, is_costly);
        counts[i] = end.ids - from;
        from = end.ids;
        misses = end.misses;
    }
    return TKX_OK;
}

// Counts the ids from out_ to at_, and copies them to the output if they are elsewhere.
void Encoder::write_out() {
    const std::size_t made = static_cast<std::size_t>(at_ - out_);
    const std::size_t first = std::min(count_, capacity_);
    if (out_ != ids_ + first && first < capacity_)
        std::memcpy(ids_ + first, out_, std::min(made, capacity_ - first) * sizeof *ids_);
    count_ += made;
    out_ = at_ = ids_ + std::min(count_, capacity_);
}

}  // namespace tokexport

int tkx_bulk_maps_marks_only(const tkx_bulk *bulk) { return bulk->engine().has_light_normalizer; }

int tkx_bulk_takes_tokens(const tkx_bulk *bulk, int normalized) {
    return bulk->engine().has_space_tokens[normalized];
}

std::uint32_t tkx_bulk_name_unknown(tkx_bulk *bulk, const std::uint8_t *text, std::size_t size) {
    try {
        return bulk->name_unknown(text, size);
    } catch (const std::bad_alloc &) {
        return TKX_NONE;
    }
}

int tkx_bulk_runs_sum(const tkx_bulk *bulk) { return bulk->engine().sum != nullptr; }

int tkx_bulk_is_rest(const tkx_bulk *bulk) { return bulk->is_rest; }

int tkx_bulk_collects(const tkx_bulk *bulk) { return bulk->collects(); }

int tkx_bulk_collect(tkx_bulk *bulk, const tkx_bulk_segment *segment) {
    return bulk->collect(*segment);
}

int tkx_bulk_run_collected(tkx_bulk *bulk, tkx_context *ctx, std::uint32_t *ids,
                           std::size_t capacity, std::size_t *counts) {
    try {
        return bulk->encode_collected(ctx, ids, capacity, counts);
    } catch (const std::bad_alloc &) {
        return TKX_E_NOT_FOUND;
    }
}

int tkx_bulk_encode(tkx_bulk *bulk, tkx_context *ctx, tkx_bulk_segment *segment) {
    try {
        return bulk->encode(ctx, *segment);
    } catch (const std::bad_alloc &) {
        return TKX_E_NOT_FOUND;
    }
}
