// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

// How the encoder cuts segments into passages, and finds repeated ones.
#include <algorithm>

#include "encoder.h"

namespace tokexport {

namespace {

// About the size in bytes of a passage of a longer text. With 4 KB new text was 1 to 4 % slower;
// 16 KB was as fast, but would find less of a text that has changed.
constexpr std::size_t usual_size = 8192;
// A cut is searched for in a window of this size; if there is none, then at twice the distance.
constexpr std::size_t window = 512;
// A longer text with added tokens that has no cut, such as Chinese, is cut between tokens instead.
constexpr std::size_t most_with_tokens = 32 * usual_size;

bool lacks_cuts(const Passage &passage) {
    return passage.kind >= TKX_BULK_TOKENS && passage.size > most_with_tokens;
}

}  // namespace

// Encodes a segment. Consecutive new passages are encoded in one run, with their misses together.
int Encoder::encode_by_passages(const std::uint8_t *text, std::size_t size, std::size_t kind) {
    next_end_ = no_end;
    passage_count_ = reached_ends_ = counted_ends_ = 0;
    // With a sum, the ids of a passage depend on the text before it.
    if (size < Passage::shortest || engine_.sum) return encode_run(text, size, kind);
    const std::uint8_t *const end = text + size;
    while (text < end) {
        Passage passages[most_passages];
        std::size_t count = 0;
        for (; count < most_passages && text < end; count++) {
            Passage &passage = passages[count];
            passage = {text, passage_size(text, static_cast<std::size_t>(end - text), kind), kind};
            if (passage.size >= Passage::shortest) {
                passage.set_hash();
                cache_of(passage).prefetch(passage);
            }
            text += passage.size;
            if (kind == TKX_BULK_SPACED) kind = TKX_BULK_SEGMENT;
        }
        const int code = encode_passages(passages, count);
        if (code != TKX_OK) return code;
    }
    return TKX_OK;
}

int Encoder::encode_passages(const Passage *passages, std::size_t count) {
    for (std::size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        int code;
        if (lacks_cuts(passages[i])) {
            code = encode_segments(passages[i]);
        } else {
            if (take_passage(passages[i])) continue;
            while (next < count && !lacks_cuts(passages[next]) &&
                   !cache_of(passages[next]).has(passages[next]))
                next++;
            code = encode_new_passages(passages + i, next - i);
        }
        if (code != TKX_OK) return code;
    }
    return TKX_OK;
}

// Encodes each segment between added tokens by passages of its own.
int Encoder::encode_segments(const Passage &text) {
    const auto take = [](void *self, std::size_t from, std::size_t to, std::uint32_t id) {
        auto &encoder = *static_cast<Encoder *>(self);
        if (id == TKX_NONE)
            return encoder.encode_by_passages(encoder.whole_ + from, to - from, TKX_BULK_SEGMENT);
        const int code = encoder.add_token(id);
        return code == TKX_OK ? encoder.resolve() : code;
    };
    whole_ = text.bytes;
    return tkx_bulk_scan(ctx_, text.kind == TKX_BULK_SPECIAL, normalized_, text.bytes, text.size,
                         take, this);
}

// Takes the ids of a passage from the cache; false if it is not there.
bool Encoder::take_passage(const Passage &passage) {
    const std::size_t first = std::min(count_, capacity_);
    const std::size_t made = cache_of(passage).take(passage, ids_ + first, capacity_ - first);
    count_ += made;
    out_ = at_ = ids_ ? ids_ + std::min(count_, capacity_) : nullptr;
    return made != 0;
}

int Encoder::encode_new_passages(const Passage *passages, std::size_t count) {
    for (std::size_t i = 0; i < count; i++)
        passage_ends_[i].at =
            static_cast<std::uint32_t>(passages[i].bytes + passages[i].size - passages->bytes);
    passage_count_ = count;
    reached_ends_ = counted_ends_ = 0;
    std::size_t from = count_, misses = misses_.total;
    const int code = encode_run(passages->bytes, passage_ends_[count - 1].at, passages->kind);
    // With too little room or memory, some ids are missing.
    if (code != TKX_OK || count_ > capacity_ || tkx_bulk_lacks_memory(ctx_)) return code;
    for (std::size_t i = 0; i < counted_ends_; i++) {
        const PassageEnd &end = passage_ends_[i];
        const bool is_costly = (end.misses - misses) * costly_bytes_per_miss > passages[i].size;
        if (passages[i].hash && end.ids > from)
            cache_of(passages[i]).add(passages[i], ids_ + from, end.ids - from, is_costly);
        from = end.ids;
        misses = end.misses;
    }
    return TKX_OK;
}

// The size of the first passage of a text of a kind.
std::size_t Encoder::passage_size(const std::uint8_t *text, std::size_t size,
                                  std::size_t kind) const {
    for (std::size_t most = usual_size; size > most + most / 2; most *= 2) {
        std::size_t from = most - window;
        while ((text[from] & 0xC0) == 0x80) from++;
        const std::size_t cut = kind < TKX_BULK_TOKENS
                                    ? engine_.last_cut_of_segment(text + from, most - from)
                                    : tkx_bulk_cut(&engine_.file, text + from, most - from);
        if (cut) return from + cut;
    }
    return size;
}

// Goes on with the text at an offset of the current run.
void Encoder::set_text(std::size_t from) {
    text_ = run_ + from;
    next_end_ = reached_ends_ < passage_count_
                    ? passage_ends_[reached_ends_].at - static_cast<std::uint32_t>(from)
                    : no_end;
}

// Notes the end of a passage, if it is where the last pre-token ended.
void Encoder::note_passage_end(std::uint32_t start) {
    PassageEnd &end = passage_ends_[reached_ends_];
    if (start != next_end_) {
        // Never happens if cuts are correct; then nothing is stored.
        passage_count_ = reached_ends_;
        next_end_ = no_end;
        return;
    }
    end.ids = static_cast<std::size_t>(at_ - out_);
    end.misses = misses_.total;
    reached_ends_++;
    set_text(static_cast<std::size_t>(text_ - run_));
}

// The same, if it is where the last added token ended.
void Encoder::note_token_end() {
    set_text(token_end_);
    if (next_end_ == 0) note_passage_end(0);
}

// Counts the ids up to each end that was reached, once the misses before it have their ids.
void Encoder::count_ids_of_passages() {
    const std::size_t resolved = misses_.total - misses_.count;
    std::size_t of_misses = 0, i = 0;
    for (; counted_ends_ < reached_ends_; counted_ends_++) {
        PassageEnd &end = passage_ends_[counted_ends_];
        for (; i < end.misses - resolved; i++) of_misses += misses_[i].count;
        end.ids += count_ + of_misses;
    }
}

}  // namespace tokexport
