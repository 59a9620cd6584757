/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_symbols.c: pairs, and first symbols (3.5) ------------------------------------------- */

/* The merged id of two ids, or TKX_NONE. */
static TKX_INLINE uint32_t find_merge(tkx_context *ctx, uint32_t left, uint32_t right) {
    const tkx *t = ctx->t;
    const size_t slot = pair_slot(t, left, right);
    const int is_there = slot != SIZE_MAX;
    const uint64_t pair =
        load_u64(t->pair_index.data + PAIR_INDEX_HEADER + 8 * (TKX_LIKELY(is_there) ? slot : 0));
    const uint32_t merged = (uint32_t)pair & MAX_IDS;
    if (is_there && pair >> 21 != ((uint64_t)left << 21 | right)) return TKX_NONE;
    if (TKX_LIKELY(is_there && merged < t->id_count)) return merged;
    return fail(ctx, TKX_E_CORRUPT), TKX_NONE;
}

/* The rank of a merged id; TKX_NONE for TKX_NONE. */
static TKX_INLINE uint32_t rank_of(const tkx *t, uint32_t merged) {
    return t->ranks.data && merged != TKX_NONE ? load_u32(t->ranks.data + 4 * (size_t)merged)
                                               : merged;
}

/* The token of a byte in BIDS, or TKX_NONE. */
static TKX_INLINE uint32_t byte_id(tkx_context *ctx, uint8_t byte) {
    const uint32_t id = load_u32(ctx->t->byte_ids.data + 4 * (size_t)byte);
    if (TKX_LIKELY(id < ctx->t->id_count)) return id;
    if (id != TKX_NONE) fail(ctx, TKX_E_CORRUPT);
    return TKX_NONE;
}

/* The length of a byte's letter in GPT-2's alphabet, the unit of byte-level spans. */
static TKX_INLINE uint32_t spelled_length(uint8_t byte) {
    return byte > 0x20 && byte < 0x7F ? 1 : 2;
}

/* Writes symbol i, and its length unless `lengths` is NULL. Returns i + 1. */
static TKX_INLINE size_t put_symbol(uint8_t *symbols, uint8_t *lengths, size_t i, uint32_t id,
                                    size_t length) {
    put_u32(symbols + 4 * i, id);
    if (lengths) put_u32(lengths + 4 * i, (uint32_t)length);
    return i + 1;
}

/* Writes the first symbols of a pre-token, at most `size`, and unless `lengths` is NULL their
   lengths as the reference library counts them. Returns their number. */
static TKX_INLINE size_t byte_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                                      uint8_t *symbols, uint8_t *lengths) {
    const tkx *t = ctx->t;
    int was_unknown = 0;
    size_t count = 0, i;
    for (i = 0; i < size; i++) {
        uint32_t id = byte_id(ctx, bytes[i]), length = spelled_length(bytes[i]);
        if (TKX_LIKELY(id != TKX_NONE)) {
            was_unknown = 0;
        } else {
            if (t->flags & UNKNOWN_STOPS) fail(ctx, TKX_E_UNKNOWN_TEXT);
            if (ctx->code != TKX_OK) return 0;
            if (t->unknown_id == TKX_NONE) continue;
            id = t->unknown_id;
            if (was_unknown && (t->flags & FUSE_UNKNOWN)) {
                count--;
                if (lengths) length += get_u32(lengths + 4 * count);
            }
            was_unknown = 1;
        }
        count = put_symbol(symbols, lengths, count, id, length);
    }
    return count;
}

#ifndef TKX_NO_CHARACTERS

/* The symbol in CHRS of a unit (a character or a byte), or TKX_NONE. Places in the pre-token: 0
   first, 1 inner, 2 only, 3 last. */
static TKX_INLINE uint32_t unit_symbol(tkx_context *ctx, uint32_t unit, uint32_t place) {
    const tkx *t = ctx->t;
    const uint8_t *table = t->characters.data + CHARACTERS_HEADER;
    size_t id = TKX_NONE;
    if (t->place_count == 1) place = 0;
    if (load_u32(t->characters.data) == UNIT_BYTE) {
        id = load_u32(table + 4 * (256 * (size_t)place + unit));
    } else {
        const size_t middle_count = load_u32(t->characters.data + 8),
                     leaf_count = load_u32(t->characters.data + 12);
        const uint8_t *middle = table + TOP_SIZE * (size_t)t->place_count;
        const size_t leaf =
            find_leaf(table + TOP_SIZE * (size_t)place, middle, middle_count, leaf_count, unit);
        if (leaf == SIZE_MAX) fail(ctx, TKX_E_CORRUPT);
        else id = load_u32(middle + 128 * middle_count + 4 * leaf);
    }
    if (id >= t->id_count && id != TKX_NONE) fail(ctx, TKX_E_CORRUPT);
    return id < t->id_count ? (uint32_t)id : TKX_NONE;
}

/* Writes the tokens of the bytes of one character. Returns 0 if a byte has none. */
static size_t fallback_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                               uint8_t *symbols) {
    size_t i;
    for (i = 0; i < size; i++) {
        const uint32_t id = byte_id(ctx, bytes[i]);
        if (id == TKX_NONE) return 0;
        put_u32(symbols + 4 * i, id);
    }
    return size;
}

/* Like byte_symbols, for a file with CHRS. An unknown symbol is written only before the next known
   one, so that byte tokens of other characters precede it, as in the reference library. */
static TKX_NOINLINE size_t character_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                                             uint8_t *symbols, uint8_t *lengths) {
    const tkx *t = ctx->t;
    const int of_bytes = load_u32(t->characters.data) == UNIT_BYTE;
    size_t pending = 0; /* the length of an unknown symbol not yet written; 0: none */
    size_t count = 0, i = 0, length, k;
    for (; i < size; i += length) {
        uint32_t id, place;
        size_t in_bytes, own;
        if (t->ascii_symbols && !pending && !lengths) {
            for (; i < size && bytes[i] < 128; i++) {
                id = load_u32(t->ascii_symbols + 4 * (size_t)bytes[i]);
                if (!TKX_LIKELY(id < t->id_count)) break;
                put_u32(symbols + 4 * count++, id);
            }
            if (i == size) break;
        }
        length = of_bytes ? 1 : utf8_length(bytes[i]);
        place = (i ? 1u : 0u) + (i + length == size ? 2u : 0u);
        id = unit_symbol(ctx, of_bytes ? bytes[i] : utf8_decode(bytes + i), place);
        own = of_bytes ? spelled_length(bytes[i]) : length;
        if (TKX_LIKELY(id != TKX_NONE)) {
            if (pending) count = put_symbol(symbols, lengths, count, t->unknown_id, pending);
            pending = 0;
            count = put_symbol(symbols, lengths, count, id, own);
            continue;
        }
        in_bytes = of_bytes ? 0 : fallback_symbols(ctx, bytes + i, length, symbols + 4 * count);
        for (k = 0; lengths && k < in_bytes; k++) put_u32(lengths + 4 * (count + k), 1);
        count += in_bytes;
        if (in_bytes) continue;
        if (t->flags & UNKNOWN_STOPS) fail(ctx, TKX_E_UNKNOWN_TEXT);
        if (t->unknown_id == TKX_NONE) continue;
        if (pending && !(t->flags & FUSE_UNKNOWN)) {
            count = put_symbol(symbols, lengths, count, t->unknown_id, pending);
            pending = 0;
        }
        pending += own;
    }
    if (pending) count = put_symbol(symbols, lengths, count, t->unknown_id, pending);
    return ctx->code == TKX_OK ? count : 0;
}

#endif

/* Writes the first symbols of a pre-token. Returns their number. */
static TKX_INLINE size_t first_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                                       uint8_t *symbols, uint8_t *lengths) {
#ifndef TKX_NO_CHARACTERS
    if (ctx->t->characters.data) return character_symbols(ctx, bytes, size, symbols, lengths);
#endif
    return byte_symbols(ctx, bytes, size, symbols, lengths);
}
