/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- stages.c: stages (3.4) ------------------------------------------------------------------ */

/* Pending words of the first stage. */
enum { WORDS = 8 };
typedef struct tkx_words {
    tkx_pending batch[WORDS];
    size_t count;
} tkx_words;

static void encode_words(tkx_context *ctx, tkx_words *words);

/* Adds a pre-token or, with `words`, a word, if it is not empty. */
static TKX_INLINE void add_part(tkx_context *ctx, tkx_words *words, const uint8_t *from,
                                const uint8_t *to) {
    if (from == to) return;
    if (!words) add_pretoken(ctx, from, (size_t)(to - from));
    else start_pending(ctx, &words->batch[words->count++], from, (size_t)(to - from));
    if (words && words->count == WORDS) encode_words(ctx, words);
}

/* Adds the pre-tokens that the last stage, a simple one, produces; or with `words`, the words of
   the first stage. Almost all tokenizers have one stage, which is simple. */
static TKX_NOINLINE void split_simply(tkx_context *ctx, const tkx_stage *s, const uint8_t *begin,
                                      const uint8_t *end, tkx_words *words) {
    const int keeps_matches = s->behavior == ISOLATED || (s->flags & INVERT);
    const int keeps_gaps = s->behavior == ISOLATED || !(s->flags & INVERT);
    const uint8_t *at = begin, *gap = begin;
    tkx_memo m;
    memo_start(&m, s, begin, end, ctx->memory_used);
    while (at < end && ctx->code == TKX_OK) {
        const uint8_t *last = match(ctx, s, &m, at, end);
        if (last == at) {
            at = skip_unmatched(s, next_symbol(s, at), end);
            continue;
        }
        if (keeps_gaps) add_part(ctx, words, gap, at);
        if (keeps_matches) add_part(ctx, words, at, last);
        at = gap = last;
    }
    if (keeps_gaps && ctx->code == TKX_OK) add_part(ctx, words, gap, end);
    ctx->memory_used = m.mark;
}

typedef struct tkx_pretoken {
    const uint8_t *from, *to;
    int is_match; /* with INVERT applied */
    int is_split; /* an empty match separates it from the previous span */
} tkx_pretoken;

/* One stage that splits one pre-token. */
typedef struct tkx_splitter {
    const tkx_stage *s;
    const uint8_t *at, *end;
    tkx_pretoken next;   /* a match to return after the gap before it; none if `from` is NULL */
    tkx_pretoken opened; /* the span after the last pre-token returned; none if `from` is NULL */
    int is_split;        /* of the next span */
    tkx_memo m;
    /* from the context, before the text was rewritten */
    tkx_text outer;
    size_t outer_used;
} tkx_splitter;

static void splitter_start(tkx_splitter *w, tkx_context *ctx, const tkx_stage *s,
                           const uint8_t *begin, const uint8_t *end) {
    *w = (tkx_splitter){.s = s, .outer = ctx->text, .outer_used = ctx->memory_used};
#ifndef TKX_NO_NORMALIZER
    if (s->flags & REWRITE) {
        size_t size = (size_t)(end - begin);
        rewrite(ctx, ctx->t->ops + s->first_op, s->op_count, &begin, &size);
        end = begin + size;
    }
#endif
    w->at = begin;
    w->end = end;
    memo_start(&w->m, s, begin, end, ctx->memory_used);
    if (s->labels) w->m.labels = find_labels(ctx, s, begin, end);
    w->m.mark = ctx->memory_used;
}

/* The next match, or the gap before it, which an empty match splits. 0 at the end. */
static int next_span(tkx_splitter *w, tkx_context *ctx, tkx_pretoken *span) {
    const int inverted = w->s->flags & INVERT;
    const uint8_t *at = w->at;
    *span = w->next;
    w->next.from = NULL;
    if (span->from || ctx->code != TKX_OK) return span->from != NULL;
    span->from = at;
    span->is_split = w->is_split;
    span->is_match = inverted;
    w->is_split = 0;
    for (at = skip_any(w->s, &w->m, at, w->end); at < w->end;
         at = skip_any(w->s, &w->m, next_symbol(w->s, at), w->end)) {
        int empty;
        const uint8_t *last = match_any(ctx, w->s, &w->m, w->at, at, w->end, &empty);
        if (ctx->code != TKX_OK) return 0;
        if (last > at) w->next = (tkx_pretoken){at, last, !inverted, 0};
        w->is_split = last == at && empty && at > span->from;
        if (last > at || w->is_split) break;
    }
    span->to = at;
    w->at = w->next.from ? w->next.to : at;
    if (span->from < at) return 1;
    *span = w->next;
    w->next.from = NULL;
    return span->from != NULL;
}

static int merges_with(int behavior, const tkx_pretoken *a, const tkx_pretoken *b) {
    switch (behavior) {
        case MERGED_WITH_PREVIOUS: return !a->is_match && b->is_match;
        case MERGED_WITH_NEXT: return a->is_match && !b->is_match;
        case CONTIGUOUS: return !a->is_match == !b->is_match;
        default: return 0;
    }
}

/* The next pre-token; 0 at the end and on an error. */
static int next_pretoken(tkx_splitter *w, tkx_context *ctx, tkx_pretoken *out) {
    if (w->s->flags & REWRITE) {
        out->from = w->at;
        out->to = w->at = w->end;
        return out->from < out->to;
    }
    for (;;) {
        *out = w->opened;
        w->opened.from = NULL;
        if (!out->from && !next_span(w, ctx, out)) return 0;
        while (next_span(w, ctx, &w->opened)) {
            if (w->opened.is_split || !merges_with(w->s->behavior, out, &w->opened)) break;
            out->to = w->opened.to;
            out->is_match = w->opened.is_match;
            w->opened.from = NULL;
        }
        if (ctx->code != TKX_OK) return 0;
        if (w->s->behavior != REMOVED || !out->is_match) return 1;
    }
}

/* Runs all stages from `first` on: each splitter works on the last pre-token of the previous one.
   Rewritten text stays in work memory until its pending pre-tokens are encoded. */
static TKX_NOINLINE void split_in_stages(tkx_context *ctx, uint32_t first, const uint8_t *begin,
                                         const uint8_t *end) {
    const tkx *t = ctx->t;
    const uint32_t depth = t->stage_count - (is_simple(&t->stages[t->stage_count - 1]) ? 1u : 0u);
    tkx_splitter splitters[TKX_MAX_STAGES];
    uint32_t level = first;
    tkx_pretoken p;
    splitter_start(&splitters[first], ctx, &t->stages[first], begin, end);
    for (;;) {
        if (ctx->code != TKX_OK) return;
        if (!next_pretoken(&splitters[level], ctx, &p)) {
            ctx->text = splitters[level].outer;
            if (!t->op_count) ctx->memory_used = splitters[level].outer_used;
            if (level == first || ctx->code != TKX_OK) return;
            level--;
        } else if (level + 1 < depth) {
            const tkx_memo *m = &splitters[level].m;
            const size_t top = m->mark + (size_t)memo_size(m, m->limit);
            if (ctx->pending_count == 0 || ctx->memory_used - top > MAX_RETAINED)
                work_release(ctx, top);
            level++;
            splitter_start(&splitters[level], ctx, &t->stages[level], p.from, p.to);
        } else if (depth < t->stage_count) {
            split_simply(ctx, &t->stages[depth], p.from, p.to, NULL);
        } else {
            add_pretoken(ctx, p.from, (size_t)(p.to - p.from));
        }
    }
}

/* Encodes words, from the cache or by the other stages. Those cache nothing themselves: in known
   tokenizers (T5, XLM-R, XLNet) a word is one pre-token. */
static void encode_words(tkx_context *ctx, tkx_words *words) {
    uint8_t *const cache = ctx->cache;
    size_t i;
    for (i = 0; i < words->count && ctx->code == TKX_OK; i++) {
        tkx_pending *w = &words->batch[i];
        const size_t count = ctx->count, mark = ctx->memory_used;
        const uint8_t *entry = w->set ? cache_find(w) : NULL;
        if (TKX_LIKELY(entry != NULL)) {
            cache_emit(ctx, w, entry);
            continue;
        }
        ctx->cache = NULL;
        split_in_stages(ctx, 1, w->p, w->p + w->size);
        encode_batch(ctx);
        ctx->cache = cache;
        ctx->memory_used = mark;
        cache_emitted(ctx, w, count);
    }
    words->count = 0;
}

static void split(tkx_context *ctx, const uint8_t *begin, const uint8_t *end) {
    const tkx *t = ctx->t;
    tkx_words words;
    words.count = 0;
    if (t->stage_count == 0) add_pretoken(ctx, begin, (size_t)(end - begin));
    else if (t->stage_count == 1 && is_simple(&t->stages[0]))
        split_simply(ctx, &t->stages[0], begin, end, NULL);
    /* words, which are cached: a third of the time for T5, XLM-R and XLNet */
    else if (t->words_first && ctx->cache && !wants_spans(ctx))
        split_simply(ctx, &t->stages[0], begin, end, &words);
    else split_in_stages(ctx, 0, begin, end);
    encode_words(ctx, &words);
}
