/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_parts.c: cutting a pre-token of bytes before it is merged (Annex B) ----------------- */

/* Appends ids of a pre-token, at most SHORT_PRETOKEN; there is room for SPARE more to read. */
static TKX_INLINE void emit_short(tkx_context *ctx, const uint32_t *ids, size_t count) {
    size_t i;
    if (TKX_LIKELY(ctx->capacity >= SHORT_PRETOKEN &&
                   ctx->count <= ctx->capacity - SHORT_PRETOKEN)) {
        /* Four at a time: the count is unpredictable. Ids past the end are padding. */
        for (i = 0; i < count; i += 4)
            TKX_COPY(ctx->ids + ctx->count + i, ids + i, 4 * sizeof *ids);
        ctx->count += count;
    } else {
        for (i = 0; i < count; i++) emit(ctx, ids[i]);
    }
}

static int is_ascii(const uint8_t *p, size_t size) {
    uint8_t all = 0;
    size_t i;
    for (i = 0; i < size; i++) all |= p[i];
    return all < 128;
}

/* The symbol that the bytes of a character merge to, or TKX_NONE. */
static TKX_INLINE uint32_t character_symbol(tkx_context *ctx, const uint8_t *p, size_t length) {
    const uint32_t first = byte_id(ctx, *p), last = byte_id(ctx, p[length - 1]);
    uint32_t id, flags;
    int found;
    if (length == 1 || first == TKX_NONE || last == TKX_NONE) return length == 1 ? first : TKX_NONE;
    if (length == 2) return find_merge(ctx, first, last);
    found = find_token(ctx->t, p, length, &id, &flags);
    if (found == TKX_E_CORRUPT) fail(ctx, found);
    return found == TKX_OK && (flags & TKX_WHOLE) ? id : TKX_NONE;
}

/* Whether the map of XPRS after `skipped` bytes says that a merge may cross a boundary. */
static TKX_INLINE int may_cross(const tkx *t, size_t skipped, uint32_t left, uint32_t right) {
    const uint64_t h = (left * TKX_K0 ^ right) * TKX_K1;
    return bit_of(t->crossings.data + CROSSINGS_HEADER + skipped, (size_t)(h >> t->crossing_shift));
}

/* Merges a pre-token that begins with a whole character and is no token, each part between
   uncrossed boundaries by itself. Where no end of a character is joined alone, its bytes are merged
   first: a look-up in place of merges. `ids` has room for those of a short pre-token. */
static TKX_NOINLINE void merge_parts(tkx_context *ctx, const uint8_t *p, size_t size,
                                     uint32_t *ids) {
    const uint8_t *const joined_ends = ctx->t->crossings.data + CROSSINGS_HEADER;
    const uint8_t *const end = p + size, *at;
    for (; p < end && ctx->code == TKX_OK; p = at) {
        uint32_t left = 0, right;
        size_t count = 0, length;
        int of_bytes = 0; /* whether the part is merged from its bytes */
        for (at = p; at < end; at += length, left = right) {
            length = utf8_length(*at);
            right = length > (size_t)(end - at) ? 0 : utf8_decode(at);
            if (at > p && (left | right) >= 128) {
                if (bit_of(joined_ends, 256 * (size_t)at[-1] + *at)) of_bytes = 1;
                else if (!may_cross(ctx->t, CROSSINGS_BYTES, left, right)) break;
            }
            of_bytes |= count == SHORT_PRETOKEN || length > (size_t)(end - at);
            if (of_bytes) continue;
            ids[count] = character_symbol(ctx, at, length);
            of_bytes = ids[count++] == TKX_NONE;
        }
        if (at > end) at = end;
        length = (size_t)(at - p);
        if (of_bytes && length > SHORT_PRETOKEN) {
            merge_long(ctx, p, length);
            continue;
        }
        if (of_bytes) count = merge_short(ctx, p, length, ids);
        else if (count > 1) count = merge_symbols(ctx, ids, count);
        emit_short(ctx, ids, count);
    }
}
