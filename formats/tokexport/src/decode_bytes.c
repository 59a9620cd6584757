/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- decode_bytes.c: what decoding writes (5.7) ---------------------------------------------- */

static const uint8_t REPLACEMENT[3] = {0xEF, 0xBF, 0xBD};

/* The caller's buffer. Bytes that do not fit are counted: `used` then exceeds `capacity`. `taken`
   counts the bytes before any are stripped. */
typedef struct tkx_out_buf {
    uint8_t *out;
    size_t capacity, used, taken;
} tkx_out_buf;

static TKX_INLINE void put(tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    if (size && s->used <= s->capacity && size <= s->capacity - s->used)
        memcpy(s->out + s->used, bytes, size);
    s->used = size > SIZE_MAX - s->used ? SIZE_MAX : s->used + size;
}

/* The record of an id, which must be a token. TKX_OK, TKX_E_ID or TKX_E_CORRUPT. */
static TKX_INLINE int read_token(const tkx *t, uint32_t id, const uint8_t **bytes, uint32_t *length,
                                 uint32_t *flags) {
    if (id >= t->id_count) return TKX_E_ID;
    if (!read_record(t, id, bytes, length, flags)) return TKX_E_CORRUPT;
    return (*flags & TKX_KIND_MASK) == TKX_KIND_HOLE ? TKX_E_ID : TKX_OK;
}

#ifdef TKX_NO_DECODER

static void put_inner(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    (void)d;
    put(s, bytes, size);
}

#else

/* Writes what was held back to be stripped at the end: more text has followed. */
static void release_right(tkx_decoder *d, tkx_out_buf *s) {
    for (; d->right_count; d->right_count--) put(s, d->right + 1, d->right[0]);
    put(s, d->right + 1, d->right_part);
    d->right_part = 0;
}

/* Holds back as many of the character to be stripped at the end as may be dropped. It is compared
   by bytes, as a token may end inside it. Its first byte occurs in it once, so after a mismatch no
   match begins at a later byte. */
static void put_right(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t i = 0, j;
    if (!d->right_most) {
        put(s, bytes, size);
        return;
    }
    while (i < size) {
        if (bytes[i] == d->right[1 + d->right_part]) {
            i++;
            if (++d->right_part < d->right[0]) continue;
            d->right_part = 0;
            if (d->right_count < d->right_most) d->right_count++;
            else put(s, d->right + 1, d->right[0]);
        } else if (d->right_count || d->right_part) {
            release_right(d, s);
        } else {
            for (j = i; j < size && bytes[j] != d->right[1]; j++) continue;
            put(s, bytes + i, j - i);
            i = j;
        }
    }
}

/* The edit of a state for a class, or the one at the end of the text for the class after the last;
   and its text. */
static const uint8_t *find_edit(const tkx_decoder *d, uint32_t class_) {
    const uint8_t *edits = d->t->decoder.data + DECODER_SIZE + 256;
    const size_t states = d->edit_states, classes = load_u16(d->t->decoder.data + 22);
    return edits + EDIT_SIZE * (class_ < classes ? d->edit_state * classes + class_
                                                 : states * classes + d->edit_state);
}

static void put_edit(const tkx_decoder *d, tkx_out_buf *s, const uint8_t *edit) {
    const tkx_span section = d->t->decoder;
    const uint8_t *text = section.data + (section.size - load_u32(section.data + 24));
    put(s, text + load_u32(edit + 4), load_u16(edit + 2) & ~(uint32_t)EDIT_KEEPS);
}

/* Writes bytes of the text as the edits make them. */
static void put_edited(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    const uint8_t *classes = d->t->decoder.data + DECODER_SIZE;
    size_t i, from = 0; /* the first byte that is to be written as it is */
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

/* Lets the edits read an edge: RUN_EDGE or TOKEN_EDGE. */
static void put_edge(tkx_decoder *d, tkx_out_buf *s, uint32_t edge) {
    const uint8_t *edit;
    if (!(d->rules & EDGES)) return;
    edit = find_edit(d, load_u16(d->t->decoder.data + 22) - edge);
    put_edit(d, s, edit);
    d->edit_state = (uint16_t)load_u16(edit);
}

/* Writes bytes of the text without what is stripped at its ends, or as the edits change them. */
static void put_inner(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t i = 0;
    if (d->edit_states) {
        put_edited(d, s, bytes, size);
        return;
    }
    s->taken = size > SIZE_MAX - s->taken ? SIZE_MAX : s->taken + size;
    while (d->left_count && i < size) {
        if (bytes[i] == d->left[1 + d->left_part]) {
            i++;
            if (++d->left_part < d->left[0]) continue;
            d->left_part = 0;
            d->left_count--;
        } else {
            d->left_count = 0;
            put_right(d, s, d->left + 1, d->left_part);
            d->left_part = 0;
        }
    }
    put_right(d, s, bytes + i, size - i);
}

#endif

/* Writes U+FFFD for `count` bytes that are not UTF-8. */
static void put_replacement(tkx_decoder *d, tkx_out_buf *s, size_t count) {
    if (!(d->rules & BY_CHARACTER)) count = count ? 1 : 0;
    for (; count; count--) put_inner(d, s, REPLACEMENT, 3);
}

/* Writes bytes: as they are, or as text, holding back an incomplete character. */
static void put_bytes(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t i = 0, looked;
    if (d->as_bytes) {
        put_inner(d, s, bytes, size);
        return;
    }
    while (i < size) {
        int look;
        if (d->held_size) {
            d->held[d->held_size] = bytes[i];
            look = utf8_look(d->held, d->held_size + (size_t)1, &looked);
            if (look == UTF8_BAD) {
                put_replacement(d, s, d->held_size);
                d->held_size = 0;
                continue;
            }
            d->held_size++;
            i++;
            if (look == UTF8_GOOD) {
                put_inner(d, s, d->held, d->held_size);
                d->held_size = 0;
            }
            continue;
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

/* Writes U+FFFD for an incomplete character that no byte completes. */
static void end_held(tkx_decoder *d, tkx_out_buf *s) {
    put_replacement(d, s, d->held_size);
    d->held_size = 0;
}
