/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- added.c: added tokens (5.3) ------------------------------------------------------------- */

/* What a finder gives: a stretch of text, or an id and the text that it stands for. */
typedef struct part {
    size_t from, to;
    uint32_t id; /* NONE: a stretch */
} part;

/* A search for the tokens of one trie in one text. */
typedef struct finder {
    run *r;
    const uint8_t *starts, *nodes, *edges;
    uint32_t node_count, edge_count;
    uint32_t only_start; /* the byte that all contents begin with, or NONE */
    const uint8_t *text;
    size_t size;
    size_t at;    /* where the search goes on */
    size_t done;  /* the text before it is given out */
    size_t edge;  /* SINGLE_WORD sees no word before it; 0 without SEARCH_ANEW */
    part waiting; /* a token that comes behind the stretch that was given out */
    /* The last white space that RSTRIP looked at. It is not looked at twice, or a run of such
       tokens would be quadratic. */
    size_t spaces, spaces_end;
} finder;

/* The flags that ACLS has for the character at p; 0 without ACLS. */
static uint32_t added_class(run *r, const uint8_t *p) {
    tkx_span s = r->t->added_classes;
    uint32_t c = utf8_decode(p), middle, leaf, middle_count, leaf_count;
    const uint8_t *table;
    if (!s.data) return 0;
    table = s.data + 8;
    if (c < 128) return table[c];
    middle_count = load_u16(s.data);
    leaf_count = load_u16(s.data + 2);
    middle = load_u16(table + ASCII_SIZE + 2 * (c >> 12));
    if (middle < middle_count) {
        table += ASCII_SIZE + TOP_SIZE;
        leaf = load_u16(table + 2 * (64 * (size_t)middle + (c >> 6 & 63)));
        if (leaf < leaf_count)
            return table[128 * (size_t)middle_count + 64 * (size_t)leaf + (c & 63)];
    }
    fail(r, TKX_E_CORRUPT);
    return 0;
}

/* The start of the character before p. */
static const uint8_t *before(const uint8_t *p) {
    do p--;
    while (utf8_inside(*p));
    return p;
}

/* The one byte of a set of bytes, or NONE if there are none or several. */
static uint32_t only_byte(const uint8_t *bits) {
    uint32_t found = NONE, i;
    for (i = 0; i < 256; i += 64) {
        uint64_t word = load_u64(bits + i / 8);
        if (word == 0) continue;
        if (found != NONE || (word & (word - 1))) return NONE;
        found = i + lowest_bit(word);
    }
    return found;
}

static void find_start(finder *f, run *r, int normalized, const uint8_t *text, size_t size) {
    const tkx *t = r->t;
    memset(f, 0, sizeof *f);
    f->r = r;
    f->starts = t->added.data + (normalized ? 64 : 32);
    f->nodes = normalized ? added_normalized_nodes(t) : added_raw_nodes(t);
    f->node_count = (uint32_t)field(t->added, normalized ? 12 : 4);
    f->edge_count = (uint32_t)field(t->added, normalized ? 16 : 8);
    f->edges = f->nodes + NODE_SIZE * ((size_t)f->node_count + 1);
    f->text = text;
    f->size = size;
    f->waiting.id = NONE;
    f->only_start = only_byte(f->starts);
}

/* Whether tokens of a trie can be found at all in this call. */
static int can_find(const run *r, int normalized) {
    const tkx *t = r->t;
    if (!t->added.data || field(t->added, normalized ? 12 : 4) == 0) return 0;
    return r->special || (normalized ? t->plain_normalized : t->plain_raw);
}

/* The child of a node for a byte, or 0: the root is nobody's child. */
static uint32_t find_child(finder *f, uint32_t node, uint8_t byte) {
    uint32_t low = load_u32(f->nodes + NODE_SIZE * (size_t)node),
             high = load_u32(f->nodes + NODE_SIZE * ((size_t)node + 1)), end = high;
    if (low > high || high > f->edge_count) {
        fail(f->r, TKX_E_CORRUPT);
        return 0;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (load_u32(f->edges + 4 * (size_t)middle) >> 24 < byte) low = middle + 1;
        else high = middle;
    }
    if (low < end) {
        uint32_t edge = load_u32(f->edges + 4 * (size_t)low);
        if (edge >> 24 != byte) return 0;
        if ((edge & 0xFFFFFF) < f->node_count) return edge & 0xFFFFFF;
        fail(f->r, TKX_E_CORRUPT);
    }
    return 0;
}

/* The longest content that begins at `at`: index of its token, or NONE. */
static uint32_t longest_content(finder *f, size_t at, size_t *stop) {
    uint32_t node = 0, token = NONE;
    size_t i;
    for (i = at; i < f->size; i++) {
        node = find_child(f, node, f->text[i]);
        if (node == 0) break;
        if (load_u32(f->nodes + NODE_SIZE * (size_t)node + 4) != NONE) {
            token = load_u32(f->nodes + NODE_SIZE * (size_t)node + 4);
            *stop = i + 1;
        }
    }
    return token;
}

/* The first place at or behind `at` where a content may begin. Nearly always that is at one byte,
   `<`: eight are looked at together. */
static size_t next_start(const finder *f, size_t at) {
    const uint8_t *p = f->text + at, *end = f->text + f->size;
    if (f->only_start != NONE) {
        const uint64_t pattern = f->only_start * LOW_BITS;
        while (end - p >= 8) {
            uint64_t word = load_u64(p) ^ pattern; /* a zero byte where the start stands */
            uint64_t zeros = (word - LOW_BITS) & ~word & HIGH_BITS;
            if (zeros) return (size_t)(p - f->text) + (lowest_bit(zeros) >> 3);
            p += 8;
        }
    }
    while (p < end && !bit_of(f->starts, *p)) p++;
    return (size_t)(p - f->text);
}

static int is_allowed(const run *r, uint32_t token) {
    if (r->special != 2) return r->special;
    return token / 8 < r->allowed_size && bit_of(r->allowed, token);
}

/* Where the white space behind a token ends. */
static size_t spaces_behind(finder *f, size_t stop) {
    size_t i = stop;
    if (stop >= f->spaces && stop <= f->spaces_end) return f->spaces_end;
    while (i < f->size && (added_class(f->r, f->text + i) & CLASS_SPACE))
        i += utf8_length(f->text[i]);
    f->spaces = stop;
    f->spaces_end = i;
    return i;
}

/* Where the white space before a token begins, not before what is given out. */
static size_t spaces_before(finder *f, size_t start) {
    while (start > f->done) {
        const uint8_t *p = before(f->text + start);
        if (!(added_class(f->r, p) & CLASS_SPACE)) break;
        start = (size_t)(p - f->text);
    }
    return start < f->done ? f->done : start;
}

static int touches_word(finder *f, size_t start, size_t stop) {
    if (start > f->edge && (added_class(f->r, before(f->text + start)) & CLASS_WORD)) return 1;
    return stop < f->size && (added_class(f->r, f->text + stop) & CLASS_WORD);
}

/* Behind what was found or passed over, the search goes on at `at`, with SEARCH_ANEW as if the text
   began there. */
static void go_on(finder *f, size_t at, size_t anew) {
    f->at = at;
    if (f->r->t->flags & SEARCH_ANEW) f->at = f->edge = anew;
}

/* Gives the next stretch or id in *item; 0 at the end and on an error. */
static int find_next(finder *f, part *item) {
    run *r = f->r;
    *item = f->waiting;
    f->waiting.id = NONE;
    if (item->id != NONE) return 1;
    while (f->at < f->size) {
        size_t start = f->at = next_start(f, f->at), stop = 0;
        uint32_t token = start < f->size ? longest_content(f, start, &stop) : NONE, flags;
        const uint8_t *entry;
        if (r->code != TKX_OK) return 0;
        if (token == NONE) {
            f->at = start + 1;
            continue;
        }
        entry =
            added_tokens(r->t) + ADDED_SIZE * (size_t)(token < tkx_added_count(r->t) ? token : 0);
        if (token >= tkx_added_count(r->t) || load_u32(entry) >= r->t->id_count ||
            utf8_inside(f->text[start]) || (stop < f->size && utf8_inside(f->text[stop]))) {
            fail(r, TKX_E_CORRUPT);
            return 0;
        }
        flags = load_u32(entry + 12);
        if ((flags & TKX_ADDED_SPECIAL) && !is_allowed(r, token)) {
            go_on(f, r->t->flags & RESCAN_SPECIAL ? start + 1 : stop, stop);
            continue;
        }
        if ((flags & TKX_ADDED_SINGLE_WORD) && touches_word(f, start, stop)) {
            go_on(f, stop, start + 1);
            continue;
        }
        f->at = stop;
        if (flags & TKX_ADDED_LSTRIP) start = spaces_before(f, start);
        if (flags & TKX_ADDED_RSTRIP) stop = spaces_behind(f, stop);
        if (r->code != TKX_OK) return 0;
        go_on(f, f->at, stop);
        /* white space that is a token, and that the token before has taken with it: nothing is
           left */
        if (start >= stop) continue;
        item->from = start;
        item->to = stop;
        item->id = load_u32(entry);
        if (f->done < start) {
            f->waiting = *item;
            item->from = f->done;
            item->to = start;
            item->id = NONE;
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

/* Whether the character at p counts as white space at the end of a token's name: also U+0120, by
   which GPT-2's alphabet spells a space. */
static int is_trimmed(run *r, const uint8_t *p) {
    return (added_class(r, p) & CLASS_SPACE) || utf8_decode(p) == 0x120;
}

static void put_added_span(run *r, const uint8_t *from, const uint8_t *to) {
    size_t leading = 0, trailing = 0;
    const uint8_t *p;
    if (field(r->t->trims, 0)) {
        for (p = from; p < to && is_trimmed(r, p); p += utf8_length(*p)) leading++;
        for (p = to; p > from && is_trimmed(r, before(p)); p = before(p)) trailing++;
    }
    put_span(r, from, to, leading, trailing);
}

#endif

/* Emits an added token that stands for the bytes from `from` to `to` of the text at hand, with the
   white space that it took. */
static void emit_added(run *r, uint32_t id, const uint8_t *from, const uint8_t *to) {
#ifndef TKX_NO_OFFSETS
    if (wants_spans(r)) put_added_span(r, from, to);
#else
    (void)from;
    (void)to;
#endif
    emit(r, id);
}
