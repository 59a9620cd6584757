/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- rewrite_charsmap.c: CHARSMAP (5.4) ------------------------------------------------------ */

#ifndef TKX_NO_NORMALIZER

/* The alignment of CHARSMAP. A character of the output takes characters of the text, in order, and
   has the source of the first of them; one that takes none shares the source of the one that was
   taken before. A replacement of m characters for n takes one character each as long as there are
   any. What is then left of the n, its last character takes besides, or the character before it
   where m is 0; at the start of the text nobody takes them, and all that follows is a little too
   far left. That is how the reference library has it. */

/* Writes the source of the last character. */
static void align_last(rewriter *w) {
#ifndef TKX_NO_OFFSETS
    const uint8_t *source = w->untaken;
    if (!w->alignment || !w->last_size) return;
    if (!w->last_takes && source > w->text) source = before(source);
    put_sources(w->r, w->alignment + 8 * w->aligned, w->last_size, source);
    w->aligned += w->last_size;
    for (; w->last_takes && w->untaken < w->end; w->last_takes--)
        w->untaken += utf8_length(*w->untaken);
    w->last_size = 0;
#else
    (void)w;
#endif
}

/* Notes the next character of the output, `size` bytes. */
static void align_character(rewriter *w, size_t size, size_t takes) {
    align_last(w);
    w->last_size = size;
    w->last_takes = takes;
}

/* Copies whole characters. */
static void copy_characters(rewriter *w, const uint8_t *from, const uint8_t *to) {
    write_unaligned(w, from, (size_t)(to - from));
    for (; w->alignment && from < to; from += utf8_length(*from))
        align_character(w, utf8_length(*from), 1);
}

/* Aligns a replacement for the characters from p to `end`. */
static void align_replacement(rewriter *w, const uint8_t *text, size_t size, const uint8_t *p,
                              const uint8_t *end) {
    size_t left = 0, i;
    if (!w->alignment) return;
    for (; p < end; p += utf8_length(*p)) left++;
    for (i = 0; i < size; i += utf8_length(text[i])) {
        align_character(w, utf8_length(text[i]), left ? 1 : 0);
        if (left) left--;
    }
    if (w->last_size) w->last_takes += left;
}

/* A search for the protected texts of a CHARSMAP in a text. */
static void find_protected(finder *f, run *r, const tkx_op *op, const uint8_t *text, size_t size) {
    const uint8_t *data = op->table.data;
    memset(f, 0, sizeof *f);
    f->r = r;
    f->node_count = load_u32(data + 4);
    f->edge_count = load_u32(data + 8);
    f->nodes = data + CHARSMAP_HEADER + 4 * (size_t)load_u32(data);
    f->edges = f->nodes + NODE_SIZE * ((size_t)f->node_count + 1);
    f->text = text;
    f->size = size;
}

/* The place of the replacement for the shortest or the longest sequence that a text begins with,
   *length its bytes; NONE: there is none. */
static uint32_t find_sequence(const tkx_op *op, const uint8_t *p, const uint8_t *end, int longest,
                              size_t *length) {
    uint32_t node = charsmap_offset(charsmap_unit(op, 0)), place = NONE;
    size_t i;
    for (i = 0; i < (size_t)(end - p) && p[i]; i++) {
        uint32_t unit = charsmap_unit(op, node ^ p[i]);
        if ((unit & CHARSMAP_LABEL) != p[i]) break;
        node ^= p[i] ^ charsmap_offset(unit);
        if (unit & CHARSMAP_LEAF) {
            place = charsmap_unit(op, node) & CHARSMAP_VALUE;
            *length = i + 1;
            if (!longest) break;
        }
    }
    return place;
}

/* The replacement that begins at a place of the text of a charsmap and ends before a NUL. */
static tkx_span read_replacement(run *r, const tkx_op *op, uint32_t place) {
    const tkx_span table = op->table;
    uint32_t text_size = load_u32(table.data + 16);
    tkx_span found = {NULL, 0};
    if (place <= text_size) {
        found.data = table.data + (table.size - text_size) + place;
        while (found.size < text_size - place && found.data[found.size]) found.size++;
    }
    if (!found.data || utf8_valid(found.data, found.size) != found.size) {
        fail(r, TKX_E_CORRUPT);
        found.size = 0;
    }
    return found;
}

/* The end of the part of a text that a CHARSMAP without BY_CLUSTER takes together at p, and what it
   becomes. `f` searches the text. */
static const uint8_t *find_part(finder *f, const tkx_op *op, const uint8_t *p, tkx_span *becomes) {
    const uint8_t *end = f->text + f->size;
    size_t length = utf8_length(*p), stop = 0;
    uint32_t place = NONE;
    becomes->data = p;
    if (f->node_count && longest_content(f, (size_t)(p - f->text), &stop) != NONE) {
        length = stop - (size_t)(p - f->text);
    } else {
        place = find_sequence(op, p, end, 1, &length);
    }
    becomes->size = length;
    if (place != NONE) *becomes = read_replacement(f->r, op, place);
    if (length < (size_t)(end - p) && utf8_inside(p[length])) fail(f->r, TKX_E_CORRUPT);
    return p + length;
}

/* Writes the replacement at a place for the characters from p to `end`. */
static void write_replacement(rewriter *w, uint32_t place, const uint8_t *p, const uint8_t *end) {
    const tkx_span found = read_replacement(w->r, w->op, place);
    if (w->r->code != TKX_OK) return;
    write_unaligned(w, found.data, found.size);
    align_replacement(w, found.data, found.size, p, end);
}

/* Where the characters from p on end that a charsmap leaves as they are, whatever follows. By
   cluster, the one before something else is left out: a mark may be joined to it. Chinese and
   Japanese are 1.5 to 1.8 times as fast as when each character is asked for its cluster. */
static const uint8_t *charsmap_idle(const rewriter *w, const uint8_t *p) {
    const tkx_stage *s = &w->op->program;
    const int by_cluster = w->op->flags & BY_CLUSTER;
    const uint32_t first_plain = by_cluster ? load_u32(w->op->table.data + 20) : 0;
    const uint8_t *from = p, *last = p;
    for (;;) {
        size_t length;
        while (p < w->end && *p < 128 && (s->idle[*p >> 6] >> (*p & 63) & 1)) last = p++;
        if (p == w->end || *p < 128) return p;
        if (!by_cluster || class_of(s, p, &length) < first_plain) break;
        last = p;
        p += length;
    }
    return by_cluster && p > from ? last : p;
}

/* CHARSMAP. */
static void run_charsmap(rewriter *w) {
    const tkx_op *op = w->op;
    const uint8_t *p = w->text, *copied = p;
    finder f;
    memo m = {NULL, NULL, 0, 0, NULL, NULL};
    m.base = m.limit = p;
    find_protected(&f, w->r, op, p, (size_t)(w->end - p));
    while (w->r->code == TKX_OK) {
        const uint8_t *stop;
        size_t length = 0, kept = 0;
        uint32_t place;
        if (!f.node_count) p = charsmap_idle(w, p);
        if (p == w->end) break;
        if (op->flags & BY_CLUSTER) {
            stop = match(w->r, &op->program, &m, w->text, p, w->end);
            if (stop == p) stop += utf8_length(*p);
            place = NONE;
            if (stop - p <= MAX_CLUSTER) place = find_sequence(op, p, stop, 0, &length);
            length = (size_t)(stop - p);
            if (place == NONE) {
                /* Its characters, one by one; one alone has been looked up. */
                if (length == utf8_length(*p)) p = stop;
                for (; p < stop; p += length) {
                    length = utf8_length(*p);
                    place = find_sequence(op, p, p + length, 0, &kept);
                    if (place == NONE) continue;
                    copy_characters(w, copied, p);
                    write_replacement(w, place, p, p + length);
                    w->changed = 1;
                    copied = p + length;
                }
                continue;
            }
        } else {
            if (f.node_count && longest_content(&f, (size_t)(p - w->text), &kept) != NONE) {
                p = w->text + kept;
                if (p < w->end && utf8_inside(*p)) fail(w->r, TKX_E_CORRUPT);
                continue;
            }
            place = find_sequence(op, p, w->end, 1, &length);
            if (place == NONE) {
                p += utf8_length(*p);
                continue;
            }
            if (length < (size_t)(w->end - p) && utf8_inside(p[length])) fail(w->r, TKX_E_CORRUPT);
        }
        copy_characters(w, copied, p);
        write_replacement(w, place, p, p + length);
        w->changed = 1;
        copied = p += length;
    }
    if (w->changed && w->r->code == TKX_OK) copy_characters(w, copied, w->end);
    align_last(w);
}

/* CHARSMAP with COLLAPSE: a part loses the spaces that it begins with where the text so far ends in
   one, or is empty. */
static NO_INLINE void run_collapsing(rewriter *w) {
    const uint8_t *p = w->text;
    int behind_space = 1;
    finder f;
    find_protected(&f, w->r, w->op, p, (size_t)(w->end - p));
    w->changed = 1;
    while (p < w->end) {
        tkx_span becomes;
        const uint8_t *end = find_part(&f, w->op, p, &becomes);
        if (w->r->code != TKX_OK) return;
        for (; behind_space && becomes.size && *becomes.data == ' '; becomes.data++) becomes.size--;
        if (becomes.size) behind_space = becomes.data[becomes.size - 1] == ' ';
        write_unaligned(w, becomes.data, becomes.size);
        if (w->r->code != TKX_OK) return;
        align_replacement(w, becomes.data, becomes.size, p, end);
        p = end;
    }
    align_last(w);
}

#endif
