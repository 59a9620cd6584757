/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- stages.c: stages (5.5) ------------------------------------------------------------------ */

static void add_word(run *r, const uint8_t *p, size_t size);

/* Takes the pieces that the last stage makes of one piece, if it is one that drops matches, drops
   gaps, or keeps both; or, if `words`, what the first one finds. Nearly all tokenizers have just
   this one stage. */
static FORCE_INLINE void split_simply(run *r, const tkx_stage *s, const uint8_t *begin,
                                      const uint8_t *end, int words) {
    const int keeps_matches = s->behavior == ISOLATED || (s->flags & INVERT);
    const int keeps_gaps = s->behavior == ISOLATED || !(s->flags & INVERT);
    const uint8_t *at = begin, *gap = begin;
    memo m = {NULL, NULL, 0, 0, NULL, NULL};
    m.mark = r->memory_used;
    m.base = m.limit = begin;
    while (at < end && r->code == TKX_OK) {
        const uint8_t *last = match(r, s, &m, begin, at, end);
        if (last == at) {
            at = skip_idle(s, next_symbol(s, at), end);
            continue;
        }
        if (gap < at && keeps_gaps)
            words ? add_word(r, gap, (size_t)(at - gap)) : add_piece(r, gap, (size_t)(at - gap));
        if (keeps_matches)
            words ? add_word(r, at, (size_t)(last - at)) : add_piece(r, at, (size_t)(last - at));
        at = gap = last;
    }
    if (gap < end && keeps_gaps && r->code == TKX_OK)
        words ? add_word(r, gap, (size_t)(end - gap)) : add_piece(r, gap, (size_t)(end - gap));
    r->memory_used = m.mark;
}

static NO_INLINE void split_once(run *r, const tkx_stage *s, const uint8_t *begin,
                                 const uint8_t *end) {
    split_simply(r, s, begin, end, 0);
}

typedef struct piece {
    const uint8_t *from, *to;
    int is_match; /* INVERT is applied */
    int parted;   /* a match that holds nothing is before it */
} piece;

/* One stage at work on one piece. */
typedef struct splitter {
    const tkx_stage *s;
    const uint8_t *begin, *at, *end;
    piece next;   /* a match behind a gap that was given out; from NULL: none */
    piece opened; /* the span behind the piece that was given out; from NULL: none */
    int parted;   /* the next span is */
    memo m;
    const uint8_t *run_begin, *run_limit; /* of the run, before the text was rewritten */
    view run_at_hand;
} splitter;

static void splitter_start(splitter *w, run *r, const tkx_stage *s, const uint8_t *begin,
                           const uint8_t *end) {
    memset(w, 0, sizeof *w);
    w->s = s;
    w->run_begin = r->begin;
    w->run_limit = r->limit;
    w->run_at_hand = r->at_hand;
#ifndef TKX_NO_NORMALIZER
    if (s->flags & REWRITE) {
        size_t size = (size_t)(end - begin);
        const uint8_t *given = begin;
        rewrite(r, r->t->ops + s->first_op, s->op_count, given == r->begin, &begin, &size);
        if (given == r->begin) r->begin = begin;
        if (given != begin) r->limit = begin + size;
        end = begin + size;
    }
#endif
    w->begin = w->at = w->m.base = w->m.limit = w->m.begin = begin;
    w->end = end;
    if (s->labels) w->m.labels = find_labels(r, s, begin, end);
    w->m.mark = r->memory_used;
}

/* The work memory that a splitter itself uses ends here. */
static size_t splitter_top(const splitter *w) {
    return w->m.mark + ((size_t)(w->m.limit - w->m.base) * w->s->memo_count + 7) / 8;
}

/* The next span, in *span; 0 at the end and on an error. */
static int next_span(splitter *w, run *r, piece *span) {
    const int inverted = w->s->flags & INVERT;
    const uint8_t *from = w->at;
    *span = w->next;
    w->next.from = NULL;
    if (span->from) return 1;
    while (w->at < w->end) {
        const uint8_t *at = w->at, *last = match(r, w->s, &w->m, w->begin, at, w->end);
        if (r->code != TKX_OK) return 0;
        if (last == at) {
            w->at = skip_idle(w->s, next_symbol(w->s, at), w->end);
            continue;
        }
        w->at = last;
        span->from = at;
        span->to = last;
        span->is_match = !inverted;
        if (from == at) return 1;
        w->next = *span;
        span->to = at;
        break;
    }
    if (!w->next.from) span->to = w->end;
    span->from = from < span->to ? from : NULL;
    span->is_match = inverted;
    return span->from != NULL;
}

/* The same for a stage that is_far: a match that holds nothing parts the gap that it is in. */
static NO_INLINE int next_span_far(splitter *w, run *r, piece *span) {
    const int inverted = w->s->flags & INVERT;
    const uint8_t *at = w->at;
    *span = w->next;
    w->next.from = NULL;
    if (span->from || r->code != TKX_OK) return span->from != NULL;
    span->from = at;
    span->parted = w->parted;
    span->is_match = inverted;
    w->parted = 0;
    for (at = skip_idle_labels(w->s, &w->m, at, w->end); at < w->end;
         at = skip_idle_labels(w->s, &w->m, next_symbol(w->s, at), w->end)) {
        int empty;
        const uint8_t *last = match_far(r, w->s, &w->m, at, w->end, &empty);
        if (r->code != TKX_OK) return 0;
        if (last > at) {
            w->at = last;
            w->next.from = at;
            w->next.to = last;
            w->next.is_match = !inverted;
            w->next.parted = 0;
            break;
        }
        if (empty && at > span->from) {
            w->parted = 1;
            break;
        }
    }
    span->to = at;
    if (!w->next.from) w->at = at;
    if (span->from < at) return 1;
    *span = w->next;
    w->next.from = NULL;
    return span->from != NULL;
}

static int joins(int behavior, const piece *a, const piece *b) {
    switch (behavior) {
        case MERGED_WITH_PREVIOUS: return !a->is_match && b->is_match;
        case MERGED_WITH_NEXT: return a->is_match && !b->is_match;
        case CONTIGUOUS: return !a->is_match == !b->is_match;
        default: return 0;
    }
}

/* The next piece; 0 at the end and on an error. */
static int next_piece(splitter *w, run *r, piece *out) {
    const int far = is_far(w->s);
    if (w->s->flags & REWRITE) {
        out->from = w->at;
        out->to = w->at = w->end;
        return out->from < out->to;
    }
    for (;;) {
        *out = w->opened;
        w->opened.from = NULL;
        if (!out->from && !(far ? next_span_far(w, r, out) : next_span(w, r, out))) return 0;
        while (far ? next_span_far(w, r, &w->opened) : next_span(w, r, &w->opened)) {
            if (w->opened.parted || !joins(w->s->behavior, out, &w->opened)) break;
            out->to = w->opened.to;
            out->is_match = w->opened.is_match;
            w->opened.from = NULL;
        }
        if (r->code != TKX_OK) return 0;
        if (w->s->behavior != REMOVED || !out->is_match) return 1;
    }
}

/* Rewritten pieces are kept up to this many bytes: the more of them wait, the better for
   encode_batch. */
enum { KEPT = 4096 };

/* All stages from `first` on: each one's splitter works on the piece that the one before gave last.
   What a stage has rewritten stays in the work memory when its splitter is done, until the pieces
   of it that wait are encoded. */
static NO_INLINE void split_in_stages(run *r, uint32_t first, const uint8_t *begin,
                                      const uint8_t *end) {
    const tkx *t = r->t;
    const uint32_t depth = t->stage_count - (is_simple(&t->stages[t->stage_count - 1]) ? 1u : 0u);
    splitter splitters[TKX_MAX_STAGES];
    uint32_t level = first;
    piece p;
    splitter_start(&splitters[first], r, &t->stages[first], begin, end);
    for (;;) {
        if (r->code != TKX_OK) return;
        if (!next_piece(&splitters[level], r, &p)) {
            r->begin = splitters[level].run_begin;
            r->limit = splitters[level].run_limit;
            r->at_hand = splitters[level].run_at_hand;
            if (level == first || r->code != TKX_OK) return;
            level--;
        } else if (level + 1 < depth) {
            size_t top = splitter_top(&splitters[level]);
            if (r->waiting_count == 0 || r->memory_used - top > KEPT) reclaim(r, top);
            level++;
            splitter_start(&splitters[level], r, &t->stages[level], p.from, p.to);
        } else if (depth < t->stage_count) {
            split_once(r, &t->stages[depth], p.from, p.to);
        } else {
            add_piece(r, p.from, (size_t)(p.to - p.from));
        }
    }
}

/* Encodes a word of the first stage, not empty: from the cache, or through the other stages. */
static void add_word(run *r, const uint8_t *p, size_t size) {
    const size_t count = r->count, mark = r->memory_used;
    waiting w;
    const uint8_t *entry = NULL;
    w.p = p;
    w.size = size;
    w.set = NULL;
    if (size <= LARGE_BYTES) {
        find_set(r, &w, WORD);
        entry = cached(&w);
    }
    if (EXPECT(entry != NULL)) {
        emit_cached(r, &w, entry);
        return;
    }
    split_in_stages(r, 1, p, p + size);
    encode_batch(r);
    r->memory_used = mark;
    if (w.set && r->code == TKX_OK && r->count > count && r->count - count <= LARGE_IDS &&
        r->count <= r->capacity)
        remember(&w, r->ids + count, r->count - count);
}

/* The first stage and its words. Twice the speed where words are rewritten one by one (T5,
   XLNet). */
static NO_INLINE void split_words(run *r, const uint8_t *begin, const uint8_t *end) {
    split_simply(r, &r->t->stages[0], begin, end, 1);
}

static void split(run *r, const uint8_t *begin, const uint8_t *end) {
    const tkx *t = r->t;
    if (t->stage_count == 0) add_piece(r, begin, (size_t)(end - begin));
    else if (t->stage_count == 1 && is_simple(&t->stages[0]))
        split_once(r, &t->stages[0], begin, end);
    else if (t->words_first && r->cache && !wants_spans(r)) split_words(r, begin, end);
    else split_in_stages(r, 0, begin, end);
}
