/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- trie_models.c: shared by Unigram, WordPiece, WordLevel and greedy models (3.6) ---------- */

#if !defined(TKX_NO_UNIGRAM) || !defined(TKX_NO_WORDPIECE) || !defined(TKX_NO_WORDLEVEL) ||        \
    !defined(TKX_NO_GREEDY)
#define TKX_HAS_TRIE

/* Emits the unknown token for the text from `from` to `to`. */
static void emit_unknown(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    if (ctx->t->unknown_id == TKX_NONE) fail(ctx, TKX_E_UNKNOWN_TEXT);
    else emit_token(ctx, ctx->t->unknown_id, from, to);
}

#endif

/* ---- trie_models.c: WordPiece (3.6) ---------------------------------------------------------- */

#ifndef TKX_NO_WORDPIECE

static size_t count_characters(const uint8_t *bytes, size_t size) {
    size_t count = 0, i;
    for (i = 0; i < size; i++) count += !utf8_inside(bytes[i]);
    return count;
}

static void encode_word_pieces(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const tkx *t = ctx->t;
    const uint8_t *at = bytes, *end = bytes + size;
    const size_t before = ctx->count;
    uint32_t base = t->trie_root, id = 0;
    int is_known =
        size <= t->trie_characters || count_characters(bytes, size) <= t->trie_characters;
    while (is_known && at < end && ctx->code == TKX_OK) {
        const uint8_t *last = longest_token(ctx->t, base, at, end, &id, &ctx->code);
        is_known = last > at;
        if (is_known) emit_token(ctx, id, at, last);
        at = last;
        base = t->trie_continuation;
    }
    if (is_known) return;
    ctx->count = before; /* a part that is not found makes the whole word unknown */
    emit_unknown(ctx, bytes, end);
}

#endif

/* ---- trie_models.c: WordLevel (3.6) ---------------------------------------------------------- */

#ifndef TKX_NO_WORDLEVEL

static void encode_word(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    uint32_t id;
    int found = token_in_trie(ctx->t, bytes, size, &id);
    if (found == TKX_OK) {
        emit_token(ctx, id, bytes, bytes + size);
    } else if (found == TKX_E_CORRUPT) {
        fail(ctx, found);
    } else if (!(ctx->t->flags & FUSE_UNKNOWN) || ctx->count == 0 ||
               ctx->count != ctx->unknown_count) {
        emit_unknown(ctx, bytes, bytes + size);
        ctx->unknown_count = ctx->count;
#ifndef TKX_NO_OFFSETS
    } else if (wants_spans(ctx)) {
        extend_span(ctx, bytes, bytes + size);
#endif
    }
}

#endif

/* ---- trie_models.c: greedy (3.6) ------------------------------------------------------------- */

#ifndef TKX_NO_GREEDY

static void encode_greedy(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const uint8_t *at = bytes, *end = bytes + size;
    uint32_t id = 0;
    while (at < end && ctx->code == TKX_OK) {
        const uint8_t *last = longest_token(ctx->t, ctx->t->trie_root, at, end, &id, &ctx->code);
        if (last > at) {
            emit_token(ctx, id, at, last);
            at = last;
        } else {
            emit_unknown(ctx, at, at + 1);
            at++;
        }
    }
}

#endif
