/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- batch.c: pending pre-tokens ------------------------------------------------------------- */

#ifdef TKX_HAS_TRIE

/* Encodes a pre-token that is not cached, with a model other than BPE. */
static void encode_by_trie(tkx_context *ctx, const tkx_pending *w) {
    const size_t before = ctx->count;
    if ((ctx->t->trie_flags & ~(uint32_t)TRIE_FLAGS) || ctx->t->trie_reserved ||
        (ctx->t->trie_flags & SINGLE_PRECISION && ctx->t->stage_count))
        fail(ctx, TKX_E_CORRUPT);
    switch (ctx->code == TKX_OK ? ctx->t->model : 0) {
#ifndef TKX_NO_UNIGRAM
        case MODEL_UNIGRAM: encode_unigram(ctx, w->p, w->size); break;
#endif
#ifndef TKX_NO_WORDPIECE
        case MODEL_WORDPIECE: encode_wordpiece(ctx, w->p, w->size); break;
#endif
#ifndef TKX_NO_WORDLEVEL
        case MODEL_WORDLEVEL: encode_word(ctx, w->p, w->size); break;
#endif
#ifndef TKX_NO_GREEDY
        case MODEL_GREEDY: encode_greedy(ctx, w->p, w->size); break;
#endif
        default: break;
    }
    cache_emitted(ctx, w, before);
}

#endif

/* Encodes a pre-token that is not a token with WHOLE. `found`, `id`: the result of TIDX for it. */
static TKX_NOINLINE void merge_pretoken(tkx_context *ctx, const tkx_pending *w, int found,
                                        uint32_t id) {
    const tkx *t = ctx->t;
    const size_t before = ctx->count;
    const uint8_t *const p = w->p, *const end = p + w->size;
    uint32_t ids[SHORT_PRETOKEN + SPARE];
    if (found != TKX_OK && found != TKX_E_NOT_FOUND) fail(ctx, found);
    if (!ctx->recent) {
        memset(ctx->parts, 0, sizeof ctx->parts);
        memset(ctx->characters, 0xFF, sizeof ctx->characters);
        ctx->recent = ctx->text.base;
    }
    if (found == TKX_OK && (t->flags & WHOLE_FIRST) && !w->is_part) emit_token(ctx, id, p, end);
    else if (t->cuts_bytes && !wants_spans(ctx) && !utf8_inside(*p) && skip_ascii(p, end) < end)
        merge_parts(ctx, p, w->size, ids);
    else if (w->size > SHORT_PRETOKEN || wants_spans(ctx)) merge_long(ctx, p, w->size);
    else merge_part(ctx, p, w->size, ids, 0);
    /* not cached: bytes that are one token as a pre-token, but are merged otherwise as a part */
    if (!t->crossings.data || found != TKX_OK) cache_emitted(ctx, w, before);
}

/* Prefetches tables for pre-tokens that are not cached. Without a word cache, 1.3 times as fast. */
static void prefetch_batch(tkx_context *ctx, size_t first) {
    const tkx *t = ctx->t;
    tkx_pending *unseen[BATCH];
    const uint8_t *slots[BATCH];
    size_t count = 0, i;
    for (i = first; i < ctx->pending_count; i++) {
        tkx_pending *w = &ctx->batch[i];
        if (w->set && cache_find(w)) continue;
        if (w->set) w->hash = hash_near(w->p, w->size, w->has_word);
        TKX_PREFETCH(token_displacement(t, w->hash));
        w->has_slot = 1;
        unseen[count++] = w;
    }
    for (i = 0; i < count; i++) {
        slots[i] = token_slot(t, unseen[i]->hash);
        TKX_PREFETCH(slots[i]);
    }
    for (i = 0; i < count; i++) {
        tkx_pending *w = unseen[i];
        w->slot = load_u32(slots[i]);
        if (slot_fits(w->slot, w->hash) && (w->slot & MAX_IDS) < t->id_count)
            TKX_PREFETCH(t->records.data + RECORD_SIZE * (size_t)(w->slot & MAX_IDS));
    }
}

/* Encodes the pending pre-tokens. */
static TKX_NOINLINE void encode_batch(tkx_context *ctx) {
    size_t i, count = ctx->pending_count;
    int found;
    for (i = 0; i < count && ctx->code == TKX_OK; i++) {
        tkx_pending *w = &ctx->batch[i];
        const uint8_t *entry = w->set ? cache_find(w) : NULL;
        uint32_t id = 0, flags = 0;
        if (TKX_LIKELY(entry != NULL)) {
            cache_emit(ctx, w, entry);
            continue;
        }
#ifdef TKX_HAS_TRIE
        if (ctx->t->model != MODEL_BPE) {
            encode_by_trie(ctx, w);
            continue;
        }
#endif
        if (!w->has_slot) prefetch_batch(ctx, i);
        found = token_in_slot(ctx->t, w->slot, w->hash, w->p, w->size, w->has_word, &id, &flags);
        if (TKX_LIKELY(found == TKX_OK && (flags & TKX_WHOLE))) {
            emit_token(ctx, id, w->p, w->p + w->size);
            cache_emitted(ctx, w, ctx->count - 1);
        } else {
            merge_pretoken(ctx, w, found, id);
        }
    }
    ctx->pending_count = 0;
}

/* Adds a pre-token or a part of one, not empty. Its bytes must stay valid until encode_batch. */
static TKX_INLINE void add_pending(tkx_context *ctx, const uint8_t *p, size_t size, int is_part) {
    tkx_pending *w = &ctx->batch[ctx->pending_count++];
    start_pending(ctx, w, p, size);
    w->has_slot = 0;
    w->is_part = (uint8_t)is_part;
    w->has_word = ctx->text.limit - p >= 8;
    if (!w->set && ctx->t->model == MODEL_BPE) { /* so early: 1.05 times as fast */
        w->hash = hash_near(p, size, w->has_word);
        TKX_PREFETCH(token_displacement(ctx->t, w->hash));
    }
    /* spans depend on the current text, which a pending pre-token does not record */
    if (ctx->pending_count == BATCH || wants_spans(ctx)) encode_batch(ctx);
}

#ifndef TKX_NO_CHARACTERS

/* Whether no merge crosses the boundary of two characters, according to XPRS. */
static TKX_INLINE int is_cut(tkx_context *ctx, uint32_t left, uint32_t right) {
    const tkx *t = ctx->t;
    const uint8_t *ascii = t->crossings.data + CROSSINGS_HEADER;
    uint32_t rule;
    if (TKX_LIKELY((left | right) < 128)) return !bit_of(ascii, 128 * (size_t)left + right);
    if (may_cross(t, CROSSINGS_ASCII, left, right)) return 0;
    rule = load_u32(t->crossings.data);
    if (rule == 0) return 1;
    return (unit_symbol(ctx, left, 0) != TKX_NONE) + (unit_symbol(ctx, right, 0) != TKX_NONE) >=
           (rule == BOTH_KNOWN ? 2 : 1);
}

/* Adds a pre-token, cut where no merge crosses, but uncut if WHOLE_FIRST makes it a token. */
static TKX_NOINLINE void add_parts(tkx_context *ctx, const uint8_t *p, size_t size) {
    const tkx *t = ctx->t;
    const uint8_t *at = p + utf8_length(*p), *end = p + size;
    uint32_t left = utf8_decode(p), found, flags;
    if (t->flags & WHOLE_FIRST) {
        const int code = find_token(t, p, size, &found, &flags);
        if (code == TKX_E_CORRUPT) fail(ctx, code);
        if (code == TKX_OK) add_pending(ctx, p, size, 0);
        if (code != TKX_E_NOT_FOUND) return;
    }
    while (at < end && ctx->code == TKX_OK) {
        uint32_t right = utf8_decode(at);
        if (is_cut(ctx, left, right)) {
            add_pending(ctx, p, (size_t)(at - p), 1);
            p = at;
        }
        left = right;
        at += utf8_length(*at);
    }
    if (ctx->code == TKX_OK) add_pending(ctx, p, (size_t)(end - p), 1);
}

#endif

/* Adds a pre-token that is not empty. Its bytes must stay valid until encode_batch. */
static TKX_INLINE void add_pretoken(tkx_context *ctx, const uint8_t *p, size_t size) {
#ifndef TKX_NO_CHARACTERS
    /* not cut for spans, which need the lengths of all parts before one */
    if (ctx->t->crossings.data && !ctx->t->cuts_bytes && !wants_spans(ctx)) add_parts(ctx, p, size);
    else
#endif
        add_pending(ctx, p, size, 0);
}
