/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- labels.c: labels and empty matches (5.5) ------------------------------------------------ */

/* What is added to the class of the symbol at p where it is the one before it once more. */
static uint32_t doubled(const tkx_stage *s, const uint8_t *begin, const uint8_t *p, size_t length) {
    const uint8_t *last;
    if (!(s->flags & DOUBLES) || p == begin) return 0;
    last = s->flags & ON_BYTES ? p - 1 : before(p);
    return (size_t)(p - last) == length && memcmp(last, p, length) == 0 ? s->label_class_count / 2u
                                                                        : 0;
}

/* find_labels, from the first symbol to the last. */
static void label_forward(const tkx_stage *s, const uint8_t *begin, const uint8_t *end,
                          uint8_t *labels) {
    const uint8_t *p = begin;
    uint32_t state = 0;
    size_t length;
    for (; p < end; p += length) {
        uint32_t class_ = symbol_class(s, p, &length) + doubled(s, begin, p, length);
        uint32_t entry = load_u32(s->labels + 4 * ((size_t)state * s->label_class_count + class_));
        state = entry >> 8;
        memset(labels + (p - begin), (int)(entry & 0xFF), length);
    }
}

/* find_labels, from the last symbol to the first. */
static void label_backward(const tkx_stage *s, const uint8_t *begin, const uint8_t *end,
                           uint8_t *labels) {
    const uint32_t direct = s->flags & ON_BYTES ? 256 : 128;
    const uint8_t *p = end;
    uint32_t state = 0;
    while (p > begin) {
        const uint8_t *last = p - 1;
        uint32_t class_, entry;
        size_t length = 1;
        if (TKX_LIKELY(*last < direct)) {
            p = last;
            class_ = s->classes[*p];
        } else {
            p = before(p);
            class_ = class_of(s, p, &length);
        }
        class_ += doubled(s, begin, p, length);
        entry = load_u32(s->labels + 4 * ((size_t)state * s->label_class_count + class_));
        state = entry >> 8;
        for (; last >= p; last--) labels[last - begin] = (uint8_t)(entry & 0xFF);
    }
}

/* The second label table: it reads the labels of the first one, the other way, and puts its own in
   their place. */
static void label_again(const tkx_stage *s, const uint8_t *begin, const uint8_t *end,
                        uint8_t *labels) {
    const int forward = !(s->flags & FORWARD_LABELS);
    const uint8_t *p = forward ? begin : end, *last = forward ? end : begin;
    uint32_t state = 0;
    while (p != last) {
        const uint8_t *from = forward               ? p
                              : s->flags & ON_BYTES ? p - 1
                                                    : before(p),
                      *to = forward ? next_symbol(s, p) : p;
        uint32_t entry =
            load_u32(s->second_labels +
                     4 * ((size_t)state * s->second_label_class_count + labels[from - begin]));
        state = entry >> 8;
        memset(labels + (from - begin), (int)(entry & 0xFF), (size_t)(to - from));
        p = forward ? to : from;
    }
}

/* Labels each symbol of a pre-token, in work memory, one byte for each of its bytes. A label
   depends on everything after the symbol, or before it, so the whole pre-token is labelled. NULL:
   too little memory, ctx->code is set. */
static TKX_NOINLINE const uint8_t *find_labels(tkx_context *ctx, const tkx_stage *s,
                                               const uint8_t *begin, const uint8_t *end) {
    uint8_t *labels = work_alloc(ctx, (uint64_t)(end - begin));
    if (!labels) return NULL;
    if (s->flags & FORWARD_LABELS) label_forward(s, begin, end, labels);
    else label_backward(s, begin, end, labels);
    if (s->second_labels) label_again(s, begin, end, labels);
    return labels;
}

/* The first position from `at` on whose label may begin a match. */
static const uint8_t *skip_unmatched_labels(const tkx_stage *s, const tkx_memo *m,
                                            const uint8_t *at, const uint8_t *end) {
    const uint8_t *label = m->labels;
    if (!label) return at;
    for (label += at - m->begin;
         at < end && *label < 128 && (s->no_match[*label >> 6] >> (*label & 63) & 1); label++)
        at++;
    return at;
}

/* As `match`, for a stage that is_general. *empty: the match is empty. */
static TKX_NOINLINE const uint8_t *match_general(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                                 const uint8_t *at, const uint8_t *end,
                                                 int *empty) {
    const uint8_t *stopped, *last, *p = at;
    uint32_t class_ = s->class_count, state;
    size_t length;
    if (at > m->begin) {
        p = s->flags & ON_BYTES ? at - 1 : before(at);
        class_ = m->labels ? m->labels[p - m->begin] : symbol_class(s, p, &length);
    }
    state = load_u16(s->starts + 2 * class_);
    last = find_end_memo(ctx, s, m, at, end, state, &stopped);
    *empty =
        (s->flags & EMPTY_MATCHES) && last == at && (step(s, m, at, end, state, &length) & ACCEPT);
    if (!TKX_LIKELY(stopped - last <= FREE_READS))
        memoize(ctx, s, m, at, end, state, last, stopped);
    return last;
}
