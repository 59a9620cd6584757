/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- rewrite.c: operations that rewrite a text (5.4) ----------------------------------------- */

#ifndef TKX_NO_NORMALIZER

/* Whether the source of the byte at p begins where the input begins. */
static int stems_from_start(const run *r, const uint8_t *p) {
    size_t from = 1, to;
#ifndef TKX_NO_OFFSETS
    find_source(r, p, p + 1, &from, &to);
#else
    (void)r, (void)p, (void)to;
#endif
    return from == 0;
}

/* AFFIX; `first`: the text begins where the input begins. */
static void run_affix(rewriter *w, int first) {
    const tkx_span content = w->op->content;
    size_t size = (size_t)(w->end - w->text);
    if ((w->op->flags & ONLY_FIRST) && !first) return;
    if ((w->op->flags & FIRST_SOURCE) && !stems_from_start(w->r, w->text)) return;
    if ((w->op->flags & UNLESS_PRESENT) && size >= content.size &&
        memcmp(w->text, content.data, content.size) == 0)
        return;
    w->changed = 1;
    if (size + content.size > w->room) {
        w->r->memory_needed = w->r->memory_used + (uint64_t)size + content.size;
        fail(w->r, TKX_E_WORK);
        return;
    }
    if (!(w->op->flags & APPEND)) write_bytes(w, content.data, content.size, w->text);
    write_copy(w, w->text, size);
    if (w->op->flags & APPEND) write_bytes(w, content.data, content.size, w->end - 1);
}

/* The character of GPT-2's alphabet for a byte: itself where that is printable, and from U+0100 on
   for the others, in order. */
static uint32_t byte_letter(uint8_t byte) {
    if (byte <= 0x20) return 0x100u + byte;
    if (byte >= 0x7F && byte <= 0xA0) return 0x100u + 0x21u + (byte - 0x7Fu);
    return byte == 0xAD ? 0x143u : byte;
}

/* BYTES. What becomes of a character has the source of that character. */
static void run_bytes(rewriter *w) {
    const uint8_t *p = w->text, *character;
    while (p < w->end && byte_letter(*p) == *p && *p < 0x80) p++;
    if (p == w->end) return;
    w->changed = 1;
    write_copy(w, w->text, (size_t)(p - w->text));
    for (character = p; p < w->end && w->r->code == TKX_OK; p++) {
        uint32_t c = byte_letter(*p);
        uint8_t letter[2];
        letter[0] = (uint8_t)(c < 0x80 ? c : 0xC0 | c >> 6);
        letter[1] = (uint8_t)(0x80 | (c & 0x3F));
        if (!utf8_inside(*p)) character = p;
        write_bytes(w, letter, c < 0x80 ? 1 : 2, character);
    }
}

/* FORM. */
static void run_form(rewriter *w) {
    normalizer n;
    size_t size = (size_t)(w->end - w->text);
    normalizer_start(&n, w->r, w->op, w->out, w->room);
    n.alignment = w->alignment;
    if (is_normalized(&n, w->text, size) || w->r->code != TKX_OK) return;
    normalize(&n, w->text, size);
    w->changed = 1;
    w->used = n.used;
}

/* Runs one operation over a text in the work memory that is free; `aligned`: bytes that its output
   is known to have, whose sources are written to the end of that memory, or 0. */
static void run_op(rewriter *w, run *r, const tkx_op *op, int first, const uint8_t *text,
                   size_t size, size_t aligned) {
    const size_t memory_size = r->memory_size;
    w->r = r;
    w->op = op;
    w->text = text;
    w->end = text + size;
    w->out = r->memory + r->memory_used;
    w->used = 0;
    w->alignment = NULL;
    w->changed = 0;
    w->untaken = text;
    w->last_size = w->last_takes = w->aligned = 0;
    if (aligned > (memory_size - r->memory_used) / 8) {
        fail(r, TKX_E_WORK);
        return;
    }
    r->memory_size -= 8 * aligned;
    w->room = r->memory_size - r->memory_used;
    if (aligned) w->alignment = r->memory + r->memory_size;
    switch (op->kind) {
        case FORM: run_form(w); break;
        case MAP: run_map(w); break;
        case REPLACE: run_replace(w); break;
        case CHARSMAP:
            if (op->flags & COLLAPSE) run_collapsing(w);
            else run_charsmap(w);
            break;
        case BYTES: run_bytes(w); break;
        default: run_affix(w, first); break;
    }
    r->memory_size = memory_size;
    if (r->code == TKX_E_WORK && r->memory_needed) r->memory_needed += 8 * (uint64_t)aligned;
}

/* Runs `count` operations, from `op` on, over a text that is not empty; `first`: it begins where
   the input begins. What they make of it lies in borrowed memory, if it is not the text itself, and
   is then the text at hand. */
static NO_INLINE void rewrite(run *r, const tkx_op *op, uint32_t count, int first,
                              const uint8_t **text, size_t *size) {
    const size_t mark = r->memory_used, given = *size;
    /* Of a normalizer that is aligned as a whole (ALGN), no operation is. */
    const int aligns =
        follows_sources(r) && !(r->t->alignment.data && op < r->t->ops + r->t->normalizer_count);
    uint32_t i;
    for (i = 0; i < count && *size && r->code == TKX_OK; i++, op++) {
        rewriter w;
        run_op(&w, r, op, first, *text, *size, 0);
        /* Once more, now that it is known how many sources there are to be written. */
        if (w.changed && w.used && aligns && r->code == TKX_OK)
            run_op(&w, r, op, first, *text, *size, w.used);
        if (!w.changed || r->code != TKX_OK) continue;
        memmove(r->memory + mark, w.out, w.used);
        r->memory_used = mark + w.used;
        if (w.alignment) {
            memmove(r->memory + r->memory_used, w.alignment, 8 * w.used);
            r->at_hand.alignment = r->memory + r->memory_used;
            r->memory_used += 8 * w.used;
        }
        r->at_hand.base = r->memory + mark;
        *text = r->memory + mark;
        *size = w.used;
    }
    if (r->code == TKX_E_WORK && !r->memory_needed) {
        const uint64_t any = tkx_work_size(r->t, given);
        r->memory_needed = any > UINT64_MAX - mark ? UINT64_MAX : mark + any;
    }
}

#endif
