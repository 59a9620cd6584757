/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- rewrite_map.c: MAP and REPLACE (3.3) ---------------------------------------------------- */

#ifndef TKX_NO_NORMALIZER

/* An operation in progress. Its output has `room` bytes of free work memory. */
typedef struct tkx_rewriter {
    tkx_context *ctx;
    const tkx_op *op;
    const uint8_t *text, *end;
    uint8_t *out;
    size_t used, room;
    uint8_t *alignment; /* 8 bytes for each byte of the output, or NULL */
    int changed;        /* 0: the text is unchanged, and the output is not used */
    /* CHARSMAP: the end of the text copied so far; the characters of the text not yet taken; and
       the last character of the output, whose source is not final yet */
    const uint8_t *copied, *untaken;
    size_t last_size;  /* its size in bytes; 0 if there is none */
    size_t last_takes; /* the number of characters it takes */
    size_t aligned;    /* the bytes before it */
} tkx_rewriter;

/* This and write_bytes return ctx->code. */
static int write_unaligned(tkx_rewriter *w, const uint8_t *p, size_t size) {
    if (size > w->room - w->used) return fail(w->ctx, TKX_E_WORK);
    memcpy(w->out + w->used, p, size);
    w->used += size;
    return w->ctx->code;
}

/* Writes bytes whose source is the character at `source` of the text. */
static int write_bytes(tkx_rewriter *w, const uint8_t *p, size_t size, const uint8_t *source) {
    if (write_unaligned(w, p, size) == TKX_OK && w->alignment)
        put_sources(w->ctx, w->alignment + 8 * (w->used - size), size, source);
    return w->ctx->code;
}

/* Aligns the last `size` bytes of the output, a copy of those at p. */
static void align_copy(tkx_rewriter *w, const uint8_t *p, size_t size) {
    uint8_t *alignment = w->alignment ? w->alignment + 8 * (w->used - size) : NULL;
    for (; alignment && size; size--) alignment = put_sources(w->ctx, alignment, 1, p++);
}

/* Copies a part of the text. */
static void write_copy(tkx_rewriter *w, const uint8_t *p, size_t size) {
    if (write_unaligned(w, p, size) == TKX_OK) align_copy(w, p, size);
}

/* Skips characters from p on that a map does not change, ASCII only if `ascii`. *entry: the entry
   of the character it stops at, unless that is ASCII. */
static TKX_INLINE const uint8_t *map_skip(const tkx_rewriter *w, const tkx_entries *map,
                                          const uint8_t *p, int ascii, const uint8_t **entry) {
    const uint8_t *data = w->op->table.data, *direct = data + MAP_HEADER;
    const uint64_t skip_leads = load_u64(data + 16);
    *entry = NULL;
    while (p < w->end) {
        if (*p < 0x80) {
            if (!ascii || direct[*p] != *p) break;
            p++;
        } else {
            if (!(skip_leads >> (*p & 63) & 1) &&
                (*entry = find_entry(w->ctx, map, utf8_decode(p))) != map->entries)
                break;
            p += utf8_length(*p);
        }
    }
    return p;
}

/* Writes the jamo of the Hangul syllable at p. */
static int write_letters(tkx_rewriter *w, const uint8_t *p) {
    const uint32_t c = utf8_decode(p);
    uint8_t letters[9];
    size_t size;
    if (!is_hangul(c)) return fail(w->ctx, TKX_E_CORRUPT);
    size = utf8_encode(letters, hangul_letter(c, 0));
    size += utf8_encode(letters + size, hangul_letter(c, 1));
    if (hangul_letter(c, 2)) size += utf8_encode(letters + size, hangul_letter(c, 2));
    return write_bytes(w, letters, size, p);
}

/* MAP. */
static void run_map(tkx_rewriter *w) {
    const uint8_t *entry, *data = w->op->table.data, *direct = data + MAP_HEADER;
    const tkx_entries map = entries_at(direct + ASCII_SIZE, data);
    const uint8_t *texts = map.entries + 8 * (size_t)map.count,
                  *p = map_skip(w, &map, w->text, 1, &entry);
    const uint32_t text_size = load_u32(data + 12);
    if (p == w->end) return;
    w->changed = 1;
    write_copy(w, w->text, (size_t)(p - w->text));
    while (p < w->end && w->ctx->code == TKX_OK) {
        const uint8_t *kept;
        uint32_t start, before_size, after_size;
        size_t ascii = smaller((size_t)(w->end - p), w->room - w->used), i = 0;
        for (; i < ascii; i++) {
            uint8_t byte = p[i], becomes = byte < 0x80 ? direct[byte] : MAP_OTHER;
            if (becomes >= MAP_OTHER) break;
            w->out[w->used + i] = becomes;
        }
        w->used += i;
        align_copy(w, p, i);
        p += i;
        kept = map_skip(w, &map, p, 0, &entry);
        if (kept > p) {
            write_copy(w, p, (size_t)(kept - p));
            p = kept;
            if (p == w->end || *p < 0x80) continue;
        }
        if (p == w->end || w->ctx->code != TKX_OK) return;
        if (*p < 0x80) entry = find_entry(w->ctx, &map, *p);
        if (!entry) return;
        start = load_u32(entry);
        before_size = entry[4];
        after_size = entry[5];
        if (start > text_size || before_size + after_size > text_size - start ||
            utf8_valid(texts + start, before_size) != before_size ||
            utf8_valid(texts + start + before_size, after_size) != after_size) {
            fail(w->ctx, TKX_E_CORRUPT);
        } else {
            write_bytes(w, texts + start, before_size, p);
            if (entry[6] == MAP_LETTERS) write_letters(w, p);
            else if (entry[6]) write_copy(w, p, utf8_length(*p));
            write_bytes(w, texts + start + before_size, after_size, p);
        }
        p += utf8_length(*p);
    }
}

/* Writes bytes before the text, with an empty source where the source of the text begins. */
static void write_before(tkx_rewriter *w, const uint8_t *p, size_t size) {
    write_bytes(w, p, size, w->text);
    for (; w->ctx->code == TKX_OK && w->alignment && size; size--) {
        uint8_t *source = w->alignment + 8 * (w->used - size);
        memcpy(source + 4, source, 4);
    }
}

/* Starts the program of an operation, with its memo before the output. */
static int start_program(tkx_rewriter *w, tkx_memo *m) {
    const tkx_stage *s = &w->op->program;
    const uint64_t room = memo_bytes(s->state_count, (uint64_t)(w->end - w->text) + 1);
    tkx_context *ctx = w->ctx;
    memo_start(m, s, w->text, w->end, ctx->memory_used);
    m->room = (size_t)room;
    if (!work_alloc(ctx, room)) return fail(ctx, TKX_E_WORK), 0;
    w->out = ctx->memory + ctx->memory_used;
    w->room = ctx->memory_size - ctx->memory_used;
    return 1;
}

/* REPLACE. */
static void run_replace(tkx_rewriter *w) {
    const tkx_stage *s = &w->op->program;
    const tkx_span content = w->op->content;
    const uint8_t *at = w->text, *copied = w->text;
    tkx_context *ctx = w->ctx;
    const size_t mark = ctx->memory_used;
    tkx_memo m;
    if (!start_program(w, &m)) return;
    while ((at < w->end || (s->flags & EMPTY_MATCHES)) && ctx->code == TKX_OK) {
        int empty;
        const uint8_t *last = match_any(ctx, s, &m, copied, at, w->end, &empty);
        if (last == at && (!empty || (w->changed && at == copied))) {
            if (at == w->end) break;
            at = skip_any(s, &m, next_symbol(s, at), w->end);
            continue;
        }
        w->changed = 1;
        write_copy(w, copied, (size_t)(at - copied));
        if (last > w->text) write_bytes(w, content.data, content.size, last - 1);
        else write_before(w, content.data, content.size);
        at = copied = last;
    }
    if (w->changed) write_copy(w, copied, (size_t)(w->end - copied));
    ctx->memory_used = mark;
}

#endif
