/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- decode_rules.c: decoding by rules (3.8, DECO) ------------------------------------------- */

#ifndef TKX_NO_DECODER

enum { FIRST = 1, LAST = 2 }; /* the place of a token: one, both or neither */

/* A run of FALLBACK tokens: text if it is UTF-8 as a whole, otherwise U+FFFD for each byte.

   RUN_NONE ---- look_at_run, if all ids are known ----+---> RUN_GOOD: written
      |                                                +---> RUN_BAD: U+FFFD for each byte
      +---- in a stream ----> RUN_HELD: held back ---- a bad byte ----^
                              (at TKX_MAX_RUN its whole characters are written) */
enum { RUN_NONE, RUN_HELD, RUN_GOOD, RUN_BAD };

/* Replaces the bytes of a token by its surface form at a place; 0 if it is outside BYTS (I19). */
static int form_at(const tkx *t, uint32_t flags, unsigned place, const uint8_t **bytes,
                   uint32_t *length) {
    const size_t before = (size_t)(*bytes - t->bytes.data);
    if (place & FIRST) {
        uint32_t skip = (flags & TKX_FIRST_SKIP) >> FIRST_SKIP_SHIFT,
                 more = (flags & TKX_FIRST_MORE) >> FIRST_MORE_SHIFT;
        if (skip > *length || more > before) return 0;
        *bytes = *bytes + skip - more;
        *length = *length - skip + more;
    }
    if (place & LAST) {
        uint32_t skip = (flags & TKX_LAST_SKIP) >> LAST_SKIP_SHIFT;
        if (skip > *length) return 0;
        *length -= skip;
    }
    return 1;
}

/* Holds back a byte of a run until it is known whether the run is UTF-8. */
static void hold_byte(tkx_decoder *d, tkx_out_buf *s, uint8_t byte) {
    size_t looked;
    int look;
    d->run[d->run_size++] = byte;
    look = utf8_look(d->run + d->run_good, (size_t)(d->run_size - d->run_good), &looked);
    if (look == UTF8_GOOD) d->run_good = d->run_size;
    if (look == UTF8_BAD) {
        put_bad(d, s, d->run_size);
        d->run_size = d->run_good = 0;
        d->run_state = RUN_BAD;
    } else if (d->run_size == TKX_MAX_RUN) {
        put_inner(d, s, d->run, d->run_good);
        d->run_size = (uint16_t)(d->run_size - d->run_good);
        memmove(d->run, d->run + d->run_good, d->run_size);
        d->run_good = 0;
    }
}

/* Writes bytes of FALLBACK tokens. */
static void put_run(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, uint32_t length) {
    const int is_text = d->as_bytes || (d->rules & BY_CHARACTER) || d->run_state == RUN_GOOD;
    uint32_t i;
    if (is_text) put_bytes(d, s, bytes, length);
    else if (d->run_state == RUN_NONE && length) d->run_state = RUN_HELD;
    for (i = 0; i < length && !is_text; i++) {
        if (d->run_state == RUN_BAD) put_bad(d, s, 1);
        else hold_byte(d, s, bytes[i]);
    }
}

/* Ends a run, before a token that is not FALLBACK. */
static void end_run(tkx_decoder *d, tkx_out_buf *s) {
    if (!(d->rules & BYTE_FALLBACK)) return;
    if (d->run_good < d->run_size) put_bad(d, s, d->run_size);
    else put_inner(d, s, d->run, d->run_size);
    d->run_size = d->run_good = 0;
    d->run_state = RUN_NONE;
    end_held(d, s);
}

/* Whether the run of FALLBACK tokens that begins at ids[0] is UTF-8 as a whole. */
static int look_at_run(const tkx *t, const uint32_t *ids, size_t count) {
    uint8_t held[4];
    size_t held_size = 0, looked, i;
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags, j;
        if (read_token(t, ids[i], &bytes, &length, &flags) != TKX_OK || !(flags & TKX_FALLBACK))
            break;
        for (j = 0; j < length; j++) {
            int look;
            held[held_size++] = bytes[j];
            look = utf8_look(held, held_size, &looked);
            if (look == UTF8_BAD) return RUN_BAD;
            if (look == UTF8_GOOD) held_size = 0;
        }
    }
    return held_size ? RUN_BAD : RUN_GOOD;
}

/* The index of the last id that is emitted, or `count`. */
static size_t last_of(const tkx *t, uint32_t rules, const uint32_t *ids, size_t count) {
    const uint8_t *bytes;
    uint32_t length, flags;
    size_t i;
    for (i = count; i-- > 0;) {
        if ((rules & FIRST_BY_CONTENT) &&
            read_token(t, ids[i], &bytes, &length, &flags) == TKX_OK && length == 0)
            continue;
        return i;
    }
    return count;
}

/* Passes the start of a token to EDIT, if it reads these. */
static void put_token_edge(tkx_decoder *d, tkx_out_buf *s) {
    const tkx_span table = d->t->edits;
    if (field(table, 4) & READS_TOKENS) {
        const uint8_t *edit = find_edit(d, load_u16(table.data + 2) - 1);
        put_edit(d, s, edit);
        d->edit_state = (uint16_t)load_u16(edit);
    }
}

/* Whether a token with these flags belongs to a run. */
static int is_in_run(const tkx_decoder *d, uint32_t flags) {
    return (flags & TKX_FALLBACK) && (d->rules & BYTE_FALLBACK);
}

/* Writes an id; `last`: LAST or 0. On TKX_E_CORRUPT nothing is changed. */
static int put_token(tkx_decoder *d, tkx_out_buf *s, uint32_t id, unsigned last) {
    const unsigned place = (d->is_first ? FIRST : 0u) | last;
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code != TKX_OK) return code;
    if (is_in_run(d, flags)) {
        put_run(d, s, bytes, length);
    } else {
        if (!form_at(d->t, flags, place, &bytes, &length)) return TKX_E_CORRUPT;
        end_run(d, s);
        put_token_edge(d, s);
        put_bytes(d, s, bytes, length);
        if (d->rules & BYTE_FALLBACK) end_held(d, s);
    }
    if (length || !(d->rules & FIRST_BY_TEXT)) d->is_first = 0;
    return TKX_OK;
}

/* Whether the rules and skip_special let an id be emitted. */
static int is_emitted(tkx_decoder *d, tkx_out_buf *s, uint32_t length, uint32_t flags) {
    if (d->skip_special && (flags & TKX_SPECIAL)) return 0;
    if (length || !(d->rules & FIRST_BY_CONTENT)) return 1;
    if (!(flags & TKX_FALLBACK)) end_run(d, s);
    return 0;
}

/* Adds an id to a stream. An id with LAST_SKIP is pending until the next one, or the end. */
static int add_id(tkx_decoder *d, tkx_out_buf *s, uint32_t id) {
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code != TKX_OK || !is_emitted(d, s, length, flags)) return code;
    if (d->pending != TKX_NONE) code = put_token(d, s, d->pending, 0);
    d->pending = TKX_NONE;
    if (code != TKX_OK) return code;
    if (!(flags & TKX_LAST_SKIP) || is_in_run(d, flags)) return put_token(d, s, id, 0);
    d->pending = id;
    return TKX_OK;
}

/* Writes what is held back, as the end of the text. */
static int end_text(tkx_decoder *d, tkx_out_buf *s) {
    int code = TKX_OK;
    if (d->pending != TKX_NONE) code = put_token(d, s, d->pending, LAST);
    if (code != TKX_OK) return code;
    end_run(d, s);
    end_held(d, s);
    if (d->t->edits.data) put_edit(d, s, find_edit(d, TKX_NONE));
    return TKX_OK;
}

/* Reads DECO; 0 if a value is out of its range (I19). */
static int read_rules(tkx_decoder *d) {
    const uint8_t *rules = d->t->decoder.data;
    d->is_first = 1;
    d->pending = TKX_NONE;
    if (!rules) return 1;
    if (load_u32(rules) & ~(uint32_t)DECODER_FLAGS || load_u32(rules + 4) > 127) return 0;
    d->rules = (uint8_t)load_u32(rules);
    d->strip = (uint8_t)load_u32(rules + 4);
    if ((d->rules & BY_CHARACTER) && !(d->rules & BYTE_FALLBACK)) return 0;
    return !(d->rules & FIRST_BY_CONTENT) || !(d->rules & FIRST_BY_TEXT);
}

/* Whether a token, neither the last nor FALLBACK, is written unchanged. BYTS ends at `end`. */
static TKX_INLINE int is_plain(const tkx_decoder *d, const uint8_t *bytes, uint32_t length,
                               const uint8_t *end) {
    if (d->is_first | d->strip | d->held_size | d->run_state || d->t->edits.data) return 0;
    if (d->as_bytes ||
        (length - 1 < 8 && end - bytes >= 8 && !(load_u64(bytes) & HIGH_BITS >> (64 - 8 * length))))
        return 1;
    return utf8_valid(bytes, length) == length;
}

/* Decodes all ids at once, so that a run and the last id are known beforehand. */
static int decode_by_rules(tkx_decoder *d, const uint32_t *ids, size_t count, tkx_out_buf *s,
                           size_t *size, size_t *ends) {
    const tkx *t = d->t;
    const uint8_t *end = t->bytes.data + t->bytes.size;
    size_t last = last_of(t, d->rules, ids, count), i;
    int code;
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags;
        code = read_token(t, ids[i], &bytes, &length, &flags);
        if (code == TKX_OK && !(flags & TKX_FALLBACK) && i != last &&
            is_plain(d, bytes, length, end)) {
            put_short(s, bytes, length, end);
        } else if (code == TKX_OK && is_emitted(d, s, length, flags)) {
            if ((flags & TKX_FALLBACK) && d->run_state == RUN_NONE && !d->as_bytes)
                d->run_state = (uint8_t)look_at_run(t, ids + i, count - i);
            code = put_token(d, s, ids[i], i == last ? LAST : 0);
        }
        if (code == TKX_E_ID) *size = i;
        if (code != TKX_OK) return code;
        if (ends) ends[i] = s->used;
    }
    code = end_text(d, s);
    if (ends && count) ends[count - 1] = s->used;
    return code;
}

#endif
