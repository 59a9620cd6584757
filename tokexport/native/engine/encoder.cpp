#include "encoder.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "run_merges.h"
#include "split_words.h"

namespace tokexport {

namespace {

// Masks that turn 16 bytes into the key of the pre-token at their start. A pre-token of more than
// 15 bytes gets a key that no entry has.
struct KeyMask {
    std::uint64_t a, b, size;
};

constexpr KeyMask key_mask(unsigned size) {
    if (size > WordKey::longest) return {0, 0, ~std::uint64_t(0)};
    return {size >= 8 ? ~std::uint64_t(0) : (std::uint64_t(1) << 8 * size) - 1,
            size > 8 ? (std::uint64_t(1) << 8 * (size - 8)) - 1 : 0, std::uint64_t(size) << 56};
}

constexpr KeyMask key_masks[17] = {
    key_mask(0),  key_mask(1),  key_mask(2),  key_mask(3),  key_mask(4),  key_mask(5),
    key_mask(6),  key_mask(7),  key_mask(8),  key_mask(9),  key_mask(10), key_mask(11),
    key_mask(12), key_mask(13), key_mask(14), key_mask(15), key_mask(16)};

}  // namespace

Encoder::Encoder(const Engine &engine)
    : engine_(engine),
      short_passages_(std::size_t(4) << 20, std::size_t(1) << 20, 11,
                      engine.file.id_count <= 1 << 16),
      long_passages_(std::size_t(16) << 20, std::size_t(63) << 16, 11,
                     engine.file.id_count <= 1 << 16),
      character_words_(engine, words_),
      ends_(new std::uint32_t[SplitRun::block]),
      miss_ids_(new std::uint32_t[most_miss_ids]),
      scratch_(new std::uint32_t[spare + block * longest + spare]),
      misses_(new Miss[most_misses]),
      queries_(new tkx_bulk_word[most_misses]),
      short_words_(new ShortWord[most_short_words]),
      long_words_(new LongWord[most_misses]) {}

int Encoder::encode(tkx_context *ctx, tkx_bulk_segment &segment) {
    ctx_ = ctx;
    limit_ = segment.limit;
    ids_ = segment.ids;
    capacity_ = segment.capacity;
    count_ = 0;
    out_ = at_ = ids_;
    release_slots();
    const int code = encode_by_passages(segment.text, segment.size, segment.is_spaced);
    segment.count = count_;
    return code;
}

// Encodes consecutive new passages.
int Encoder::encode_run(const std::uint8_t *text, std::size_t size, bool is_spaced) {
    text_ = text;
    return engine_.crossings
               ? encode_pre_tokens(CrossingRun(*engine_.crossings, text, size), is_spaced)
               : encode_pre_tokens(SplitRun(*engine_.splitter, text, size), false);
}

template <class Run> int Encoder::encode_pre_tokens(Run run, bool is_spaced) {
    std::uint32_t start = 0;
    int code = TKX_OK;
    for (std::size_t count; (count = run.next(ends_.get())) != 0;) {
        const std::uint32_t *ends = ends_.get(), *last = ends + count;
        if (is_spaced) {
            code = encode_spaced(*ends);
            if (code != TKX_OK) return code;
            start = *ends++;
            is_spaced = false;
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
            if (start >= next_end_) note_passage_end(start);
        }
    }
    return resolve();
}

// Computes keys and sets for a block, and prefetches the sets. Returns the bitwise or of lengths.
template <class Load>
inline std::uint32_t Encoder::find_sets(std::uint32_t start, const std::uint32_t *ends,
                                        std::size_t count, Load load) {
    const char *slots = reinterpret_cast<const char *>(words_.slots());
    const unsigned shift = words_.shift();
    std::uint8_t hashed[block];  // the pre-tokens whose key is a hash
    std::size_t hashed_count = 0;
    std::uint32_t lengths = 0;
    for (std::size_t i = 0, from = start; i < count; from = ends[i++]) {
        const std::uint32_t length = ends[i] - static_cast<std::uint32_t>(from);
        const KeyMask &mask = key_masks[std::min<std::uint32_t>(length, 16)];
        const std::uint8_t *p = load(static_cast<std::uint32_t>(from));
        const WordKey key{load64(p) & mask.a, (load64(p + 8) & mask.b) | mask.size};
        const std::size_t set = WordCache::set_of(key, shift);
        __builtin_prefetch(slots + set * sizeof(WordSlot));
        probes_[i] = {key, set};
        lengths |= length;
        hashed[hashed_count] = static_cast<std::uint8_t>(i);
        hashed_count += length > WordKey::longest;
    }
    for (std::size_t k = 0; k < hashed_count; k++) {
        const std::size_t i = hashed[k];
        const std::uint32_t from = i ? ends[i - 1] : start, length = ends[i] - from;
        if (length > WordRing::longest) continue;
        const WordKey key = WordKey::of_long(text_ + from, length);
        const std::size_t set = WordCache::set_of(key, shift);
        __builtin_prefetch(slots + set * sizeof(WordSlot));
        probes_[i] = {key, set};
    }
    for (std::size_t k = 0; k < hashed_count; k++) {
        const Probe &probe = probes_[hashed[k]];
        words_.prefetch_entry(probe.key, probe.set);
    }
    return lengths;
}

// Writes the ids of the pre-tokens that are in the cache, and sets the others aside.
inline void Encoder::take_hits(const std::uint8_t *text, std::uint32_t start,
                               const std::uint32_t *ends, std::size_t count) {
    const WordSlot *slots = words_.slots();
    std::uint32_t *at = at_;
    for (std::size_t i = 0; i < count; i++) {
        const Probe &probe = probes_[i];
        const WordSlot *slot = slots + probe.set;
        // Selects one of the two slots of the set without a branch, which could not be predicted.
        slot += ((slot->key.a ^ probe.key.a) | (slot->key.b ^ probe.key.b)) != 0;
        bool is_hit = ((slot->key.a ^ probe.key.a) | (slot->key.b ^ probe.key.b)) == 0;
        if (__builtin_expect(!is_hit, 0)) {
            if (const WordSlot *beside = words_.find_beside(probe.set, probe.key))
                slot = beside, is_hit = true;
        }
        std::uint64_t two[2];
        std::memcpy(two, slot->ids, sizeof two);
        const std::size_t ids = (two[0] & 0xFFFFFFFF) >> id_count_shift;
        if (__builtin_expect(is_hit & (ids <= WordSlot::most_inline), 1)) {
            two[0] &= ~std::uint64_t(0xFFFFFFFF) | id_mask;
            std::memcpy(at, two, sizeof two);
            at += ids;
            continue;
        }
        const std::uint32_t from = i ? ends[i - 1] : start, size = ends[i] - from;
        const bool is_pending = is_hit && slot->is_pending();
        const std::uint32_t *found = is_hit & !is_pending
                                         ? words_.ring().find(slot->ring_position(), text + from,
                                                              probe.key.is_hashed() ? size : 0)
                                         : nullptr;
        if (!found) {
            set_aside(probe, is_pending ? slot : nullptr, text + from, size,
                      static_cast<std::uint32_t>(at - out_));
            continue;
        }
        const std::size_t number = slot->ring_count();
        std::memcpy(at, found, WordRing::readable * sizeof *at);
        for (std::size_t k = WordRing::readable; k < number; k++) at[k] = found[k];
        at += number;
    }
    at_ = at;
}

// Sets a miss aside and reserves a slot for it: a pre-token that is repeated before it is encoded
// (in code two of five are) is encoded only once. `pending`: the slot it already has, or null.
inline void Encoder::set_aside(const Probe &probe, const WordSlot *pending,
                               const std::uint8_t *bytes, std::uint32_t size, std::uint32_t at) {
    const std::uint32_t number = static_cast<std::uint32_t>(miss_count_++);
    total_misses_++;
    Miss &miss = misses_[number];
    miss = {probe.key, bytes, size, at, 0, 0, 0, no_place, number};
    miss_bytes_ += size;
    if (pending) {
        const std::uint32_t same = pending->pending_number();
        // Hashed keys of different pre-tokens can collide.
        if (!probe.key.is_hashed() || std::memcmp(misses_[same].bytes, bytes, size) == 0)
            miss.same = same;
    } else if (!probe.key.is_hashed() || size <= WordRing::longest) {
        miss.place = words_.reserve(probe.key, probe.set, number);
    }
}

// Reads from the text, or from a copy of its last bytes, since nothing after the end may be read.
struct Encoder::Reader {
    const std::uint8_t *text;
    std::uint32_t tail_from;
    std::uint8_t tail[48];

    Reader(const std::uint8_t *t, const std::uint8_t *limit) : text(t), tail{} {
        const std::size_t size = static_cast<std::size_t>(limit - t),
                          last = std::min<std::size_t>(size, 16);
        tail_from = static_cast<std::uint32_t>(size - last);
        std::memcpy(tail, t + tail_from, last);
    }

    const std::uint8_t *operator()(std::uint32_t at) const {
        return at < tail_from ? text + at : tail + (at - tail_from);
    }
};

int Encoder::encode_block(std::uint32_t start, const std::uint32_t *ends, std::size_t count) {
    const std::uint8_t *text = text_;
    const std::uint32_t end = ends[count - 1];
    const std::uint32_t last = count > 1 ? ends[count - 2] : start;
    const std::uint32_t lengths =
        limit_ - text >= static_cast<std::ptrdiff_t>(last) + 16
            ? find_sets(start, ends, count, [=](std::uint32_t at) { return text + at; })
            : find_sets(start, ends, count, Reader(text, limit_));
    if (lengths >= longest) {
        // The part before the first long pre-token, that pre-token, and the rest.
        std::size_t before = 0;
        while ((before ? ends[before] - ends[before - 1] : ends[0] - start) < longest &&
               before + 1 < count)
            before++;
        int code = TKX_OK;
        std::uint32_t from = start;
        if (before) {
            code = encode_block(start, ends, before);
            from = ends[before - 1];
        }
        if (code == TKX_OK) code = encode_long(from, ends[before]);
        if (code == TKX_OK && before + 1 < count)
            code = encode_block(ends[before], ends + before + 1, count - before - 1);
        return code;
    }
    // A pre-token has at most as many ids as bytes.
    const std::size_t size = end - start;
    const std::size_t room = capacity_ - std::min(capacity_, count_);
    const bool is_tight = static_cast<std::size_t>(at_ - out_) + miss_bytes_ + size + spare > room;
    if (is_tight) {
        const int code = resolve();
        if (code != TKX_OK) return code;
        out_ = at_ = scratch_.get();
    }
    take_hits(text, start, ends, count);
    if (is_tight || miss_count_ >= enough_misses || miss_bytes_ >= enough_miss_bytes)
        return resolve();
    return TKX_OK;
}

// The first pre-token, with a space before it. The text might be cut after the space, too; that
// makes no difference to the ids.
int Encoder::encode_spaced(std::uint32_t end) {
    std::uint8_t spaced[256] = {' '};
    std::size_t made = 0;
    int code = TKX_E_NOT_FOUND;
    if (end < sizeof spaced) {
        std::memcpy(spaced + 1, text_, end);
        code = tkx_bulk_encode_long(ctx_, spaced, end + std::size_t(1), ids_, capacity_, &made);
    } else {
        made =
            merge_runs(engine_.pairs, {text_, end, engine_.symbols.get(), true}, ids_, capacity_);
        if (made) code = TKX_OK;
    }
    if (code != TKX_OK) return code;
    count_ = made;
    out_ = at_ = ids_ ? ids_ + std::min(count_, capacity_) : nullptr;
    return code;
}

// Encodes a pre-token of at least `longest` bytes.
int Encoder::encode_long(std::uint32_t start, std::uint32_t end) {
    int code = resolve();
    if (code != TKX_OK) return code;
    std::size_t made = 0;
    const std::size_t first = std::min(count_, capacity_), size = end - start;
    if (engine_.symbols) {
        made = merge_runs(engine_.pairs, {text_ + start, size, engine_.symbols.get()}, ids_ + first,
                          capacity_ - first);
    } else if (size > engine_.file.max_token_bytes &&  // so it cannot itself be a token
               capacity_ - first >= size + CharacterWords::spare &&
               engine_.pairs.has_ids(text_ + start, size)) {
        made = merge_runs(engine_.pairs, {text_ + start, size}, ids_ + first, size);
        if (!made && !is_ascii(text_ + start, size) && character_words_.is_worth_it(size))
            code = character_words_.merge(ctx_, text_ + start, size, ids_ + first, &made, nullptr);
    }
    if (!made && code == TKX_OK)
        code = tkx_bulk_encode_long(ctx_, text_ + start, size, ids_ ? ids_ + first : nullptr,
                                    capacity_ - first, &made);
    if (code != TKX_OK) return code;
    count_ += made;
    out_ = at_ = ids_ ? ids_ + std::min(count_, capacity_) : nullptr;
    return TKX_OK;
}

// Encodes the misses and inserts their ids. Afterwards out_ is where the next id goes.
int Encoder::resolve() {
    if (miss_count_) {
        const int code = engine_.symbols ? merge_characters() : merge_bytes();
        if (code != TKX_OK) return code;
        close_gaps();
        count_ids_of_passages();
        insert_ids();
    } else {
        count_ids_of_passages();
    }
    write_out();
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

int tkx_bulk_is_rest(const tkx_bulk *bulk) { return bulk->is_rest; }

int tkx_bulk_encode(tkx_bulk *bulk, tkx_context *ctx, tkx_bulk_segment *segment) {
    try {
        return bulk->encode(ctx, *segment);
    } catch (const std::bad_alloc &) {
        return TKX_E_NOT_FOUND;
    }
}
