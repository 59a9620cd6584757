/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- rewrite.c: operations that rewrite a text (3.3) ----------------------------------------- */

#ifndef TKX_NO_NORMALIZER

/* AFFIX. `first`: the text begins at the start of the input. */
static void run_affix(tkx_rewriter *w, int first) {
    const tkx_span content = w->op->content;
    size_t size = (size_t)(w->end - w->text), from, to;
    find_source(w->ctx, w->text, w->text + 1, &from, &to);
    if ((w->op->flags & ONLY_FIRST) && !first) return;
    if ((w->op->flags & FIRST_SOURCE) && from != 0) return;
    if ((w->op->flags & UNLESS_PRESENT) && size >= content.size &&
        memcmp(w->text, content.data, content.size) == 0)
        return;
    w->changed = 1;
    if (!(w->op->flags & APPEND)) write_bytes(w, content.data, content.size, w->text);
    write_copy(w, w->text, size);
    if (w->op->flags & APPEND) write_bytes(w, content.data, content.size, w->end - 1);
}

/* The character of GPT-2's alphabet for a byte. */
static uint32_t byte_letter(uint8_t byte) {
    if (byte <= 0x20) return 0x100u + byte;
    if (byte >= 0x7F && byte <= 0xA0) return 0x100u + 0x21u + (byte - 0x7Fu);
    return byte == 0xAD ? 0x143u : byte;
}

/* BYTES. The source of a letter is the character that its byte is part of. */
static void run_bytes(tkx_rewriter *w) {
    const uint8_t *p = w->text, *character;
    while (p < w->end && byte_letter(*p) == *p && *p < 0x80) p++;
    if (p == w->end) return;
    w->changed = 1;
    write_copy(w, w->text, (size_t)(p - w->text));
    for (character = p; p < w->end && w->ctx->code == TKX_OK; p++) {
        uint8_t letter[4];
        const size_t size = utf8_encode(letter, byte_letter(*p));
        if (!utf8_inside(*p)) character = p;
        write_bytes(w, letter, size, character);
    }
}

/* FORM. */
static void run_form(tkx_rewriter *w) {
    tkx_normalizer n;
    const uint8_t *p;
    normalizer_start(&n, w->ctx, w->op, w->out, w->room);
    n.alignment = w->alignment;
    p = skip_normalized(&n, w->text, w->end);
    if (p == w->end || w->ctx->code != TKX_OK) return;
    normalize(&n, w->text, p, w->end);
    w->changed = 1;
    w->used = n.used;
}

/* Runs one operation. Output is in free work memory, sources of `aligned` bytes are at its end. */
static void run_op(tkx_rewriter *w, tkx_context *ctx, const tkx_op *op, int first,
                   const uint8_t *text, size_t size, size_t aligned) {
    const size_t memory_size = ctx->memory_size;
    *w = (tkx_rewriter){.ctx = ctx, .op = op, .text = text, .copied = text, .untaken = text};
    w->end = text + size;
    w->out = ctx->memory + ctx->memory_used;
    if (aligned > (memory_size - ctx->memory_used) / 8) {
        fail(ctx, TKX_E_WORK);
        return;
    }
    ctx->memory_size -= 8 * aligned;
    w->room = ctx->memory_size - ctx->memory_used;
    if (aligned) w->alignment = ctx->memory + ctx->memory_size;
    switch (op->kind) {
        case FORM: run_form(w); break;
        case MAP: run_map(w); break;
        case REPLACE: run_replace(w); break;
        case CHARSMAP: run_charsmap(w); break;
        case BYTES: run_bytes(w); break;
        default: run_affix(w, first); break;
    }
    ctx->memory_size = memory_size;
}

/* Runs operations on a text that is not empty. A changed text becomes the current text. */
static TKX_NOINLINE void rewrite(tkx_context *ctx, const tkx_op *op, uint32_t count,
                                 const uint8_t **text, size_t *size) {
    const size_t mark = ctx->memory_used, given = *size;
    const int first = *text == ctx->text.begin;
    const int in_stage = op >= ctx->t->ops + ctx->t->normalizer_count;
    const uint32_t source = source_bytes(ctx->t, wants_spans(ctx), in_stage);
    for (; count && *size && ctx->code == TKX_OK; count--, op++) {
        tkx_rewriter w;
        run_op(&w, ctx, op, first, *text, *size, 0);
        /* again, now that the number of sources is known */
        if (w.changed && w.used && source && ctx->code == TKX_OK)
            run_op(&w, ctx, op, first, *text, *size, w.used);
        if (!w.changed || ctx->code != TKX_OK) continue;
        memmove(ctx->memory + mark, w.out, w.used);
        ctx->memory_used = mark + w.used;
        if (w.alignment) {
            memmove(ctx->memory + ctx->memory_used, w.alignment, 8 * w.used);
            ctx->text.alignment = ctx->memory + ctx->memory_used;
            ctx->memory_used += 8 * w.used;
        }
        *text = ctx->text.base = ctx->memory + mark;
        *size = w.used;
        if (!in_stage) ctx->recent = NULL;
        ctx->text.limit = *text + w.used;
        if (first) ctx->text.begin = *text;
    }
    if (ctx->code == TKX_E_WORK) {
        /* an estimate, as most texts grow little; four times as much is reported */
        const int is_cut = ctx->t->crossings.data && !ctx->t->cuts_bytes && !wants_spans(ctx),
                  is_merged = (in_stage || !ctx->t->stage_count) && !is_cut;
        const uint64_t each = 1 + source + (is_merged ? (MERGE_BYTES + LENGTH_BYTES) / 2 : 0);
        need_memory(ctx, mark + each * (given + UINT64_C(64)));
    }
}

#endif
