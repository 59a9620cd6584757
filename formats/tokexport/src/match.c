/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- match.c: where a match ends (5.5) ------------------------------------------------------- */

/* The class of a character that is not ASCII, read from its bytes: their payload bits are the
   indexes of the three levels. *length: its bytes. The text is valid and tkx_open has checked the
   tables. */
static FORCE_INLINE uint32_t class_of(const tkx_stage *s, const uint8_t *p, size_t *length) {
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

/* The start state at `at`, where it depends on the symbol before. */
static uint32_t start_state(const tkx_stage *s, const uint8_t *begin, const uint8_t *at) {
    uint32_t class_ = s->class_count;
    size_t length;
    if (at > begin && (s->flags & ON_BYTES)) {
        class_ = s->classes[at[-1]];
    } else if (at > begin) {
        const uint8_t *p = before(at);
        class_ = *p < 0x80 ? s->classes[*p] : class_of(s, p, &length);
    }
    return load_u16(s->starts + 2 * class_);
}

/* How many of the 8 bytes at p are lower-case ASCII letters, from the first on. */
static FORCE_INLINE unsigned leading_letters(const uint8_t *p) {
    uint64_t word = load_u64(p), low = word & ~HIGH_BITS;
    uint64_t letters =
        (low + (0x80 - 'a') * LOW_BITS) & ~(low + (0x7F - 'z') * LOW_BITS) & ~word & HIGH_BITS;
    return letters == HIGH_BITS ? 8 : lowest_bit(letters ^ HIGH_BITS) >> 3;
}

/* Where the match at `at` ends; `at` if there is none. *stopped: the symbol at which the program
   died. Half of the time of encoding prose is spent here. */
static FORCE_INLINE const uint8_t *find_end(const tkx_stage *s, const uint8_t *at,
                                            const uint8_t *end, uint32_t state,
                                            const uint8_t **stopped) {
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
        class_ = EXPECT(*p < direct) ? classes[*p] : class_of(s, p, &length);
        t = load_u16(transitions + 2 * (((size_t)state << shift) + class_));
        if (t & ACCEPT) last = p;
        state = t & ~(uint32_t)ACCEPT;
        if (state == 0) break;
        p += length;
        /* In a word, a step costs a table look-up that waits for the one before; eight letters that
           lead back to the same state cost as much as two of them, and no wrong guess at how long
           words are. */
        if ((loops >> (state & 63) & 1) && end - p >= 8) {
            unsigned letters = leading_letters(p);
            if (letters && (s->letter_accepts >> state & 1)) last = p + letters - 1;
            p += letters;
        }
    }
    *stopped = p;
    return last;
}

/* The pairs (position, state) of 5.5 from which no match end is met: memo_count bits a position,
   for the positions from `base` to `limit`, on top of the work memory. There are none until a
   program reads far in vain, and none behind the text that it read then: prose never needs them. */
typedef struct memo {
    const uint8_t *base, *limit; /* both NULL at first */
    size_t mark;                 /* where the bits begin in the work memory */
    /* bytes that are kept free for them; 0: they lie on top of what is used */
    size_t room;
    /* the piece, and the label of the symbol at each place in it; labels NULL: the stage reads
       classes */
    const uint8_t *begin, *labels;
} memo;

/* How far behind a match end a program may read before it is noted. A run of such reads costs this
   many steps a symbol at most. */
enum { FREE_READS = 32 };

static size_t memo_bit(const tkx_stage *s, const memo *m, const uint8_t *p, uint32_t state) {
    return (size_t)(p - m->base) * s->memo_count + (state - 1);
}

static int is_noted(run *r, const tkx_stage *s, const memo *m, const uint8_t *p, uint32_t state) {
    return p < m->limit && state <= s->memo_count &&
           bit_of(r->memory + m->mark, memo_bit(s, m, p, state));
}

/* The class of a symbol, and its length. */
static uint32_t symbol_class(const tkx_stage *s, const uint8_t *p, size_t *length) {
    *length = 1;
    return *p < 128 || (s->flags & ON_BYTES) ? s->classes[*p] : class_of(s, p, length);
}

/* One step: the transition of a state on the symbol at p. */
static uint32_t step(const tkx_stage *s, const memo *m, const uint8_t *p, const uint8_t *end,
                     uint32_t state, size_t *length) {
    uint32_t class_ = s->class_count;
    *length = 1;
    if (p < end) class_ = symbol_class(s, p, length);
    if (p < end && m->labels) class_ = m->labels[p - m->begin];
    return transition(s, state, class_);
}

static void encode_batch(run *r);

/* Gives back all memory above `mark`. Pieces that wait may lie there: they are encoded first. */
static void reclaim(run *r, size_t mark) {
    if (r->memory_used == mark) return;
    encode_batch(r);
    r->memory_used = mark;
}

/* find_end with the notes. */
static NO_INLINE const uint8_t *find_end_noted(run *r, const tkx_stage *s, const memo *m,
                                               const uint8_t *at, const uint8_t *end,
                                               uint32_t state, const uint8_t **stopped) {
    const uint8_t *p = at, *last = at;
    size_t length;
    while (state && !(p > at && is_noted(r, s, m, p, state))) {
        uint32_t t = step(s, m, p, end, state, &length);
        if (t & ACCEPT) last = p;
        state = t & ~(uint32_t)ACCEPT;
        if (p == end) break;
        if (state) p += length;
    }
    *stopped = p;
    return last;
}

/* Goes the way of a match at `at` once more and notes the states behind its end `last`, up to where
   it stopped. */
static NO_INLINE void note(run *r, const tkx_stage *s, memo *m, const uint8_t *at,
                           const uint8_t *end, uint32_t state, const uint8_t *last,
                           const uint8_t *stopped) {
    const uint8_t *p = at;
    size_t length, had, bytes;
    if (m->limit <= at) m->base = m->limit = at;
    had = ((size_t)(m->limit - m->base) * s->memo_count + 7) / 8;
    if (!m->room) reclaim(r, m->mark + had);
    if (stopped >= m->limit) {
        if ((size_t)(stopped - m->base) >= (SIZE_MAX / 8) / s->memo_count) {
            r->memory_needed = SIZE_MAX;
            fail(r, TKX_E_WORK);
            return;
        }
        bytes = ((size_t)(stopped - m->base + 1) * s->memo_count + 7) / 8;
        if (bytes > had) {
            if (!m->room && !borrow(r, bytes - had)) return;
            memset(r->memory + m->mark + had, 0, bytes - had);
        }
        m->limit = stopped + 1;
    }
    while (state && p <= stopped) {
        if (p > last && state <= s->memo_count) {
            size_t bit = memo_bit(s, m, p, state);
            r->memory[m->mark + (bit >> 3)] |= (uint8_t)(1u << (bit & 7));
        }
        if (p == end) break;
        state = step(s, m, p, end, state, &length) & ~(uint32_t)ACCEPT;
        p += length;
    }
}

/* Where the match at `at`, in a piece from begin to end, ends. All that costs time stands in
   find_end. */
static FORCE_INLINE const uint8_t *match(run *r, const tkx_stage *s, memo *m, const uint8_t *begin,
                                         const uint8_t *at, const uint8_t *end) {
    uint32_t state = s->start_varies ? start_state(s, begin, at) : s->start;
    const uint8_t *stopped, *last;
    last = EXPECT(m->limit <= at) ? find_end(s, at, end, state, &stopped)
                                  : find_end_noted(r, s, m, at, end, state, &stopped);
    if (!EXPECT(stopped - last <= FREE_READS) && s->memo_count)
        note(r, s, m, at, end, state, last, stopped);
    return last;
}

static FORCE_INLINE const uint8_t *next_symbol(const tkx_stage *s, const uint8_t *p) {
    return p + (s->flags & ON_BYTES ? 1 : utf8_length(*p));
}

/* The first place from `at` on where a match may begin, as far as first bytes tell. The first
   stages of a sequence, which only look for digits or a script, walk over nearly all of the text in
   this loop: DeepSeek's tokenizer runs twice as fast as when `match` is asked at each character. */
static FORCE_INLINE const uint8_t *skip_idle(const tkx_stage *s, const uint8_t *at,
                                             const uint8_t *end) {
    while (at < end && (s->idle[*at >> 6] >> (*at & 63) & 1)) at += *at < 0xE0 ? 1 : 3;
    return at;
}
