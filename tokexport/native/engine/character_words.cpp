#include "character_words.h"

#include <algorithm>
#include <cstring>

#include "merge_symbols.h"

namespace tokexport {

// Decodes at most `window` characters; returns their number.
std::size_t CharacterWords::read(const std::uint8_t *bytes, const std::uint8_t *end) {
    const std::uint8_t *p = bytes;
    std::size_t count = 0, size_before = 0;
    std::uint32_t before = 0;
    crossed_ = crossed_in_part_ = no_symbol_ = 0;
    for (; p < end && count < window; count++) {
        const std::uint32_t c = decode_character(p), symbol = characters_->symbol(c);
        const std::size_t size = character_size(*p);
        starts_[count] = static_cast<std::uint32_t>(p - bytes);
        symbols_[count] = symbol;
        no_symbol_ |= std::uint64_t(symbol == CharacterTable::no_symbol) << count;
        if (count) {
            const std::uint64_t bit = std::uint64_t(1) << (count - 1);
            const bool is_crossed = characters_->is_crossed(before, c);
            crossed_ |= is_crossed ? bit : 0;
            // As if in part: from their bytes, the symbols of these two come out.
            if (is_crossed &&
                !(CharacterTable::has_symbol(before) && CharacterTable::has_symbol(c)))
                crossed_in_part_ |= bit;
            else if (characters_->may_be_crossed_in_part(p[-1], *p) &&
                     characters_->is_crossed_in_part(p, size_before, size))
                crossed_in_part_ |= bit;
        }
        before = c;
        size_before = size;
        p += size;
    }
    starts_[count] = static_cast<std::uint32_t>(p - bytes);
    return count;
}

int CharacterWords::merge(tkx_context *ctx, const std::uint8_t *bytes, std::size_t size,
                          std::uint32_t *ids, std::size_t *count, Later *later) {
    const std::uint8_t *const end = bytes + size;
    ids_ = ids;
    while (bytes < end) {
        std::size_t n = read(bytes, end);
        const bool is_last = bytes + starts_[n] == end;
        // A character without a symbol that no merge touches in part is cut off: whatever takes it
        // in whole would need the symbol. The right side of the last character is not known.
        std::uint64_t alone = no_symbol_ & ~(crossed_in_part_ | crossed_in_part_ << 1);
        if (!is_last) alone &= ~(std::uint64_t(1) << (n - 1));
        std::uint64_t joined = (crossed_ & ~(alone | alone >> 1)) | crossed_in_part_;
        if (!is_last) {
            // Up to the last cut: what comes after it may go on beyond the window.
            while (n > 1 && joined >> (n - 2) & 1) n--;
            if (--n == 0) {
                std::size_t made = 0;
                const int code =
                    tkx_bulk_merge(ctx, bytes, static_cast<std::size_t>(end - bytes), ids_, &made);
                ids_ += made;
                *count = static_cast<std::size_t>(ids_ - ids);
                return code;
            }
        }
        for (std::size_t first = 0, last; first < n; first = last) {
            std::uint64_t parts = 0;
            for (last = first; last + 1 < n && joined >> last & 1; last++)
                parts |= crossed_in_part_ >> last;
            last++;
            const std::size_t length = last - first;
            if (length == 1 && symbols_[first] != CharacterTable::no_symbol) {
                *ids_++ = symbols_[first];
            } else if (length == 1 || (parts & 1)) {
                const int code =
                    merge_bytes(ctx, bytes + starts_[first], starts_[last] - starts_[first]);
                if (code != TKX_OK) return code;
            } else if (length == 2) {
                // The symbols, or their product: without a branch.
                const std::uint32_t product = pairs_.product(symbols_[first], symbols_[first + 1]);
                const bool is_pair = product != PairTable::no_id;
                ids_[0] = is_pair ? pairs_.id_of(product) : symbols_[first];
                ids_[1] = symbols_[first + 1];
                ids_ += is_pair ? 1 : 2;
            } else if (later && length <= ShortWord::most_symbols &&
                       later->count < later->capacity) {
                std::memcpy(ids_, symbols_ + first, length * sizeof *ids_);
                later->words[later->count++] = {
                    {0, 0}, ids_, static_cast<std::uint32_t>(length), 0};
                ids_ += std::max(length, ShortWord::least_room);
            } else {
                const std::size_t made = merge_symbols(pairs_, symbols_ + first, length);
                std::memcpy(ids_, symbols_ + first, made * sizeof *ids_);
                ids_ += made;
            }
        }
        bytes += starts_[n];
    }
    *count = static_cast<std::size_t>(ids_ - ids);
    return TKX_OK;
}

// A fragment that is merged from its bytes.
int CharacterWords::merge_bytes(tkx_context *ctx, const std::uint8_t *bytes, std::size_t size) {
    std::size_t count = 0;
    WordKey key{0, 0};
    if (size <= WordKey::longest) {
        std::uint8_t padded[16] = {};
        std::memcpy(padded, bytes, size);
        key = {load64(padded), load64(padded + 8) | std::uint64_t(size) << 56 | WordKey::part};
        if (const WordSlot *slot = cache_.find(key)) {
            count = slot->ids[0] >> id_count_shift;
            std::memcpy(ids_, slot->ids, sizeof slot->ids);
            ids_[0] &= id_mask;
            ids_ += count;
            return TKX_OK;
        }
    }
    if (size > most_symbols) {
        const int code = tkx_bulk_merge(ctx, bytes, size, ids_, &count);
        if (code != TKX_OK) return code;
    } else {
        std::uint32_t symbols[most_symbols];
        for (std::size_t i = 0; i < size; i++) symbols[i] = pairs_.byte_id(bytes[i]);
        count = merge_symbols(pairs_, symbols, size);
        std::memcpy(ids_, symbols, count * sizeof *ids_);
        if (size <= WordKey::longest && count <= WordSlot::most_inline)
            cache_.insert(key, bytes, size, symbols, count);
    }
    ids_ += count;
    return TKX_OK;
}

}  // namespace tokexport
