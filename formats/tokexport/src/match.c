/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- match.c: the end of a match (3.4) ------------------------------------------------------- */

/* The class of a non-ASCII character, directly from the payload bits of its bytes. */
static TKX_INLINE uint32_t class_of(const tkx_stage *s, const uint8_t *p, size_t *length) {
    size_t top = 0, middle, leaf;
    if (p[0] < 0xE0) {
        middle = p[0] & 31u;
        leaf = p[1] & 63u;
        *length = 2;
    } else if (p[0] < 0xF0) {
        top = p[0] & 15u;
        middle = p[1] & 63u;
        leaf = p[2] & 63u;
        *length = 3;
    } else {
        top = (p[0] & 7u) << 6 | (p[1] & 63u);
        middle = p[2] & 63u;
        leaf = p[3] & 63u;
        *length = 4;
    }
    top = load_u16(s->classes + ASCII_SIZE + 2 * top);
    middle = load_u16(s->middle + 2 * (64 * top + middle));
    return s->leaves[64 * middle + leaf];
}

/* The class of a symbol, and its length. */
static TKX_INLINE uint32_t symbol_class(const tkx_stage *s, const uint8_t *p, size_t *length) {
    *length = 1;
    return *p < 128 || (s->flags & ON_BYTES) ? s->classes[*p] : class_of(s, p, length);
}

/* The start state at `at`, which depends on the symbol before it. */
static uint32_t start_state(const tkx_stage *s, const uint8_t *begin, const uint8_t *at) {
    uint32_t class_ = s->class_count;
    size_t length;
    if (at > begin) class_ = symbol_class(s, s->flags & ON_BYTES ? at - 1 : before(at), &length);
    return load_u16(s->starts + 2 * class_);
}

/* The number of lower-case ASCII letters at the start of the 8 bytes at p. */
static TKX_INLINE unsigned leading_letters(const uint8_t *p) {
    uint64_t word = load_u64(p), low = word & ~HIGH_BITS;
    uint64_t letters =
        (low + (0x80 - 'a') * LOW_BITS) & ~(low + (0x7F - 'z') * LOW_BITS) & ~word & HIGH_BITS;
    return letters == HIGH_BITS ? 8 : lowest_bit(letters ^ HIGH_BITS) >> 3;
}

/* The end of the match at `at`; `at` if there is none. *stopped: where the automaton reached its
   dead state. Encoding prose spends half of its time here. */
static TKX_INLINE const uint8_t *find_end(const tkx_stage *s, const uint8_t *at, const uint8_t *end,
                                          uint32_t state, const uint8_t **stopped) {
    const uint8_t *p = at, *last = at, *classes = s->classes, *transitions = s->transitions;
    const uint32_t direct = s->flags & ON_BYTES ? 256 : 128;
    const unsigned shift = s->row_shift;
    const uint64_t loops = s->letter_loops;
    for (;;) {
        size_t length = 1;
        uint32_t t, class_;
        if (p == end) {
            if (load_u16(transitions + 2 * (((size_t)state << shift) + s->class_count)) & ACCEPT)
                last = p;
            break;
        }
        class_ = TKX_LIKELY(*p < direct) ? classes[*p] : class_of(s, p, &length);
        t = load_u16(transitions + 2 * (((size_t)state << shift) + class_));
        if (t & ACCEPT) last = p;
        state = t & ~(uint32_t)ACCEPT;
        if (state == 0) break;
        p += length;
        /* Eight letters that loop on one state cost as much as two steps. */
        if ((loops >> (state & 63) & 1) && end - p >= 8) {
            unsigned letters = leading_letters(p);
            if (letters && (s->letter_accepts >> state & 1)) last = p + letters - 1;
            p += letters;
        }
    }
    *stopped = p;
    return last;
}

/* The pairs (position, state) of 3.4 from which no match end is reached; prose never needs them.
   They are at the top of the work memory: a row for each MEMO_STEP bytes from `base` to `limit`,
   about the first symbol that begins there, with a bit for each of the states 1 to `states`. */
typedef struct tkx_memo {
    const uint8_t *base, *limit;
    size_t mark;     /* where the rows begin in the work memory */
    size_t room;     /* bytes reserved for them; 0: they grow above the memory in use */
    size_t budget;   /* bytes that may be read in vain until all states are memoized */
    uint32_t states; /* memo_count, or all */
    /* the start of the pre-token, and its labels, one per byte; NULL: the stage reads classes */
    const uint8_t *begin, *labels;
} tkx_memo;

/* How far an automaton may read past a match end before this is memoized, and how often it may read
   each byte in vain before all states are memoized, so that no file takes quadratic time. */
enum { FREE_READS = 32, VAIN_READS = 8 };

static void memo_start(tkx_memo *m, const tkx_stage *s, const uint8_t *begin, const uint8_t *end,
                       size_t mark) {
    *m = (tkx_memo){.base = begin, .limit = begin, .mark = mark, .begin = begin};
    m->budget = VAIN_READS * (size_t)(end - begin);
    m->states = s->memo_count;
}

/* The size of the rows up to a position. */
static uint64_t memo_size(const tkx_memo *m, const uint8_t *limit) {
    return memo_bytes(m->states, (uint64_t)(limit - m->base));
}

/* Whether a position has a row, after a symbol of `length` bytes. */
static int has_row(const tkx_memo *m, const uint8_t *p, size_t length, uint32_t state) {
    return (size_t)(p - m->base) % MEMO_STEP < length && state <= m->states;
}

static size_t memo_bit(const tkx_memo *m, const uint8_t *p, uint32_t state) {
    return (size_t)(p - m->base) / MEMO_STEP * m->states + (state - 1);
}

/* The transition of a state on the symbol at p. */
static uint32_t step(const tkx_stage *s, const tkx_memo *m, const uint8_t *p, const uint8_t *end,
                     uint32_t state, size_t *length) {
    uint32_t class_ = s->class_count;
    *length = 1;
    if (p < end) class_ = symbol_class(s, p, length);
    if (p < end && m->labels) class_ = m->labels[p - m->begin];
    return transition(s, state, class_);
}

static void encode_batch(tkx_context *ctx);

/* Frees the memory above `mark`, after encoding the pending pre-tokens, which may be in it. */
static void work_release(tkx_context *ctx, size_t mark) {
    if (ctx->memory_used == mark) return;
    encode_batch(ctx);
    ctx->memory_used = mark;
}

/* Like find_end, but stops where the memo knows that no match end follows. */
static TKX_NOINLINE const uint8_t *find_end_memo(tkx_context *ctx, const tkx_stage *s,
                                                 const tkx_memo *m, const uint8_t *at,
                                                 const uint8_t *end, uint32_t state,
                                                 const uint8_t **stopped) {
    const uint8_t *p = at, *last = at;
    size_t length = 0;
    while (state && !(p < m->limit && has_row(m, p, length, state) &&
                      bit_of(ctx->memory + m->mark, memo_bit(m, p, state)))) {
        uint32_t t = step(s, m, p, end, state, &length);
        if (t & ACCEPT) last = p;
        state = t & ~(uint32_t)ACCEPT;
        if (p == end) break;
        if (state) p += length;
    }
    *stopped = p;
    return last;
}

/* Repeats a match that has read on past its end, and memoizes the states after that end. */
static TKX_NOINLINE void memoize(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                 const uint8_t *at, const uint8_t *end, uint32_t state,
                                 const uint8_t *last, const uint8_t *stopped) {
    const size_t vain = (size_t)(stopped - last);
    const uint32_t all = s->state_count - 1u;
    const uint8_t *p = at;
    size_t length = 0, had;
    if (m->states < all && vain > m->budget) {
        m->states = all;
        m->limit = at;
    }
    m->budget -= smaller(vain, m->budget);
    if (m->states == 0) return;
    if (m->limit <= at) m->base = m->limit = at;
    had = (size_t)memo_size(m, m->limit);
    if (!m->room) work_release(ctx, m->mark + had);
    if (stopped >= m->limit) {
        const uint64_t more = memo_size(m, stopped + 1) - had;
        if (more && !m->room && !work_alloc(ctx, more)) {
            need_memory(ctx, m->mark + memo_size(m, end + 1));
            fail(ctx, TKX_E_WORK);
            return;
        }
        memset(ctx->memory + m->mark + had, 0, (size_t)more);
        m->limit = stopped + 1;
    }
    while (state && p <= stopped) {
        if (p > last && has_row(m, p, length, state)) {
            const size_t bit = memo_bit(m, p, state);
            ctx->memory[m->mark + (bit >> 3)] |= (uint8_t)(1u << (bit & 7));
        }
        if (p == end) break;
        state = step(s, m, p, end, state, &length) & ~(uint32_t)ACCEPT;
        p += length;
    }
}

/* The end of the match at `at`, in a pre-token up to `end`; `at` if there is none. */
static TKX_INLINE const uint8_t *match(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                       const uint8_t *at, const uint8_t *end) {
    uint32_t state = s->start_varies ? start_state(s, m->begin, at) : s->start;
    const uint8_t *stopped, *last;
    last = TKX_LIKELY(m->limit <= at) ? find_end(s, at, end, state, &stopped)
                                      : find_end_memo(ctx, s, m, at, end, state, &stopped);
    if (!TKX_LIKELY(stopped - last <= FREE_READS))
        memoize(ctx, s, m, at, end, state, last, stopped);
    return last;
}

static TKX_INLINE const uint8_t *next_symbol(const tkx_stage *s, const uint8_t *p) {
    return p + (s->flags & ON_BYTES ? 1 : utf8_length(*p));
}

/* The first position from `at` on where a match may begin. DeepSeek: twice as fast. */
static TKX_INLINE const uint8_t *skip_unmatched(const tkx_stage *s, const uint8_t *at,
                                                const uint8_t *end) {
    while (at < end && (s->no_match[*at >> 6] >> (*at & 63) & 1)) at += *at < 0xE0 ? 1 : 3;
    return at;
}

/* ---- match.c: labels, empty matches, search starts (3.4) ------------------------------------- */

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
