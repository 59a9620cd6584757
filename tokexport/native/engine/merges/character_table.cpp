// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The tokexport authors

#include "character_table.h"

#include <algorithm>
#include <cstring>

#include "engine/eight_bytes.h"
#include "merge_symbols.h"

namespace tokexport {

namespace {

constexpr std::size_t record_size = 8, most_in_character = 4;

std::uint32_t load_u16(const std::uint8_t *p) { return p[0] | std::uint32_t(p[1]) << 8; }

std::uint32_t load_u32(const std::uint8_t *p) { return load_u16(p) | load_u16(p + 2) << 16; }

bool begins_character(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

// Like is_ascii, for 1 to 16 bytes where 16 can be read. There is no branch on the size: tokens
// come in all sizes.
bool is_short_ascii(const std::uint8_t *p, std::size_t size) {
    std::uint8_t bits[16];
    std::memcpy(bits, p, 16);
    static const std::uint8_t mask[32] = {128, 128, 128, 128, 128, 128, 128, 128,
                                          128, 128, 128, 128, 128, 128, 128, 128};
    const std::uint8_t *const m = mask + 16 - size;
    return !((load_u64(bits) & load_u64(m)) | (load_u64(bits + 8) & load_u64(m + 8)));
}

// The size of a character if all its bytes are present, else 0.
std::size_t whole_size(const std::uint8_t *p, const std::uint8_t *end) {
    const std::size_t size = character_size(*p);
    if (!begins_character(*p) || static_cast<std::size_t>(end - p) < size) return 0;
    for (std::size_t i = 1; i < size; i++)
        if (begins_character(p[i])) return 0;
    return size;
}

// Whether a whole character of two or three bytes has the shortest encoding. An overlong one is in
// no text, but a token may have it, and it decodes to the number of another character.
bool is_shortest(const std::uint8_t *p, std::size_t size) {
    return decode_character(p) >= (size == 2 ? 0x80u : 0x800u);
}

std::size_t hash_of(std::uint64_t pattern) {
    return static_cast<std::size_t>(pattern * 0x9E3779B97F4A7C15 >> 40);
}

}  // namespace

bool CharacterTable::fill(const tkx &file, const PairTable &pairs) {
    if (file.keys.data) return false;
    crossed_.reset(new std::uint64_t[(1 << crossed_bits) / 64]());
    part_filter_.reset(new std::uint64_t[(1 << 16) / 64]());
    symbols_.reset(new std::uint32_t[symbol_count]);
    std::fill_n(symbols_.get(), symbol_count, no_symbol);
    std::copy_n(pairs.byte_ids(), 128, symbols_.get());
    patterns_.assign(4096, 0);
    for (std::uint32_t id = 0; id < file.id_count; id++) {
        const std::uint8_t *record = file.records.data + record_size * id;
        const std::uint32_t offset = load_u32(record), size = load_u16(record + 4),
                            flags = load_u16(record + 6);
        if (offset > file.bytes.size || size > file.bytes.size - offset) return false;
        const std::uint8_t *bytes = file.bytes.data + offset;
        if (!(flags & TKX_KIND_MASK) || size < 2) continue;
        const bool is_padded = size <= 16 && file.bytes.size - offset >= 16;
        if (is_padded ? is_short_ascii(bytes, size) : is_ascii(bytes, size)) continue;
        if (bytes[0] >= 0xC0 && bytes[0] < 0xF0 && character_size(bytes[0]) == size &&
            std::none_of(bytes + 1, bytes + size, begins_character) && is_shortest(bytes, size)) {
            std::uint32_t symbols[most_in_character] = {id};
            std::size_t count = 1;
            if (!(flags & TKX_WHOLE)) {
                for (count = 0; count < size; count++) symbols[count] = pairs.byte_id(bytes[count]);
                count = merge_symbols(pairs, symbols, size);
            }
            if (count == 1) symbols_[decode_character(bytes)] = symbols[0];
        }
        if (!add_characters(bytes, size)) add_token(bytes, size);
    }
    return true;
}

// Like add_token, for a token of whole characters, as most are; returns false for another token.
bool CharacterTable::add_characters(const std::uint8_t *bytes, std::size_t size) {
    const std::uint8_t *p = bytes, *const end = bytes + size;
    std::size_t length = whole_size(p, end);
    if (!length) return false;
    std::uint32_t before = decode_character(p);
    for (p += length; p < end; p += length) {
        if ((length = whole_size(p, end)) == 0) return false;
        const std::uint32_t c = decode_character(p);
        note_crossed(before, c);
        before = c;
    }
    return true;
}

// Notes which boundaries a token crosses, in whole or in part.
void CharacterTable::add_token(const std::uint8_t *bytes, std::size_t size) {
    for (std::size_t at = 1; at < size; at++) {
        if (!begins_character(bytes[at])) continue;
        std::size_t before = 1, after = 1;
        while (before < most_in_character && before < at && !begins_character(bytes[at - before]))
            before++;
        while (after < character_size(bytes[at]) && at + after < size &&
               !begins_character(bytes[at + after]))
            after++;
        const bool is_whole = begins_character(bytes[at - before]) &&
                              character_size(bytes[at - before]) == before &&
                              character_size(bytes[at]) == after;
        if (is_whole) {
            note_crossed(decode_character(bytes + at - before), decode_character(bytes + at));
        } else {
            add_pattern(bytes + at, before, after);
        }
    }
}

// The bytes on both sides of a boundary as one number. It is not 0, as one side is not whole. The
// sizes need not be part of it: only a character of one byte begins with the byte 0.
std::uint64_t CharacterTable::pattern(const std::uint8_t *at, std::size_t before,
                                      std::size_t after) {
    std::uint64_t left = 0, right = 0;
    for (std::size_t i = before; i > 0; i--) left = left << 8 | *(at - i);
    for (std::size_t i = 0; i < after; i++) right = right << 8 | at[i];
    return left << 32 | right;
}

void CharacterTable::add_pattern(const std::uint8_t *at, std::size_t before, std::size_t after) {
    const std::size_t bit = std::size_t(at[-1]) << 8 | at[0];
    part_filter_[bit >> 6] |= std::uint64_t(1) << (bit & 63);
    shapes_by_last_[at[-1]] |= static_cast<std::uint16_t>(shape(before, after));
    shapes_by_first_[at[0]] |= static_cast<std::uint16_t>(shape(before, after));
    if (2 * pattern_count_ >= patterns_.size()) {
        std::vector<std::uint64_t> old(2 * patterns_.size(), 0);
        old.swap(patterns_);
        for (std::uint64_t known : old)
            if (known) *slot(known) = known;
    }
    const std::uint64_t added = pattern(at, before, after);
    std::uint64_t *found = slot(added);
    pattern_count_ += *found == 0;
    *found = added;
}

// The slot that a pattern is in, or belongs in.
std::uint64_t *CharacterTable::slot(std::uint64_t wanted) {
    std::size_t i = hash_of(wanted);
    while (patterns_[i & (patterns_.size() - 1)] != 0 &&
           patterns_[i & (patterns_.size() - 1)] != wanted)
        i++;
    return &patterns_[i & (patterns_.size() - 1)];
}

bool CharacterTable::is_crossed_in_part(const std::uint8_t *at, std::size_t before,
                                        std::size_t after) const {
    const std::size_t mask = patterns_.size() - 1;
    const std::uint32_t whole = shape(before, after);
    for (std::uint32_t shapes = shapes_by_last_[at[-1]] & shapes_by_first_[at[0]] & ~whole; shapes;
         shapes &= shapes - 1) {
        const std::size_t a = lowest_bit(shapes) / 4 + 1, b = lowest_bit(shapes) % 4 + 1;
        if (a > before || b > after) continue;
        const std::uint64_t wanted = pattern(at, a, b);
        for (std::size_t i = hash_of(wanted); patterns_[i & mask] != 0; i++)
            if (patterns_[i & mask] == wanted) return true;
    }
    return false;
}

}  // namespace tokexport
