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

}  // namespace

// Encodes a segment. Consecutive new passages are encoded in one run, with their misses together.
int Encoder::encode_by_passages(const std::uint8_t *text, std::size_t size, bool is_spaced) {
    next_end_ = no_end;
    passage_count_ = reached_ends_ = counted_ends_ = 0;
    // With a sum, the ids of a passage depend on the text before it.
    if (size < Passage::shortest || engine_.sum) return encode_run(text, size, is_spaced);
    const std::uint8_t *const end = text + size;
    while (text < end) {
        Passage passages[most_passages];
        std::size_t count = 0;
        for (; count < most_passages && text < end; count++) {
            Passage &passage = passages[count];
            passage = {text, passage_size(text, static_cast<std::size_t>(end - text)), is_spaced};
            if (passage.size >= Passage::shortest) {
                passage.set_hash();
                cache_of(passage).prefetch(passage);
            }
            text += passage.size;
            is_spaced = false;
        }
        const int code = encode_passages(passages, count);
        if (code != TKX_OK) return code;
    }
    return TKX_OK;
}

int Encoder::encode_passages(const Passage *passages, std::size_t count) {
    for (std::size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        if (take_passage(passages[i])) continue;
        while (next < count && !cache_of(passages[next]).has(passages[next])) next++;
        const int code = encode_new_passages(passages + i, next - i);
        if (code != TKX_OK) return code;
    }
    return TKX_OK;
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
    next_end_ = passage_ends_[0].at;
    std::size_t from = count_, misses = misses_.total;
    const int code = encode_run(passages->bytes, passage_ends_[count - 1].at, passages->is_spaced);
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

// The size of the first passage of a text.
std::size_t Encoder::passage_size(const std::uint8_t *text, std::size_t size) const {
    for (std::size_t most = usual_size; size > most + most / 2; most *= 2) {
        std::size_t from = most - window;
        while ((text[from] & 0xC0) == 0x80) from++;
        if (const std::size_t cut = engine_.last_cut_of_segment(text + from, most - from))
            return from + cut;
    }
    return size;
}

// Notes the end of a passage, if it is where the last pre-token ended.
void Encoder::note_passage_end(std::uint32_t start) {
    PassageEnd &end = passage_ends_[reached_ends_];
    if (start != end.at) {
        // Never happens if cuts are correct; then nothing is stored.
        next_end_ = no_end;
        return;
    }
    end.ids = static_cast<std::size_t>(at_ - out_);
    end.misses = misses_.total;
    next_end_ = ++reached_ends_ < passage_count_ ? passage_ends_[reached_ends_].at : no_end;
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
