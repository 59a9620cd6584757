/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- offsets.c: spans (5.9) ------------------------------------------------------------------ */

#ifndef TKX_NO_OFFSETS

static int wants_spans(const run *r) { return r->where.spans != NULL; }

#ifndef TKX_NO_NORMALIZER

/* Whether rewriting has to say where what it writes comes from. */
static int follows_sources(const run *r) { return wants_spans(r) || r->t->follows_sources; }

#endif

/* Moves a place to a byte and gives the number of the character that the byte belongs to. */
static size_t count_to(const locator *w, position *at, size_t byte) {
    for (; at->byte < byte; at->byte++) at->character += !utf8_inside(w->input[at->byte]);
    for (; at->byte > byte; at->byte--) at->character -= !utf8_inside(w->input[at->byte - 1]);
    return at->character - (byte < w->input_size && utf8_inside(w->input[byte]) ? 1u : 0u);
}

/* A span of bytes of the input as one of characters. Starts and ends are counted apart, each from
   where the last one was; and ends that white space was added to (RSTRIP) apart from those before
   them: each byte is walked over a few times at most. */
static void to_characters(locator *w, size_t *from, size_t *to) {
    *from = count_to(w, &w->start, *from);
    *to = count_to(w, *to >= w->furthest.byte ? &w->furthest : &w->end, *to);
}

/* The white space at both ends of a model token's name: it begins and ends with as many spaces as
   its bytes do, unless TRIM says so. */
static void count_spaces(run *r, uint32_t id, size_t *leading, size_t *trailing) {
    const tkx *t = r->t;
    const uint8_t *bytes;
    uint32_t low = 0, high = (uint32_t)field(t->trims, 4), length, flags, i;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry = t->trims.data + TRIM_HEADER + TRIM_SIZE * (size_t)middle;
        if (load_u32(entry) == id) {
            *leading = load_u16(entry + 4);
            *trailing = load_u16(entry + 6);
            return;
        }
        if (load_u32(entry) < id) low = middle + 1;
        else high = middle;
    }
    if (!read_record(t, id, &bytes, &length, &flags)) {
        fail(r, TKX_E_CORRUPT);
        return;
    }
    for (i = 0; i < length && bytes[i] == ' '; i++) ++*leading;
    for (i = length; i > 0 && bytes[i - 1] == ' '; i--) ++*trailing;
}

/* Takes from a span the white space that its token has at its ends, as often as the file says. */
static void trim(const run *r, size_t leading, size_t trailing, size_t *from, size_t *to) {
    uint32_t passes = (uint32_t)field(r->t->trims, 0);
    for (; (passes & 3) != TRIM_END; passes >>= 2) {
        const int keeps =
            (passes & 3) == TRIM_KEEPS_FIRST && leading == 1 && (r->count == 0 || *from == 0);
        if (leading && !keeps) *from = smaller(*from + leading, *to);
        if (trailing && *to >= trailing) *to = *to - trailing > *from ? *to - trailing : *from;
    }
}

/* The bytes of the input that are the source of the bytes from `from` to `to` of the text at hand.
   A part of a character has the source of the whole. */
static void find_source(const run *r, const uint8_t *from, const uint8_t *to, size_t *first,
                        size_t *behind) {
    const view *v = &r->at_hand;
    if (v->alignment) {
        *first = get_u32(v->alignment + 8 * (size_t)(from - v->base));
        *behind = get_u32(v->alignment + 8 * (size_t)(to - 1 - v->base) + 4);
    } else {
        while (from > v->base && utf8_inside(*from)) from--;
        while (to < r->limit && utf8_inside(*to)) to++;
        *first = (size_t)(from - v->base);
        *behind = (size_t)(to - v->base);
    }
}

/* Writes the span of the id that is emitted next. */
static void put_span(run *r, const uint8_t *from, const uint8_t *to, size_t leading,
                     size_t trailing) {
    size_t first, behind;
    find_source(r, from, to, &first, &behind);
    /* What begins at the end of the input `tokenizers` leaves as it is. */
    if (r->where.unit == TKX_CHARACTERS && (first < r->where.input_size || r->t->alignment.data))
        to_characters(&r->where, &first, &behind);
    if (leading || trailing) trim(r, leading, trailing, &first, &behind);
    if (r->count < r->capacity) {
        r->where.spans[2 * r->count] = (uint32_t)first;
        r->where.spans[2 * r->count + 1] = (uint32_t)behind;
    }
}

#ifndef TKX_NO_WORDLEVEL

/* The id that was emitted last stands for the bytes up to `to`, too. */
static void extend_span(run *r, const uint8_t *from, const uint8_t *to) {
    size_t first, behind;
    find_source(r, from, to, &first, &behind);
    if (r->where.unit == TKX_CHARACTERS) to_characters(&r->where, &first, &behind);
    if (r->count <= r->capacity) r->where.spans[2 * r->count - 1] = (uint32_t)behind;
}

#endif

#ifndef TKX_NO_NORMALIZER

/* Writes into an alignment that `count` bytes have the source of the byte at p in the text at hand;
   gives where it goes on. */
static uint8_t *put_sources(const run *r, uint8_t *alignment, size_t count, const uint8_t *p) {
    size_t from, to;
    find_source(r, p, p + 1, &from, &to);
    for (; count; count--, alignment += 8) {
        put_u32(alignment, (uint32_t)from);
        put_u32(alignment + 4, (uint32_t)to);
    }
    return alignment;
}

#endif

static NO_INLINE void put_token_span(run *r, uint32_t id, const uint8_t *from, const uint8_t *to) {
    size_t leading = 0, trailing = 0;
    if (field(r->t->trims, 0)) count_spaces(r, id, &leading, &trailing);
    put_span(r, from, to, leading, trailing);
}

#else

static int wants_spans(const run *r) {
    (void)r;
    return 0;
}

#ifndef TKX_NO_NORMALIZER

static int follows_sources(const run *r) { return wants_spans(r); }

#endif

#endif

/* Emits an id of the model that stands for the bytes from `from` to `to`, at least one, of the text
   at hand. */
static FORCE_INLINE void emit_token(run *r, uint32_t id, const uint8_t *from, const uint8_t *to) {
#ifndef TKX_NO_OFFSETS
    if (!EXPECT(!wants_spans(r))) put_token_span(r, id, from, to);
#else
    (void)from;
    (void)to;
#endif
    emit(r, id);
}
