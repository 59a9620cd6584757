/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- added.c: added tokens (3.2) ------------------------------------------------------------- */

/* A result of a scanner: a segment of plain text, or an added token with the text it covers. */
typedef struct tkx_segment {
    size_t from, to;
    uint32_t id; /* TKX_NONE: a segment */
} tkx_segment;

/* A scan of one text for the contents in one trie. */
typedef struct tkx_scanner {
    tkx_context *ctx;
    const uint8_t *starts, *nodes, *edges;
    uint32_t node_count, edge_count;
    uint32_t only_start; /* the first byte of every content, if it is the same; else TKX_NONE */
    const uint8_t *text;
    size_t size;
    size_t at;           /* where the scan continues */
    size_t done;         /* everything before it has been returned */
    size_t edge;         /* SINGLE_WORD does not look further back; 0 without SEARCH_ANEW */
    tkx_segment pending; /* a token to return next, after the segment before it */
    /* the white space that RSTRIP scanned last, so that runs of RSTRIP tokens take linear time */
    size_t spaces, spaces_end;
} tkx_scanner;

/* The flags in ACLS of the character at p; 0 without ACLS. */
static uint32_t added_class(tkx_context *ctx, const uint8_t *p) {
    tkx_span s = ctx->t->added_classes;
    const uint8_t *top, *middle;
    uint32_t c = utf8_decode(p), middle_count;
    size_t leaf;
    if (!s.data) return 0;
    if (c < 128) return s.data[8 + c];
    top = s.data + 8 + ASCII_SIZE;
    middle = top + TOP_SIZE;
    middle_count = load_u16(s.data);
    leaf = find_leaf(top, middle, middle_count, load_u16(s.data + 2), c);
    if (leaf == SIZE_MAX) return fail(ctx, TKX_E_CORRUPT), 0;
    return middle[128 * (size_t)middle_count + leaf];
}

/* The start of the character before p. */
static const uint8_t *before(const uint8_t *p) {
    do p--;
    while (utf8_inside(*p));
    return p;
}

/* The only member of a set of bytes, or TKX_NONE if it has none or several. */
static uint32_t only_byte(const uint8_t *bits) {
    uint32_t found = TKX_NONE, i;
    for (i = 0; i < 256; i += 64) {
        uint64_t word = load_u64(bits + i / 8);
        if (word == 0) continue;
        if (found != TKX_NONE || (word & (word - 1))) return TKX_NONE;
        found = i + lowest_bit(word);
    }
    return found;
}

/* Starts a scan of a text with a trie but no tokens. `counts`: the number of nodes and of edges. */
static void scanner_init(tkx_scanner *f, tkx_context *ctx, const uint8_t *nodes,
                         const uint8_t *counts, const uint8_t *text, const uint8_t *end) {
    *f = (tkx_scanner){.ctx = ctx, .nodes = nodes, .text = text, .size = (size_t)(end - text)};
    f->node_count = load_u32(counts);
    f->edge_count = load_u32(counts + 4);
    f->edges = nodes + NODE_SIZE * ((size_t)f->node_count + 1);
}

static void scanner_start(tkx_scanner *f, tkx_context *ctx, int normalized, const uint8_t *text,
                          size_t size) {
    const tkx *t = ctx->t;
    scanner_init(f, ctx, added_nodes(t, normalized), t->added.data + (normalized ? 12 : 4), text,
                 text + size);
    f->starts = t->added.data + (normalized ? 64 : 32);
    f->pending.id = TKX_NONE;
    f->only_start = only_byte(f->starts);
}

/* Whether this call can find any token of a trie. */
static int has_tokens(const tkx_context *ctx, int normalized) {
    const tkx *t = ctx->t;
    if (!t->added.data || field(t->added, normalized ? 12 : 4) == 0) return 0;
    return ctx->special || (normalized ? t->plain_normalized : t->plain_raw);
}

/* The child of a node for a byte, or 0: no edge leads to the root. */
static uint32_t find_child(tkx_scanner *f, uint32_t node, uint8_t byte) {
    const uint8_t *edges = f->edges;
    uint32_t first = load_u32(f->nodes + NODE_SIZE * (size_t)node),
             end = load_u32(f->nodes + NODE_SIZE * ((size_t)node + 1)), edge;
    size_t at;
    if (first > end || end > f->edge_count) return fail(f->ctx, TKX_E_CORRUPT), 0;
    edges += 4 * (size_t)first;
    at = lower_bound(edges, 4, end - first, (uint32_t)byte << 24);
    if (at == end - first) return 0;
    edge = load_u32(edges + 4 * at);
    if (edge >> 24 != byte) return 0;
    if ((edge & 0xFFFFFF) < f->node_count) return edge & 0xFFFFFF;
    return fail(f->ctx, TKX_E_CORRUPT), 0;
}

/* The length of the longest content at `at`, and its token; 0 if there is none. */
static size_t longest_content(tkx_scanner *f, size_t at, uint32_t *token) {
    uint32_t node = 0;
    size_t i, length = 0;
    for (i = at; i < f->size && f->node_count; i++) {
        node = find_child(f, node, f->text[i]);
        if (node == 0) break;
        /* no path is longer than the trie */
        if (i - at >= f->node_count) return fail(f->ctx, TKX_E_CORRUPT), 0;
        if (load_u32(f->nodes + NODE_SIZE * (size_t)node + 4) == TKX_NONE) continue;
        *token = load_u32(f->nodes + NODE_SIZE * (size_t)node + 4);
        length = i + 1 - at;
    }
    return length;
}

/* The Python extension skips bytes here that begin no content, and finds runs of one byte. */
#ifndef TKX_SKIP_TO_START
#define TKX_SKIP_TO_START(f, p, end) (p)
#define TKX_FIND_RUN(f, at, token, length) 0
#endif

/* The first position at or after `at` where a content may begin. Most files have one such byte. */
static size_t next_start(const tkx_scanner *f, size_t at) {
    const uint8_t *end = f->text + f->size, *p = TKX_SKIP_TO_START(f, f->text + at, end);
    if (f->only_start != TKX_NONE) {
        const uint64_t pattern = f->only_start * LOW_BITS;
        for (; end - p >= 8; p += 8) {
            uint64_t word = load_u64(p) ^ pattern; /* a zero byte marks a start */
            uint64_t zeros = (word - LOW_BITS) & ~word & HIGH_BITS;
            if (zeros) return (size_t)(p - f->text) + (lowest_bit(zeros) >> 3);
        }
    }
    while (p < end && !bit_of(f->starts, *p)) p++;
    return (size_t)(p - f->text);
}

static int is_allowed(const tkx_context *ctx, uint32_t token, const uint8_t *at) {
    /* in a rewritten text, the difference is out of range, or negative and thus very large */
    const size_t bit = ctx->special == 3 ? (size_t)((uintptr_t)at - (uintptr_t)ctx->input) : token;
    if (ctx->special < 2) return ctx->special;
    return bit / 8 < ctx->allowed_size && bit_of(ctx->allowed, bit);
}

/* The end of the white space after a token. */
static size_t spaces_after(tkx_scanner *f, size_t stop) {
    size_t i = stop;
    if (stop >= f->spaces && stop <= f->spaces_end) return f->spaces_end;
    while (i < f->size && (added_class(f->ctx, f->text + i) & CLASS_SPACE))
        i += utf8_length(f->text[i]);
    f->spaces = stop;
    f->spaces_end = i;
    return i;
}

/* The start of the white space before a token, but not of text that has been returned. */
static size_t spaces_before(tkx_scanner *f, size_t start) {
    while (start > f->done) {
        const uint8_t *p = before(f->text + start);
        if (!(added_class(f->ctx, p) & CLASS_SPACE)) break;
        start = (size_t)(p - f->text);
    }
    return start < f->done ? f->done : start;
}

static int touches_word(tkx_scanner *f, size_t start, size_t stop) {
    if (start > f->edge && (added_class(f->ctx, before(f->text + start)) & CLASS_WORD)) return 1;
    return stop < f->size && (added_class(f->ctx, f->text + stop) & CLASS_WORD);
}

/* Continues the scan at `at`; with SEARCH_ANEW, in a text that begins at `anew`. */
static void go_on(tkx_scanner *f, size_t at, size_t anew) {
    f->at = at;
    if (f->ctx->t->flags & SEARCH_ANEW) f->at = f->edge = anew;
}

/* Writes the next segment or token to *item; returns 0 at the end and on an error. */
static int scanner_next(tkx_scanner *f, tkx_segment *item) {
    tkx_context *ctx = f->ctx;
    *item = f->pending;
    f->pending.id = TKX_NONE;
    if (item->id != TKX_NONE) return 1;
    while (f->at < f->size) {
        size_t start = f->at = next_start(f, f->at), length, stop;
        const uint8_t *entry;
        uint32_t token = TKX_NONE, flags;
        f->at++;
        if (!TKX_FIND_RUN(f, start, &token, &length)) length = longest_content(f, start, &token);
        if (ctx->code != TKX_OK) return 0;
        if (!length) continue;
        stop = start + length;
        if (token >= tkx_added_count(ctx->t)) return fail(ctx, TKX_E_CORRUPT), 0;
        entry = added_tokens(ctx->t) + ADDED_SIZE * (size_t)token;
        if (load_u32(entry) >= ctx->t->id_count || utf8_inside(f->text[start]) ||
            (stop < f->size && utf8_inside(f->text[stop])))
            return fail(ctx, TKX_E_CORRUPT), 0;
        flags = load_u32(entry + 12);
        if ((flags & TKX_ADDED_SPECIAL) && !is_allowed(ctx, token, f->text + start)) {
            go_on(f, ctx->t->flags & RESCAN_SPECIAL ? start + 1 : stop, stop);
            continue;
        }
        if ((flags & TKX_ADDED_SINGLE_WORD) && touches_word(f, start, stop)) {
            go_on(f, stop, start + 1);
            continue;
        }
        f->at = stop;
        if (flags & TKX_ADDED_LSTRIP) start = spaces_before(f, start);
        if (flags & TKX_ADDED_RSTRIP) stop = spaces_after(f, stop);
        if (ctx->code != TKX_OK) return 0;
        go_on(f, f->at, stop);
        /* a token of white space that RSTRIP of the previous token covers */
        if (start >= stop) continue;
        item->from = start;
        item->to = stop;
        item->id = load_u32(entry);
        if (f->done < start) {
            f->pending = *item;
            item->from = f->done;
            item->to = start;
            item->id = TKX_NONE;
        }
        f->done = stop;
        return 1;
    }
    item->from = f->done;
    item->to = f->size;
    f->done = f->size;
    return item->from < item->to;
}

#ifndef TKX_NO_OFFSETS

/* Whether trimming removes a character: white space, and U+0120, the space of GPT-2's alphabet. */
static int is_trimmed(tkx_context *ctx, const uint8_t *p) {
    return (added_class(ctx, p) & CLASS_SPACE) || utf8_decode(p) == 0x120;
}

static void put_added_span(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    size_t leading = 0, trailing = 0;
    const uint8_t *p;
    if (field(ctx->t->trims, 0)) {
        for (p = from; p < to && is_trimmed(ctx, p); p += utf8_length(*p)) leading++;
        for (p = to; p > from && is_trimmed(ctx, before(p)); p = before(p)) trailing++;
    }
    put_span(ctx, from, to, leading, trailing);
}

#endif

/* Emits an added token that covers these bytes of the current text. */
static void emit_added(tkx_context *ctx, uint32_t id, const uint8_t *from, const uint8_t *to) {
#ifndef TKX_NO_OFFSETS
    if (wants_spans(ctx)) put_added_span(ctx, from, to);
#endif
    (void)from, (void)to;
    ctx->carry = 0;
    emit(ctx, id);
}
