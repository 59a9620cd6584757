/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_symbols.c: pairs, and first symbols (5.6) ------------------------------------------- */

/* Where PIDX has the row of an id that stands on the left: its first slot, and in the upper half
   that of the row behind it. */
static FORCE_INLINE uint64_t pair_row(const tkx *t, uint32_t left) {
    return load_u64(t->pair_rows + 4 * (size_t)(left >> t->row_shift));
}

static FORCE_INLINE uint32_t pair_displacement(const tkx *t, uint64_t h) {
    return load_u16(t->pair_displacements + 2 * bucket_of(h, t->pair_buckets));
}

/* The slot of a pair; the last one in place of one that is not there, in a damaged file. */
static FORCE_INLINE uint64_t pair_slot(const tkx *t, uint64_t h, uint64_t row,
                                       uint32_t displacement) {
    const uint32_t start = (uint32_t)row, room = (uint32_t)(row >> 32) - start;
    const uint64_t slot = (uint64_t)start + slot_of(h, displacement, room);
    return load_u64(t->pair_index.data + PAIR_INDEX_HEADER +
                    8 * (size_t)(slot < t->pair_slots ? slot : t->pair_slots - 1));
}

/* The product that a slot has for two ids, or NONE. */
static FORCE_INLINE uint32_t product_in_slot(run *r, uint64_t slot, uint32_t left, uint32_t right) {
    uint32_t product = (uint32_t)slot & MAX_IDS;
    if (slot >> 21 != ((uint64_t)left << 21 | right)) return NONE;
    if (EXPECT(product < r->t->id_count)) return product;
    fail(r, TKX_E_CORRUPT);
    return NONE;
}

/* The product of two ids, or NONE. */
static FORCE_INLINE uint32_t find_pair(run *r, uint32_t left, uint32_t right) {
    const uint64_t h = hash_pair(left, right);
    return product_in_slot(r, pair_slot(r->t, h, pair_row(r->t, left), pair_displacement(r->t, h)),
                           left, right);
}

/* The products of two ids and of two others; both wait for memory together. */
static FORCE_INLINE void find_two_pairs(run *r, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                                        uint32_t *ab, uint32_t *cd) {
    const tkx *t = r->t;
    const uint64_t first_hash = hash_pair(a, b), second_hash = hash_pair(c, d);
    const uint64_t first_row = pair_row(t, a), second_row = pair_row(t, c);
    const uint32_t first = pair_displacement(t, first_hash),
                   second = pair_displacement(t, second_hash);
    const uint64_t first_slot = pair_slot(t, first_hash, first_row, first),
                   second_slot = pair_slot(t, second_hash, second_row, second);
    *ab = product_in_slot(r, first_slot, a, b);
    *cd = product_in_slot(r, second_slot, c, d);
}

/* The rank of a product, NONE of NONE. */
static FORCE_INLINE uint32_t rank_of(const tkx *t, uint32_t product) {
    return t->ranks.data && product != NONE ? load_u32(t->ranks.data + 4 * (size_t)product)
                                            : product;
}

/* How long the reference library takes a byte of a byte-level model to be: in UTF-8, as GPT-2's
   alphabet spells it. */
static FORCE_INLINE uint32_t spelled_length(uint8_t byte) {
    return byte > 0x20 && byte < 0x7F ? 1 : 2;
}

/* A symbol that merging begins with is its id and, in the bits above, what GRID needs: 128 + c if
   it is that of an ASCII character c. */
static FORCE_INLINE uint32_t marked_symbol(uint32_t id, uint8_t byte) {
    return id | (uint32_t)(byte ^ 0x80) << ID_BITS;
}

/* The symbols of a piece, as u32 in the order of the host: at most `size` of them. `lengths`: what
   the reference library takes them to be long, or NULL. */
static FORCE_INLINE size_t byte_symbols(run *r, const uint8_t *bytes, size_t size, uint8_t *symbols,
                                        uint8_t *lengths) {
    const tkx *t = r->t;
    int was_unknown = 0;
    size_t count = 0, i;
    for (i = 0; i < size; i++) {
        uint32_t id = load_u32(t->byte_ids.data + 4 * (size_t)bytes[i]);
        if (EXPECT(id < t->id_count)) {
            was_unknown = 0;
            id = marked_symbol(id, bytes[i]);
        } else if (id != NONE) {
            fail(r, TKX_E_CORRUPT);
            return 0;
        } else {
            if (t->flags & UNKNOWN_STOPS) {
                fail(r, TKX_E_UNKNOWN_TEXT);
                return 0;
            }
            if (t->unknown_id == NONE) continue;
            if (was_unknown && (t->flags & FUSE_UNKNOWN)) {
                if (lengths)
                    put_u32(lengths + 4 * (count - 1),
                            get_u32(lengths + 4 * (count - 1)) + spelled_length(bytes[i]));
                continue;
            }
            id = t->unknown_id;
            was_unknown = 1;
        }
        if (lengths) put_u32(lengths + 4 * count, spelled_length(bytes[i]));
        put_u32(symbols + 4 * count++, id);
    }
    return count;
}

#ifndef TKX_NO_CHARACTERS

/* Writes a symbol and its length, if it is wanted; gives the place of the next one. */
static FORCE_INLINE size_t put_symbol(uint8_t *symbols, uint8_t *lengths, size_t i, uint32_t id,
                                      size_t length) {
    put_u32(symbols + 4 * i, id);
    if (lengths) put_u32(lengths + 4 * i, (uint32_t)length);
    return i + 1;
}

/* The symbol that CHRS has for a unit, a character or a byte, at a place in its piece, or NONE.
   Places: 0 first, 1 inside, 2 alone, 3 last. */
static FORCE_INLINE uint32_t unit_symbol(run *r, uint32_t unit, uint32_t place) {
    const tkx *t = r->t;
    const uint8_t *table = t->characters.data + CHARACTERS_HEADER;
    size_t block, id = NONE;
    if (t->place_count == 1) place = 0;
    if (load_u32(t->characters.data) == UNIT_BYTE) {
        id = load_u32(table + 4 * (256 * (size_t)place + unit));
    } else {
        size_t middle_count = load_u32(t->characters.data + 8),
               leaf_count = load_u32(t->characters.data + 12);
        block = load_u16(table + TOP_SIZE * (size_t)place + 2 * (unit >> 12));
        table += TOP_SIZE * (size_t)t->place_count;
        if (block < middle_count) block = load_u16(table + 2 * (64 * block + (unit >> 6 & 63)));
        else block = leaf_count;
        if (block < leaf_count)
            id = load_u32(table + 128 * middle_count + 4 * (64 * block + (unit & 63)));
        else fail(r, TKX_E_CORRUPT);
    }
    if (id >= t->id_count && id != NONE) fail(r, TKX_E_CORRUPT);
    return id < t->id_count ? (uint32_t)id : NONE;
}

/* The tokens of the bytes of one character, or 0 where one of them has none. */
static size_t fallback_symbols(run *r, const uint8_t *bytes, size_t size, uint8_t *symbols) {
    size_t i;
    for (i = 0; i < size; i++) {
        uint32_t id = load_u32(r->t->byte_ids.data + 4 * (size_t)bytes[i]);
        if (id >= r->t->id_count) {
            if (id != NONE) fail(r, TKX_E_CORRUPT);
            return 0;
        }
        put_u32(symbols + 4 * i, id);
    }
    return size;
}

/* The symbols of a piece where they are not just those of its bytes: at most `size` of them, as u32
   in the order of the host. An unknown symbol waits until the next known one, so that the bytes of
   other characters come before it, as in the reference. */
static NO_INLINE size_t character_symbols(run *r, const uint8_t *bytes, size_t size,
                                          uint8_t *symbols, uint8_t *lengths) {
    const tkx *t = r->t;
    const int of_bytes = load_u32(t->characters.data) == UNIT_BYTE;
    size_t waits = 0; /* the length of an unknown symbol that waits */
    size_t count = 0, i = 0, length, k;
    for (; i < size; i += length) {
        uint32_t id, place;
        size_t in_bytes, own;
        if (t->ascii_symbols && !waits && !lengths) {
            for (; i < size && bytes[i] < 128; i++) {
                id = load_u32(t->ascii_symbols + 4 * (size_t)bytes[i]);
                if (!EXPECT(id < t->id_count)) break;
                put_u32(symbols + 4 * count++, marked_symbol(id, bytes[i]));
            }
            if (i == size) break;
        }
        length = of_bytes ? 1 : utf8_length(bytes[i]);
        place = (i ? 1u : 0u) + (i + length == size ? 2u : 0u);
        id = unit_symbol(r, of_bytes ? bytes[i] : utf8_decode(bytes + i), place);
        own = of_bytes ? spelled_length(bytes[i]) : length;
        if (EXPECT(id != NONE)) {
            if (waits) count = put_symbol(symbols, lengths, count, t->unknown_id, waits);
            waits = 0;
            count = put_symbol(symbols, lengths, count, id, own);
            continue;
        }
        in_bytes = of_bytes ? 0 : fallback_symbols(r, bytes + i, length, symbols + 4 * count);
        for (k = 0; lengths && k < in_bytes; k++) put_u32(lengths + 4 * (count + k), 1);
        count += in_bytes;
        if (in_bytes) continue;
        if (t->flags & UNKNOWN_STOPS) fail(r, TKX_E_UNKNOWN_TEXT);
        if (t->unknown_id == NONE) continue;
        if (waits && !(t->flags & FUSE_UNKNOWN)) {
            count = put_symbol(symbols, lengths, count, t->unknown_id, waits);
            waits = 0;
        }
        waits += own;
    }
    if (waits) count = put_symbol(symbols, lengths, count, t->unknown_id, waits);
    return r->code == TKX_OK ? count : 0;
}

#endif

/* The symbols that merging begins with, some of them marked. */
static FORCE_INLINE size_t first_symbols(run *r, const uint8_t *bytes, size_t size,
                                         uint8_t *symbols, uint8_t *lengths) {
#ifndef TKX_NO_CHARACTERS
    if (r->t->characters.data) return character_symbols(r, bytes, size, symbols, lengths);
#endif
    return byte_symbols(r, bytes, size, symbols, lengths);
}
