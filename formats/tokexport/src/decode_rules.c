/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- decode_rules.c: decoding by rules (5.7, DECO) ------------------------------------------- */

#ifndef TKX_NO_DECODER

enum { FIRST = 1, LAST = 2 }; /* the place of a token: either, both or neither */

/* A run of FALLBACK tokens is text if it is UTF-8 as a whole; if not, each byte is one U+FFFD. A
   stream cannot know which before the run ends, or has a bad byte:

                            a byte                   a bad byte
                RUN_NONE ------------> RUN_HELD ------------------> RUN_BAD
                 ^  |  |               in d->run                    U+FFFD for each byte
                 |  |  |                                              ^
                 |  |  +----------- look_at_run: not UTF-8 -----------+
                 |  +-------------- look_at_run: UTF-8 ----------> RUN_GOOD
         end_run |                                                 written as it is
        (from any state, before the next token that is not FALLBACK)

   Where all ids are known, decode_by_rules asks look_at_run at the first token of a run instead. Of
   more than TKX_MAX_RUN held bytes the whole characters are written, so that a run needs no more
   memory. */
enum { RUN_NONE, RUN_HELD, RUN_GOOD, RUN_BAD };

/* Replaces the bytes of a token by its form at a place; 0 if that is not within BYTS (I19). */
static int form_at(const tkx *t, uint32_t flags, unsigned place, const uint8_t **bytes,
                   uint32_t *length) {
    size_t before = (size_t)(*bytes - t->bytes.data), after = t->bytes.size - before - *length;
    if (!place) return 1;
    if (flags & TKX_FORMS) {
        const uint8_t *lengths = *bytes + *length;
        uint32_t first, last, only;
        if (after < FORM_LENGTHS) return 0;
        first = load_u16(lengths);
        last = load_u16(lengths + 2);
        only = load_u16(lengths + 4);
        if (after - FORM_LENGTHS < (size_t)first + last + only) return 0;
        *bytes = lengths + FORM_LENGTHS +
                 (place == FIRST  ? 0
                  : place == LAST ? first
                                  : first + last);
        *length = place == FIRST ? first : place == LAST ? last : only;
        return 1;
    }
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

/* Starts the text of a run, before its first byte is written. */
static void begin_run(tkx_decoder *d, tkx_out_buf *s) {
    if (!d->run_begun) put_edge(d, s, RUN_EDGE);
    d->run_begun = 1;
}

/* Writes U+FFFD for a byte of a run that is not UTF-8. Each is a text of its own. */
static void put_bad(tkx_decoder *d, tkx_out_buf *s) {
    put_edge(d, s, RUN_EDGE);
    put_inner(d, s, REPLACEMENT, 3);
}

/* Holds back a byte of a run until it is known whether the run is UTF-8. */
static void hold_byte(tkx_decoder *d, tkx_out_buf *s, uint8_t byte) {
    size_t looked;
    int look;
    d->run[d->run_size++] = byte;
    look = utf8_look(d->run + d->run_good, (size_t)(d->run_size - d->run_good), &looked);
    if (look == UTF8_BAD) {
        for (; d->run_size; d->run_size--) put_bad(d, s);
        d->run_good = 0;
        d->run_state = RUN_BAD;
        return;
    }
    if (look == UTF8_GOOD) d->run_good = d->run_size;
    if (d->run_size == TKX_MAX_RUN) {
        begin_run(d, s);
        put_inner(d, s, d->run, d->run_good);
        d->run_size = (uint16_t)(d->run_size - d->run_good);
        memmove(d->run, d->run + d->run_good, d->run_size);
        d->run_good = 0;
    }
}

/* Writes bytes of FALLBACK tokens. */
static void put_run(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, uint32_t length) {
    uint32_t i;
    if (!length) return;
    if (d->as_bytes || (d->rules & BY_CHARACTER) || d->run_state == RUN_GOOD) {
        begin_run(d, s);
        put_bytes(d, s, bytes, length);
        return;
    }
    if (d->run_state == RUN_NONE) d->run_state = RUN_HELD;
    for (i = 0; i < length; i++) {
        if (d->run_state == RUN_BAD) put_bad(d, s);
        else hold_byte(d, s, bytes[i]);
    }
}

/* Ends a run, before a token that is not FALLBACK. */
static void end_run(tkx_decoder *d, tkx_out_buf *s) {
    if (!(d->rules & BYTE_FALLBACK)) return;
    if (d->run_good < d->run_size) {
        for (; d->run_size; d->run_size--) put_bad(d, s);
    } else if (d->run_size) {
        begin_run(d, s);
        put_inner(d, s, d->run, d->run_size);
    }
    d->run_size = d->run_good = 0;
    d->run_state = RUN_NONE;
    d->run_begun = 0;
    if (d->as_bytes) return;
    end_held(d, s);
}

/* Whether the run of FALLBACK tokens that begins with ids[0] is UTF-8 as a whole. */
static int look_at_run(const tkx *t, uint32_t rules, const uint32_t *ids, size_t count) {
    uint8_t held[4];
    size_t held_size = 0, looked, i;
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags, j;
        if (i && (rules & REPEATS_ONCE) && ids[i] == ids[i - 1]) continue;
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
        if (i && (rules & REPEATS_ONCE) && ids[i] == ids[i - 1]) continue;
        if ((rules & FIRST_BY_CONTENT) &&
            read_token(t, ids[i], &bytes, &length, &flags) == TKX_OK && length == 0)
            continue;
        return i;
    }
    return count;
}

/* Writes an id at a place. Nothing changes on TKX_E_CORRUPT. */
static int put_token(tkx_decoder *d, tkx_out_buf *s, uint32_t id, unsigned place) {
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code != TKX_OK) return code;
    if ((flags & TKX_FALLBACK) && (d->rules & BYTE_FALLBACK)) {
        put_run(d, s, bytes, length);
    } else {
        if (!form_at(d->t, flags, place, &bytes, &length)) return TKX_E_CORRUPT;
        end_run(d, s);
        put_edge(d, s, TOKEN_EDGE);
        put_bytes(d, s, bytes, length);
        if (d->rules & BYTE_FALLBACK) end_held(d, s);
    }
    if (length || !(d->rules & FIRST_BY_TEXT)) d->is_first = 0;
    return TKX_OK;
}

/* Whether an id is emitted: not if it is skipped, repeats the one before, or is empty and the rules
   drop empty ones. */
static int is_emitted(tkx_decoder *d, tkx_out_buf *s, uint32_t id, uint32_t length,
                      uint32_t flags) {
    if (d->skip_special && (flags & TKX_SPECIAL)) return 0;
    if ((d->rules & REPEATS_ONCE) && id == d->previous) return 0;
    d->previous = id;
    if (length || !(d->rules & FIRST_BY_CONTENT)) return 1;
    if (!(flags & TKX_FALLBACK)) end_run(d, s);
    return 0;
}

/* Adds an id to a stream. One with another form as the last token is pending until the next one
   comes. */
static int add_id(tkx_decoder *d, tkx_out_buf *s, uint32_t id) {
    const uint8_t *bytes;
    uint32_t length, flags;
    unsigned place;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code != TKX_OK || !is_emitted(d, s, id, length, flags)) return code;
    if (d->pending != TKX_NONE) {
        code = put_token(d, s, d->pending, d->pending_is_first ? FIRST : 0);
        if (code != TKX_OK) return code;
        d->pending = TKX_NONE;
    }
    place = d->is_first ? FIRST : 0;
    if (!(flags & (TKX_LAST_SKIP | TKX_FORMS))) return put_token(d, s, id, place);
    d->pending = id;
    d->pending_is_first = d->is_first;
    if (!form_at(d->t, flags, place, &bytes, &length)) return TKX_E_CORRUPT;
    if (!(flags & TKX_FALLBACK)) end_run(d, s);
    if (length || !(d->rules & FIRST_BY_TEXT)) d->is_first = 0;
    return TKX_OK;
}

/* Writes what is held back, as the end of the text. */
static int end_text(tkx_decoder *d, tkx_out_buf *s) {
    int code = d->pending == TKX_NONE
                   ? TKX_OK
                   : put_token(d, s, d->pending, d->pending_is_first ? FIRST | LAST : LAST);
    if (code != TKX_OK) return code;
    end_run(d, s);
    end_held(d, s);
    if (d->edit_states) put_edit(d, s, find_edit(d, TKX_NONE));
    put_right(d, s, d->left + 1, d->left_part);
    if (d->right_part) release_right(d, s);
    return TKX_OK;
}

/* The character to strip, as its size and its bytes; 0 if it is none (I19). */
static int read_stripped(uint8_t *to, uint32_t count, uint32_t character) {
    to[0] = 0;
    if (count == 0) return character == 0;
    if (character >= 0x110000 || (character >= 0xD800 && character < 0xE000)) return 0;
    to[0] = (uint8_t)utf8_encode(to + 1, character);
    return 1;
}

/* Reads DECO; 0 if its values are out of their ranges (I19). */
static int read_rules(tkx_decoder *d) {
    const uint8_t *rules = d->t->decoder.data;
    d->is_first = 1;
    d->previous = d->pending = TKX_NONE;
    if (!rules) return 1;
    if (load_u32(rules) > DECODER_FLAGS || load_u32(rules + 28)) return 0;
    d->rules = (uint8_t)load_u32(rules);
    if ((d->rules & BY_CHARACTER) && !(d->rules & BYTE_FALLBACK)) return 0;
    if ((d->rules & FIRST_BY_CONTENT) && (d->rules & FIRST_BY_TEXT)) return 0;
    if ((d->rules & EDGES) && d->rules != (EDGES | BYTE_FALLBACK)) return 0;
    d->edit_states = (uint16_t)load_u16(rules + 20);
    d->left_count = load_u32(rules + 4);
    d->right_most = load_u32(rules + 8);
    return read_stripped(d->left, d->left_count, load_u32(rules + 12)) &&
           read_stripped(d->right, d->right_most, load_u32(rules + 16));
}

/* Turns counts of bytes before stripping into positions in the output. */
static void place_ends(const tkx_decoder *d, const tkx_out_buf *s, size_t *ends, size_t count) {
    size_t stripped = s->taken - s->used - (size_t)d->right_count * d->right[0], i;
    for (i = 0; i < count; i++)
        ends[i] = ends[i] < stripped ? 0 : smaller(ends[i] - stripped, s->used);
}

/* Decodes all ids at once: only what may be stripped is held back. */
static int decode_by_rules(tkx_decoder *d, const uint32_t *ids, size_t count, tkx_out_buf *s,
                           size_t *size, size_t *ends) {
    const tkx *t = d->t;
    size_t last = last_of(t, d->rules, ids, count), i;
    int code;
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags;
        code = read_token(t, ids[i], &bytes, &length, &flags);
        if (code == TKX_OK && is_emitted(d, s, ids[i], length, flags)) {
            if ((flags & TKX_FALLBACK) && d->run_state == RUN_NONE && !d->as_bytes)
                d->run_state = (uint8_t)look_at_run(t, d->rules, ids + i, count - i);
            code = put_token(d, s, ids[i], (d->is_first ? FIRST : 0u) | (i == last ? LAST : 0u));
        }
        if (code != TKX_OK) {
            *size = code == TKX_E_ID ? i : 0;
            return code;
        }
        if (ends) ends[i] = d->edit_states ? s->used : s->taken;
    }
    code = end_text(d, s);
    if (code != TKX_OK || !ends || !count) return code;
    if (d->edit_states) ends[count - 1] = s->used;
    else place_ends(d, s, ends, count);
    return code;
}

#endif
