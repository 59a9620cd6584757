/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- decode_bytes.c: the output of decoding (3.8) -------------------------------------------- */

/* The caller's buffer. Bytes that do not fit are counted: `used` then exceeds `capacity`. */
typedef struct tkx_out_buf {
    uint8_t *out;
    size_t capacity, used;
} tkx_out_buf;

static TKX_INLINE void put(tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    if (size && s->used <= s->capacity && size <= s->capacity - s->used)
        memcpy(s->out + s->used, bytes, size);
    s->used = size > SIZE_MAX - s->used ? SIZE_MAX : s->used + size;
}

/* The same for the bytes of a token in BYTS, which ends at `end`. Most tokens are short, and
   copying 16 bytes is twice as fast as a call of memcpy. */
static TKX_INLINE void put_short(tkx_out_buf *s, const uint8_t *bytes, size_t size,
                                 const uint8_t *end) {
    if (TKX_LIKELY(size <= 16 && s->used <= s->capacity && s->capacity - s->used >= 16 &&
                   end - bytes >= 16)) {
        TKX_COPY(s->out + s->used, bytes, 16);
        s->used += size;
    } else {
        put(s, bytes, size);
    }
}

#ifndef TKX_NO_DECODER

/* The entry of EDIT for the state and a class; with TKX_NONE, for the end of the text. */
static const uint8_t *find_edit(const tkx_decoder *d, uint32_t class_) {
    const uint8_t *table = d->t->edits.data, *edits = table + EDITS_HEADER + 256;
    const size_t states = load_u16(table), classes = load_u16(table + 2);
    return edits + EDIT_SIZE * (class_ < classes ? d->edit_state * classes + class_
                                                 : states * classes + d->edit_state);
}

/* Writes the text of an entry of EDIT. */
static void put_edit(const tkx_decoder *d, tkx_out_buf *s, const uint8_t *edit) {
    const tkx_span table = d->t->edits;
    const uint8_t *text = table.data + (table.size - load_u32(table.data + 8));
    put(s, text + load_u32(edit + 4), load_u16(edit + 2) & ~(uint32_t)EDIT_KEEPS);
}

/* Writes bytes of the text as EDIT rewrites them. */
static void put_edited(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    const uint8_t *classes = d->t->edits.data + EDITS_HEADER;
    size_t i, from = 0; /* the first unchanged byte that is not written yet */
    for (i = 0; i < size; i++) {
        const uint8_t *edit = find_edit(d, classes[bytes[i]]);
        const uint32_t length = load_u16(edit + 2);
        d->edit_state = (uint16_t)load_u16(edit);
        if (length == EDIT_KEEPS) continue;
        put(s, bytes + from, i - from);
        put_edit(d, s, edit);
        from = length & EDIT_KEEPS ? i : i + 1;
    }
    put(s, bytes + from, size - from);
}

#endif

/* Writes bytes of the text, rewritten by EDIT, or without the byte to strip at its start. */
static void put_inner(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t skip = size && d->strip && *bytes == d->strip;
    if (size) d->strip = 0;
#ifndef TKX_NO_DECODER
    if (d->t->edits.data) put_edited(d, s, bytes, size);
    else
#endif
        put(s, bytes + skip, size - skip);
}

/* Writes U+FFFD `count` times. */
static void put_bad(tkx_decoder *d, tkx_out_buf *s, size_t count) {
    for (; count; count--) put_inner(d, s, (const uint8_t *)"\xEF\xBF\xBD", 3);
}

/* Writes the replacement of `count` bytes that are not UTF-8. */
static void put_replacement(tkx_decoder *d, tkx_out_buf *s, size_t count) {
    put_bad(d, s, d->rules & BY_CHARACTER ? count : count != 0);
}

/* Writes U+FFFD for a character that remains incomplete. */
static void end_held(tkx_decoder *d, tkx_out_buf *s) {
    put_replacement(d, s, d->held_size);
    d->held_size = 0;
}

/* Writes bytes unchanged (as_bytes), or as text, holding back an incomplete character. */
static void put_bytes(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t i = 0, looked;
    if (d->as_bytes) put_inner(d, s, bytes, size);
    while (i < size && !d->as_bytes) {
        int look;
        if (d->held_size) {
            d->held[d->held_size] = bytes[i];
            look = utf8_look(d->held, d->held_size + (size_t)1, &looked);
            if (look == UTF8_BAD) {
                end_held(d, s);
                continue;
            }
            d->held_size++;
            i++;
            if (look == UTF8_CUT) continue;
            put_inner(d, s, d->held, d->held_size);
            d->held_size = 0;
        }
        looked = utf8_valid(bytes + i, size - i);
        put_inner(d, s, bytes + i, looked);
        i += looked;
        if (i == size) break;
        look = utf8_look(bytes + i, size - i, &looked);
        if (look == UTF8_CUT) {
            memcpy(d->held, bytes + i, looked);
            d->held_size = (uint8_t)looked;
        } else {
            put_replacement(d, s, looked);
        }
        i += looked;
    }
}
