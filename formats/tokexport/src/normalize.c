/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- normalize.c: normal forms (3.3) --------------------------------------------------------- */

#ifndef TKX_NO_NORMALIZER

/* A three-level table; its leaves are u16 indexes of entries of 8 bytes. */
typedef struct tkx_entries {
    const uint8_t *top, *middle, *leaves, *entries;
    uint32_t middle_count, leaf_count, count;
} tkx_entries;

/* `counts`: the numbers of middle blocks, leaves and entries, as in the file. */
static tkx_entries entries_at(const uint8_t *top, const uint8_t *counts) {
    tkx_entries e = {.top = top, .middle = top + TOP_SIZE, .count = load_u32(counts + 8)};
    e.middle_count = load_u32(counts);
    e.leaf_count = load_u32(counts + 4);
    e.leaves = e.middle + 128 * (size_t)e.middle_count;
    e.entries = e.leaves + 128 * (size_t)e.leaf_count;
    return e;
}

/* The entry of a code point; NULL if an index is out of range (ctx->code is set). */
static TKX_INLINE const uint8_t *find_entry(tkx_context *ctx, const tkx_entries *e, uint32_t c) {
    const size_t leaf = find_leaf(e->top, e->middle, e->middle_count, e->leaf_count, c);
    const uint32_t entry = leaf < SIZE_MAX ? load_u16(e->leaves + 2 * leaf) : TKX_NONE;
    return entry < e->count ? e->entries + 8 * (size_t)entry : (fail(ctx, TKX_E_CORRUPT), NULL);
}

/* Writes the source of the byte at p for `count` bytes; returns where the alignment continues. */
static uint8_t *put_sources(const tkx_context *ctx, uint8_t *alignment, size_t count,
                            const uint8_t *p) {
    size_t from, to;
    find_source(ctx, p, p + 1, &from, &to);
    for (; count; count--, alignment += 8) {
        put_u32(alignment, (uint32_t)from);
        put_u32(alignment + 4, (uint32_t)to);
    }
    return alignment;
}

static int is_hangul(uint32_t c) { return c - 0xAC00 < 11172; }

/* The i-th jamo of a Hangul syllable; 0 if it has only two. */
static uint32_t hangul_letter(uint32_t c, int i) {
    c -= 0xAC00;
    if (i < 2) return i ? 0x1161 + c % 588 / 28 : 0x1100 + c / 588;
    return c % 28 ? 0x11A7 + c % 28 : 0;
}

/* The normalized text grows up from the bottom of the free work memory. Code points not yet written
   grow down from its top: the `marks` after `starter`, of combining class > 0, each with its class
   in the upper 8 bits; and below them the same room again, to sort them.

   For alignment, the first code point of each character's decomposition has a bit, TAKES; a
   composite counts the bits of its parts. A code point with n bits takes n characters of the
   source, in order, and its source is the first of them; with no bits, it is the last one taken. */
typedef struct tkx_normalizer {
    tkx_context *ctx;
    const tkx_op *op;
    tkx_entries table;
    int composes; /* NFC or NFKC */
    uint32_t point_count, composition_count;
    const uint8_t *points, *compositions;
    uint8_t *out;
    size_t used, room;
    uint32_t starter; /* TKX_NONE: none yet */
    uint32_t firsts;  /* the number of bits TAKES of the starter */
    size_t marks;
    /* where the sources of the next bytes are written, or NULL */
    uint8_t *alignment;
    const uint8_t *source, *source_end; /* the characters not yet taken */
    const uint8_t *taken;               /* the character taken last */
} tkx_normalizer;

enum { TAKES = 1 << 21, POINT_MASK = TAKES - 1 };

static void normalizer_start(tkx_normalizer *n, tkx_context *ctx, const tkx_op *op, uint8_t *out,
                             size_t room) {
    const uint8_t *data = op->table.data;
    *n = (tkx_normalizer){.ctx = ctx, .op = op, .out = out, .room = room, .starter = TKX_NONE};
    n->composes = load_u32(data) == NFC || load_u32(data) == NFKC;
    n->table = entries_at(data + FORM_HEADER, data + 4);
    n->point_count = load_u32(data + 16);
    n->composition_count = load_u32(data + 20);
    n->points = n->table.entries + 8 * (size_t)n->table.count;
    n->compositions = n->points + 4 * (size_t)n->point_count;
}

static uint8_t *mark_at(const tkx_normalizer *n, size_t i) {
    return n->out + n->room - 4 * (i + 1);
}

/* Whether there is room for `bytes` more of text and `marks` more code points. */
static int has_room(tkx_normalizer *n, size_t bytes, size_t marks) {
    size_t free = n->room - n->used;
    if (free / 8 > n->marks + marks && free - 8 * (n->marks + marks) >= bytes) return 1;
    return fail(n->ctx, TKX_E_WORK), 0;
}

/* Writes the source of a code point of `size` bytes that has `firsts` bits TAKES. */
static TKX_INLINE void align_point(tkx_normalizer *n, size_t size, uint32_t firsts) {
    if (TKX_LIKELY(n->alignment == NULL)) return;
    if (firsts) n->taken = n->source;
    n->alignment = put_sources(n->ctx, n->alignment, size, n->taken);
    for (; firsts && n->source < n->source_end; firsts--) {
        n->taken = n->source;
        n->source += utf8_length(*n->source);
    }
}

static void write_point(tkx_normalizer *n, uint32_t c, uint32_t firsts) {
    size_t size;
    if (!has_room(n, 4, 0)) return;
    size = utf8_encode(n->out + n->used, c);
    n->used += size;
    align_point(n, size, firsts);
}

/* Sorts the marks by class; stable, and in linear time, since a text may be a million marks. */
static void sort_marks(tkx_normalizer *n) {
    size_t i, j;
    if (n->marks <= 16) {
        for (i = 1; i < n->marks; i++) {
            uint32_t mark = get_u32(mark_at(n, i));
            for (j = i; j > 0 && get_u32(mark_at(n, j - 1)) >> 24 > mark >> 24; j--)
                put_u32(mark_at(n, j), get_u32(mark_at(n, j - 1)));
            put_u32(mark_at(n, j), mark);
        }
    } else {
        size_t first[256] = {0}, sum = 0;
        for (i = 0; i < n->marks; i++) first[get_u32(mark_at(n, i)) >> 24]++;
        for (i = 0; i < 256; i++) {
            size_t count = first[i];
            first[i] = sum;
            sum += count;
        }
        for (i = 0; i < n->marks; i++) {
            uint32_t mark = get_u32(mark_at(n, i));
            put_u32(mark_at(n, n->marks + first[mark >> 24]++), mark);
        }
        memmove(mark_at(n, n->marks - 1), mark_at(n, 2 * n->marks - 1), 4 * n->marks);
    }
}

/* Whether a number is a Unicode scalar value. */
static int is_scalar(uint32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

/* The composite of two code points, or TKX_NONE. */
static uint32_t composed(tkx_normalizer *n, uint32_t a, uint32_t b) {
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t low = 0, high = n->composition_count;
    if (a - 0x1100 < 19 && b - 0x1161 < 21) return 0xAC00 + ((a - 0x1100) * 21 + (b - 0x1161)) * 28;
    if (is_hangul(a) && (a - 0xAC00) % 28 == 0 && b - 0x11A8 < 27) return a + (b - 0x11A7);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry = n->compositions + 12 * (size_t)middle;
        uint64_t found = (uint64_t)load_u32(entry) << 32 | load_u32(entry + 4);
        if (found == key) {
            uint32_t c = load_u32(entry + 8);
            return is_scalar(c) ? c : (fail(n->ctx, TKX_E_CORRUPT), TKX_NONE);
        }
        if (found < key) low = middle + 1;
        else high = middle;
    }
    return TKX_NONE;
}

/* Sorts the marks, and composes the starter with all possible ones; the others remain. */
static void close_marks(tkx_normalizer *n) {
    size_t kept = 0, i;
    uint32_t last_class = 0;
    if (n->marks > 1) sort_marks(n);
    if (!n->composes || n->starter == TKX_NONE) return;
    for (i = 0; i < n->marks; i++) {
        uint32_t mark = get_u32(mark_at(n, i)), c = TKX_NONE;
        if (last_class < mark >> 24) c = composed(n, n->starter, mark & POINT_MASK);
        if (c != TKX_NONE) {
            n->starter = c;
            n->firsts += (mark & TAKES) != 0;
        } else {
            put_u32(mark_at(n, kept++), mark);
            last_class = mark >> 24;
        }
    }
    n->marks = kept;
}

/* Writes the starter and its marks, after close_marks. */
static void write_closed(tkx_normalizer *n) {
    size_t i, count = n->marks;
    if (n->starter != TKX_NONE) write_point(n, n->starter, n->firsts);
    /* the two ends cannot meet: each mark has 8 bytes of room, 4 of them unused, and needs at most
       4 */
    for (i = 0; i < count && n->ctx->code == TKX_OK; i++) {
        const uint32_t mark = get_u32(mark_at(n, i));
        const size_t size = utf8_encode(n->out + n->used, mark & POINT_MASK);
        n->used += size;
        align_point(n, size, (mark & TAKES) != 0);
    }
    n->starter = TKX_NONE;
    n->marks = 0;
}

/* Adds a code point of the decomposed text; `first`: TAKES or 0. */
static void add_point(tkx_normalizer *n, uint32_t c, uint32_t class_, uint32_t first) {
    uint32_t composite = TKX_NONE;
    if (class_ != 0) {
        if (has_room(n, 4, 1)) put_u32(mark_at(n, n->marks++), class_ << 24 | first | c);
        return;
    }
    close_marks(n);
    if (n->marks == 0 && n->starter != TKX_NONE && n->composes)
        composite = composed(n, n->starter, c);
    if (composite == TKX_NONE) {
        write_closed(n);
        composite = c;
        n->firsts = 0;
    }
    n->starter = composite;
    n->firsts += first != 0;
}

static void add_decomposed(tkx_normalizer *n, uint32_t c) {
    const uint8_t *entry = find_entry(n->ctx, &n->table, c);
    uint32_t start, length, i;
    if (is_hangul(c)) {
        add_point(n, hangul_letter(c, 0), 0, TAKES);
        add_point(n, hangul_letter(c, 1), 0, 0);
        if (hangul_letter(c, 2)) add_point(n, hangul_letter(c, 2), 0, 0);
        return;
    }
    if (!entry) return;
    start = load_u32(entry);
    length = entry[4];
    if (length == 0) add_point(n, c, entry[5], TAKES);
    else if (start > n->point_count || length > n->point_count - start) fail(n->ctx, TKX_E_CORRUPT);
    for (i = 0; i < length && n->ctx->code == TKX_OK; i++) {
        c = load_u32(n->points + 4 * ((size_t)start + i));
        entry = is_scalar(c) ? find_entry(n->ctx, &n->table, c) : NULL;
        if (entry) add_point(n, c, entry[5], i ? 0 : TAKES);
        else fail(n->ctx, TKX_E_CORRUPT);
    }
}

/* Skips stable code points: ASCII, and in the Python extension more. */
#ifndef TKX_SKIP_STABLE
#define TKX_SKIP_STABLE(n, p, end) skip_ascii(p, end)
#endif

/* Whether a code point is stable (check 0 and class 0), so that a text may be cut before it. */
static TKX_INLINE int is_stable(tkx_normalizer *n, uint32_t c) {
    const uint8_t *entry = find_entry(n->ctx, &n->table, c);
    return entry && !(entry[5] | entry[6]) && (n->composes || !is_hangul(c));
}

/* Whether the code point at p, not stable, is certainly unchanged if those before it are. */
static int stays(tkx_normalizer *n, const uint8_t *text, const uint8_t *p) {
    const uint32_t c = utf8_decode(p), left = p > text ? utf8_decode(before(p)) : 0;
    const uint8_t *entry = find_entry(n->ctx, &n->table, c),
                  *last = find_entry(n->ctx, &n->table, left);
    if (!entry || !last || entry[4] || is_hangul(c) || (entry[5] && entry[5] < last[5])) return 0;
    return !entry[6] || !(last[4] | last[5] || composed(n, left, c) != TKX_NONE);
}

/* Quick check from a stable code point on: `end`, or the last stable one before any change. */
static const uint8_t *skip_normalized(tkx_normalizer *n, const uint8_t *text, const uint8_t *end) {
    const uint8_t *p = text;
    while ((p = TKX_SKIP_STABLE(n, p, end)) < end) {
        if (!is_stable(n, utf8_decode(p)) && !stays(n, text, p)) break;
        p += utf8_length(*p);
    }
    while (p > text && p < end && !is_stable(n, utf8_decode(p))) p = before(p);
    return p;
}

/* Normalizes a text, whose part before p is unchanged; p comes from skip_normalized. */
static void normalize(tkx_normalizer *n, const uint8_t *text, const uint8_t *p,
                      const uint8_t *end) {
    n->source = n->taken = text;
    n->source_end = end;
    while (n->ctx->code == TKX_OK) {
        if (p > text && !has_room(n, (size_t)(p - text), 0)) return;
        memcpy(n->out + n->used, text, (size_t)(p - text));
        n->used += (size_t)(p - text);
        for (; n->alignment && text < p; text += utf8_length(*text))
            align_point(n, utf8_length(*text), 1);
        if (p == end) return;
        do {
            add_decomposed(n, utf8_decode(p));
            p += utf8_length(*p);
        } while (p < end && !is_stable(n, utf8_decode(p)));
        close_marks(n);
        write_closed(n);
        text = p;
        p = skip_normalized(n, p, end);
    }
}

#endif
