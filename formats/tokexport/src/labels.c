/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- labels.c: labels, empty matches, search starts (3.4) ------------------------------------ */

/* The labels of a pre-token, one per byte, computed from its end. NULL: too little work memory. */
static TKX_NOINLINE const uint8_t *find_labels(tkx_context *ctx, const tkx_stage *s,
                                               const uint8_t *begin, const uint8_t *end) {
    const uint32_t direct = s->flags & ON_BYTES ? 256 : 128;
    uint8_t *labels = work_alloc(ctx, (uint64_t)(end - begin));
    const uint8_t *p = end;
    uint32_t state = 0;
    if (!labels) return fail(ctx, TKX_E_WORK), NULL;
    while (p > begin) {
        const uint8_t *last = p - 1;
        uint32_t class_, entry;
        size_t length;
        p = TKX_LIKELY(*last < direct) ? last : before(p);
        class_ = symbol_class(s, p, &length);
        entry = load_u32(s->labels + 4 * ((size_t)state * s->label_class_count + class_));
        state = entry >> 8;
        for (; last >= p; last--) labels[last - begin] = (uint8_t)(entry & 0xFF);
    }
    return labels;
}

/* Like skip_unmatched, for any stage. With labels, those that begin no match are skipped. */
static const uint8_t *skip_any(const tkx_stage *s, const tkx_memo *m, const uint8_t *at,
                               const uint8_t *end) {
    const uint8_t *label = m->labels;
    if (!is_general(s)) return skip_unmatched(s, at, end);
    if (!label) return at;
    for (label += at - m->begin;
         at < end && *label < 128 && (s->no_match[*label >> 6] >> (*label & 63) & 1); label++)
        at++;
    return at;
}

/* Like `match`, for a stage that is_general, in a search that began at `searched`. */
static TKX_NOINLINE const uint8_t *match_general(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                                 const uint8_t *searched, const uint8_t *at,
                                                 const uint8_t *end, int *empty) {
    const uint8_t *stopped, *last, *p = at;
    uint32_t class_ = s->class_count, state;
    size_t length;
    if (at > m->begin) {
        p = s->flags & ON_BYTES ? at - 1 : before(at);
        class_ = m->labels ? m->labels[p - m->begin] : symbol_class(s, p, &length);
    }
    if ((s->flags & SEARCH_STARTS) && at == searched) class_ += s->class_count + 1u;
    state = load_u16(s->starts + 2 * class_);
    last = find_end_memo(ctx, s, m, at, end, state, &stopped);
    *empty =
        (s->flags & EMPTY_MATCHES) && last == at && (step(s, m, at, end, state, &length) & ACCEPT);
    if (!TKX_LIKELY(stopped - last <= FREE_READS))
        memoize(ctx, s, m, at, end, state, last, stopped);
    return last;
}

/* Like `match`, for any stage. */
static TKX_INLINE const uint8_t *match_any(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                           const uint8_t *searched, const uint8_t *at,
                                           const uint8_t *end, int *empty) {
    *empty = 0;
    return is_general(s) ? match_general(ctx, s, m, searched, at, end, empty)
                         : match(ctx, s, m, at, end);
}
