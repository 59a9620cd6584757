// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "character_words.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "eight_bytes.h"
#include "engine/merges/merge_symbols.h"

namespace tokexport {

void CharacterWords::begin() {
    const CharacterTable *const characters = engine_.characters();
    if (!characters) return;
    // From calloc: most pages are never touched.
    known_.reset(static_cast<std::uint64_t *>(
        std::calloc(CharacterTable::symbol_count, sizeof(std::uint64_t))));
    if (!known_) throw std::bad_alloc();
    characters_ = characters;
}

// Decodes at most `window` characters; returns how many.
std::size_t CharacterWords::read(const std::uint8_t *bytes, const std::uint8_t *end) {
    const std::uint8_t *p = bytes;
    std::size_t count = 0, size_before = 0;
    std::uint32_t before = 0;
    std::uint64_t crossed = 0, crossed_in_part = 0, no_symbol = 0;
    for (; p < end && count < window; count++) {
        const std::uint32_t c = decode_character(p), symbol = characters_->symbol(c);
        const std::size_t size = character_size(*p);
        starts_[count] = static_cast<std::uint32_t>(p - bytes);
        symbols_[count] = symbol;
        no_symbol |= std::uint64_t(symbol == CharacterTable::no_symbol) << count;
        if (count) {
            const bool is_crossed = characters_->is_crossed(before, c);
            crossed |= std::uint64_t(is_crossed) << (count - 1);
            // If a character has no known symbol, the boundary counts as crossed in part: then the
            // symbols are made from the bytes. Only is_crossed is unpredictable.
            const bool is_far = !CharacterTable::has_symbol(before | c),
                       may_be_in_part = characters_->may_be_crossed_in_part(p[-1], *p);
            if (__builtin_expect(is_far | may_be_in_part, 0) &&
                ((is_far & is_crossed) ||
                 (may_be_in_part && characters_->is_crossed_in_part(p, size_before, size))))
                crossed_in_part |= std::uint64_t(1) << (count - 1);
        }
        before = c;
        size_before = size;
        p += size;
    }
    starts_[count] = static_cast<std::uint32_t>(p - bytes);
    crossed_ = crossed;
    crossed_in_part_ = crossed_in_part;
    no_symbol_ = no_symbol;
    return count;
}

// Prefetches the slots of pairs that may be merged, all together, before any is read.
void CharacterWords::find_pairs() {
    for (std::uint64_t rest = crossed_; rest; rest &= rest - 1) {
        const unsigned i = lowest_bit(rest);
        slots_[i] = pairs_.slot(symbols_[i], symbols_[i + 1]);
        __builtin_prefetch(slots_[i]);
    }
}

int CharacterWords::merge(tkx_context *ctx, const std::uint8_t *bytes, std::size_t size,
                          std::uint32_t *ids, std::size_t *count, Later *later) {
    const std::uint8_t *const end = bytes + size;
    ids_ = ids;
    while (bytes < end) {
        std::size_t n = read(bytes, end);
        const bool is_last = bytes + starts_[n] == end;
        // A character without a symbol that no merge touches in part is cut off: to take it whole,
        // a merge would need its symbol. The right boundary of the last character is not known.
        std::uint64_t alone = no_symbol_ & ~(crossed_in_part_ | crossed_in_part_ << 1);
        if (!is_last) alone &= ~(std::uint64_t(1) << (n - 1));
        std::uint64_t joined = (crossed_ & ~(alone | alone >> 1)) | crossed_in_part_;
        if (!is_last) {
            // Up to the last cut: the fragment after it may continue beyond the window.
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
        const std::uint64_t all = ~std::uint64_t(0) >> (window - n);
        joined &= all >> 1;
        crossed_ &= joined;
        find_pairs();
        // Characters that do not stand for just their own symbol.
        const std::uint64_t special = (joined | no_symbol_) & all;
        for (std::size_t first = 0, last; first < n; first = last) {
            const std::uint64_t rest = special >> first;
            const std::size_t single = rest ? lowest_bit(rest) : n - first;
            for (std::size_t i = 0; i < single; i += 4)
                std::memcpy(ids_ + i, symbols_ + first + i, 4 * sizeof *ids_);
            ids_ += single;
            first += single;
            if (first == n) break;
            const std::size_t length = lowest_bit(~(joined >> first)) + std::size_t(1);
            const bool is_in_part =
                crossed_in_part_ >> first & ((std::uint64_t(1) << (length - 1)) - 1);
            last = first + length;
            if (length == 1 && write_known(bytes + starts_[first])) continue;
            if (length == 1 || is_in_part) {
                const int code = merge_parts(ctx, bytes, first, last, later);
                if (code != TKX_OK) return code;
            } else if (length == 2) {
                merge_two(first);
            } else if (length == 3) {
                merge_three(first);
            } else if (later && later->takes(length)) {
                std::memcpy(ids_, symbols_ + first, length * sizeof *ids_);
                ids_ += later->add({0, 0}, ids_, length);
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

// Merges a fragment of two symbols without a branch.
void CharacterWords::merge_two(std::size_t first) {
    const std::uint32_t left = symbols_[first], right = symbols_[first + 1],
                        product = PairTable::product_in(*slots_[first], left, right);
    const bool is_pair = product != PairTable::no_id;
    ids_[0] = is_pair ? pairs_.id_of(product) : left;
    ids_[1] = right;
    ids_ += is_pair ? 1 : 2;
}

// The same for three symbols.
void CharacterWords::merge_three(std::size_t first) {
    const std::uint32_t *const symbols = symbols_ + first;
    const std::uint32_t one = PairTable::product_in(*slots_[first], symbols[0], symbols[1]),
                        two = PairTable::product_in(*slots_[first + 1], symbols[1], symbols[2]);
    const bool is_left = one <= two, is_pair = std::min(one, two) != PairTable::no_id;
    const std::uint32_t merged = is_pair ? pairs_.id_of(std::min(one, two)) : PairTable::no_id;
    const std::uint32_t left = is_left ? merged : symbols[0], right = is_left ? symbols[2] : merged;
    const std::uint32_t all = is_pair ? pairs_.product(left, right) : PairTable::no_id;
    const bool is_all = all != PairTable::no_id;
    ids_[0] = is_all ? pairs_.id_of(all) : is_pair ? left : symbols[0];
    ids_[1] = is_pair ? right : symbols[1];
    ids_[2] = symbols[2];
    ids_ += 3 - is_pair - is_all;
}

// Writes the ids of a character without a symbol; false for a rare one, whose ids are not stored.
bool CharacterWords::write_known(const std::uint8_t *bytes) {
    const std::uint32_t c = decode_character(bytes);
    if (__builtin_expect(!CharacterTable::has_symbol(c), 0)) return false;
    std::uint64_t known = known_[c];
    if (__builtin_expect(!known, 0)) {
        std::uint32_t symbols[4];
        const std::size_t size = character_size(*bytes);
        for (std::size_t i = 0; i < size; i++) symbols[i] = pairs_.byte_id(bytes[i]);
        if (merge_symbols(pairs_, symbols, size) < 3) symbols[2] = PairTable::no_id;
        known = symbols[0] | std::uint64_t(symbols[1]) << 21 | std::uint64_t(symbols[2]) << 42;
        known_[c] = known;
    }
    for (unsigned i = 0; i < 3; i++) ids_[i] = known >> 21 * i & PairTable::no_id;
    ids_ += ids_[2] == PairTable::no_id ? 2 : 3;
    return true;
}

// Merges a fragment of characters some of whose boundaries are crossed in part: these begin as
// bytes, the others as symbols.
int CharacterWords::merge_parts(tkx_context *ctx, const std::uint8_t *bytes, std::size_t first,
                                std::size_t last, Later *later) {
    const std::size_t size = starts_[last] - starts_[first];
    const std::uint8_t *p = bytes + starts_[first];
    WordKey key{0, 0};
    if (size <= WordKey::longest) {
        std::uint8_t padded[16] = {};
        std::memcpy(padded, p, size);
        key = {load64(padded), load64(padded + 8) | std::uint64_t(size) << 56 | WordKey::part};
        if (const WordSlot *slot = cache_.find(key)) {
            std::memcpy(ids_, slot->ids, sizeof slot->ids);
            ids_[0] &= id_mask;
            ids_ += slot->ids[0] >> id_count_shift;
            return TKX_OK;
        }
    }
    if (size > most_symbols) {
        std::size_t count = 0;
        const int code = tkx_bulk_merge(ctx, p, size, ids_, &count);
        ids_ += count;
        return code;
    }
    std::uint32_t symbols[most_symbols];
    std::size_t count = 0;
    const std::uint64_t parts = crossed_in_part_ | crossed_in_part_ << 1 | no_symbol_;
    for (std::size_t i = first; i < last; i++) {
        const std::uint8_t *const end = bytes + starts_[i + 1];
        if (parts >> i & 1)
            while (p < end) symbols[count++] = pairs_.byte_id(*p++);
        else symbols[count++] = symbols_[i];
        p = end;
    }
    if (later && later->takes(count)) {
        std::memcpy(ids_, symbols, count * sizeof *ids_);
        ids_ += later->add(key, ids_, count);
        return TKX_OK;
    }
    count = merge_symbols(pairs_, symbols, count);
    std::memcpy(ids_, symbols, count * sizeof *ids_);
    add_part(key, symbols, count);
    ids_ += count;
    return TKX_OK;
}

}  // namespace tokexport
