/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- decode.c: decoding ---------------------------------------------------------------------- */

/* Starts a text. Returns TKX_OK or TKX_E_CORRUPT. */
static int start(tkx_decoder *d, const tkx *t, int skip_special) {
    memset(d, 0, sizeof *d);
    d->t = t;
    d->skip_special = skip_special != 0;
#ifndef TKX_NO_DECODER
    if (!read_rules(d)) d->t = NULL;
#endif
    return d->t ? TKX_OK : TKX_E_CORRUPT;
}

/* Returns TKX_E_BYTES if the output did not fit. */
static int give_size(const tkx_out_buf *s, size_t *size) {
    *size = s->used;
    return s->used <= s->capacity ? TKX_OK : TKX_E_BYTES;
}

/* Adds an id to a text, for a file without decoder rules. */
static int add_plainly(tkx_decoder *d, tkx_out_buf *s, uint32_t id) {
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code == TKX_OK && !(d->skip_special && (flags & TKX_SPECIAL)))
        put_bytes(d, s, bytes, length);
    return code;
}

static int decode(const tkx *t, int as_bytes, const uint32_t *ids, size_t count, uint8_t *out,
                  size_t capacity, size_t *size, size_t *ends) {
    tkx_decoder d;
    tkx_out_buf s = {out, capacity, 0};
    size_t i;
    int code;
    if (!t || !size || (!ids && count) || (!out && capacity)) return TKX_E_ARGUMENT;
    *size = 0;
    code = start(&d, t, 0);
    d.as_bytes = (uint8_t)as_bytes;
#ifndef TKX_NO_DECODER
    if (code == TKX_OK && t->decoder.data) {
        code = decode_by_rules(&d, ids, count, &s, size, ends);
        return code == TKX_OK ? give_size(&s, size) : code;
    }
#endif
    for (i = 0; i < count && code == TKX_OK; i++) {
        code = add_plainly(&d, &s, ids[i]);
        if (code == TKX_E_ID) *size = i;
        if (ends) ends[i] = s.used;
    }
    if (code != TKX_OK) return code;
    end_held(&d, &s);
    return give_size(&s, size);
}

int tkx_decode_text(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out, size_t capacity,
                    size_t *size) {
    return decode(t, 0, ids, count, out, capacity, size, NULL);
}

int tkx_decode_ends(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out, size_t capacity,
                    size_t *size, size_t *ends) {
    if (!ends && count) return TKX_E_ARGUMENT;
    return decode(t, 1, ids, count, out, capacity, size, ends);
}

int tkx_decode(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out, size_t capacity,
               size_t *size) {
    const uint8_t *bytes, *end;
    uint32_t length, flags;
    tkx_out_buf s = {out, capacity, 0};
    size_t i;
    if (!t || !size || (!ids && count) || (!out && capacity) || t->decoder.data)
        return decode(t, 1, ids, count, out, capacity, size, NULL);
    *size = 0;
    end = t->bytes.data + t->bytes.size;
    for (i = 0; i < count; i++) {
        const int code = read_token(t, ids[i], &bytes, &length, &flags);
        if (code == TKX_E_ID) *size = i;
        if (code != TKX_OK) return code;
        put_short(&s, bytes, length, end);
    }
    return give_size(&s, size);
}

int tkx_decoder_init(tkx_decoder *d, const tkx *t, int skip_special) {
    if (!d || !t) return TKX_E_ARGUMENT;
    return start(d, t, skip_special);
}

/* Adds an id to a stream, or ends its text if `id` is NULL. */
static int advance(tkx_decoder *d, const uint32_t *id, uint8_t *out, size_t capacity,
                   size_t *size) {
    tkx_decoder after;
    tkx_out_buf s = {out, capacity, 0};
    int code = TKX_OK;
    if (!d || !d->t || !size || (!out && capacity)) return TKX_E_ARGUMENT;
    *size = 0;
    after = *d;
#ifndef TKX_NO_DECODER
    if (d->t->decoder.data) code = id ? add_id(&after, &s, *id) : end_text(&after, &s);
    else
#endif
        if (id)
        code = add_plainly(&after, &s, *id);
    else end_held(&after, &s);
    if (code == TKX_OK) code = give_size(&s, size);
    if (code != TKX_OK) return code;
    *d = after;
    return id ? TKX_OK : start(d, after.t, after.skip_special);
}

int tkx_decoder_step(tkx_decoder *d, uint32_t id, uint8_t *out, size_t capacity, size_t *size) {
    return advance(d, &id, out, capacity, size);
}

int tkx_decoder_flush(tkx_decoder *d, uint8_t *out, size_t capacity, size_t *size) {
    return advance(d, NULL, out, capacity, size);
}
