/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* What the normalizer of a file with a sum (tkx_bulk_has_sum) does to single characters: a part of
   bridge.c. */

static void set_point(uint64_t *points, uint32_t c) { points[c >> 6] |= (uint64_t)1 << (c & 63); }

static void clear_point(uint64_t *points, uint32_t c) {
    points[c >> 6] &= ~((uint64_t)1 << (c & 63));
}

static int has_point(const uint64_t *points, uint32_t c) { return points[c >> 6] >> (c & 63) & 1; }

/* Spaces, for the model. */
static int is_mark(uint32_t c) { return c == ' ' || c == 0x2581; }

/* Whether TRIE has a token that is this character, so that it is never unknown. */
static int is_token(const tkx *t, uint32_t c) {
    uint8_t character[4];
    const size_t size = utf8_encode(character, c);
    uint32_t base = t->trie_root, id = MAX_IDS;
    size_t i;
    for (i = 0; i < size; i++) {
        const uint64_t unit = trie_child(t, base, character[i]);
        if (label_of(unit) != character[i]) return 0;
        base = base_of(unit);
        id = id_of(unit);
    }
    return id < t->id_count;
}

/* Whether a sequence of a CHARSMAP goes on after a node. */
static int goes_on(const tkx_op *op, uint32_t node) {
    uint32_t byte;
    for (byte = 1; byte < 256; byte++) {
        uint32_t inner = node;
        if (follow_sequence(op, &inner, byte)) return 1;
    }
    return 0;
}

/* Notes a character that begins sequences of a CHARSMAP; `unit` and `node` are those after it. */
static void note_first(tkx_context *ctx, const tkx_op *op, uint32_t unit, uint32_t node, uint32_t c,
                       tkx_bulk_points *found) {
    uint32_t image = 0;
    if (unit & TKX_DARTS_LEAF) {
        const tkx_span to = read_replacement(ctx, op, charsmap_unit(op, node) & TKX_DARTS_VALUE);
        if (to.size && utf8_length(*to.data) == to.size) image = utf8_decode(to.data);
        if (image >= TKX_BULK_POINTS || is_mark(image)) image = 0;
        if (image != c) clear_point(found->unchanged, c);
        found->images[c] = (uint16_t)image;
        clear_point(found->left, c);
        if (image) set_point(found->left, c);
    }
    clear_point(found->right, c);
    if (image && !goes_on(op, node)) set_point(found->right, c);
}

/* The units of a CHARSMAP that are part of a sequence: all others have labels, too. */
typedef struct tkx_bulk_units {
    uint32_t *siblings; /* by node, its first child; by unit, the next child of its node */
    uint32_t *nodes;    /* those that are reached, but not yet visited */
    uint8_t *reached;   /* by unit */
} tkx_bulk_units;

static void find_reached(const tkx_op *op, uint32_t count, tkx_bulk_units *units) {
    uint32_t *const children = units->siblings, *const next = units->siblings + count;
    uint32_t i, unit, node = charsmap_offset(charsmap_unit(op, 0)), waiting = 1;
    memset(children, 255, sizeof *children * count);
    for (i = 0; i < count; i++) {
        node = i ^ (charsmap_unit(op, i) & TKX_DARTS_LABEL);
        if (node >= count) continue;
        next[i] = children[node];
        children[node] = i;
    }
    units->nodes[0] = charsmap_offset(charsmap_unit(op, 0));
    while (waiting) {
        node = units->nodes[--waiting];
        if (node >= count) continue;
        for (i = children[node]; i != TKX_NONE; i = next[i]) {
            unit = charsmap_unit(op, i);
            units->reached[i] = 1;
            units->nodes[waiting++] = i ^ charsmap_offset(unit);
        }
        children[node] = TKX_NONE;
    }
}

/* Notes the characters of sequences that begin with a unit, which is reached. */
static void note_unit(tkx_context *ctx, const tkx_op *op, uint32_t i, uint64_t *inside,
                      tkx_bulk_points *found) {
    const uint32_t root = charsmap_offset(charsmap_unit(op, 0)), unit = charsmap_unit(op, i),
                   first = unit & TKX_DARTS_LABEL, node = i ^ charsmap_offset(unit);
    const int is_first = (root ^ first) == i;
    uint32_t c, second, third;
    if (first < 128 && is_first) note_first(ctx, op, unit, node, first, found);
    if (first < 128 && !is_first) set_point(inside, first);
    for (second = 0x80; second < 0xC0 && first >= 0xC2 && first < 0xF0; second++) {
        uint32_t inner = node;
        const uint32_t next = follow_sequence(op, &inner, second);
        c = (first & 31) << 6 | (second & 63);
        if (next && first < 0xE0 && is_first) note_first(ctx, op, next, inner, c, found);
        if (next && first < 0xE0 && !is_first) set_point(inside, c);
        for (third = 0x80; third < 0xC0 && next && first >= 0xE0; third++) {
            uint32_t last = inner;
            const uint32_t end = follow_sequence(op, &last, third);
            c = (first & 15) << 12 | (second & 63) << 6 | (third & 63);
            if (end && is_first) note_first(ctx, op, end, last, c, found);
            if (end && !is_first) set_point(inside, c);
        }
    }
}

/* Finds what a CHARSMAP does; 0: there was no memory. */
static int note_sequences(tkx_context *ctx, const tkx_op *op, tkx_bulk_points *found) {
    const uint32_t count = load_u32(op->table.data);
    uint64_t inside[TKX_BULK_POINTS / 64] = {0};
    uint32_t *const memory = (uint32_t *)calloc(count, 3 * sizeof *memory + 1), i;
    tkx_bulk_units units = {memory, memory + 2 * count, (uint8_t *)(memory + 3 * count)};
    if (!memory) return 0;
    find_reached(op, count, &units);
    for (i = 0; i < count; i++)
        if (units.reached[i]) note_unit(ctx, op, i, inside, found);
    free(memory);
    for (i = 0; i < TKX_BULK_POINTS / 64; i++) {
        found->unchanged[i] &= ~inside[i];
        found->left[i] &= ~inside[i];
    }
    for (i = 0; i < 2; i++) found->spaces[i] &= ~inside[i];
    return 1;
}

/* Removes the characters that begin with a byte. */
static void clear_points(uint64_t *points, uint32_t byte) {
    uint32_t c = byte < 0xE0 ? (byte & 31) << 6 : (byte & 15) << 12;
    const uint32_t end = c + (byte < 0xE0 ? 1u << 6 : 1u << 12);
    if (byte < 128) clear_point(points, byte);
    for (; byte >= 0xC2 && byte < 0xF0 && c < end; c++) clear_point(points, c);
}

/* Removes the characters of protected texts, which become themselves there. */
static void note_protected(tkx_context *ctx, const tkx_op *op, tkx_bulk_points *found) {
    const uint8_t *data = op->table.data;
    tkx_scanner f;
    uint32_t i;
    scan_protected(&f, ctx, op, data, data);
    for (i = 0; i < f.edge_count; i++) {
        const uint32_t byte = load_u32(f.edges + 4 * (size_t)i) >> 24;
        clear_points(found->left, byte);
        clear_points(found->right, byte);
        found->keeps_space &= byte != ' ';
    }
}

/* Whether a program stops before each symbol of a class, from any state. */
static int stops_before(const tkx_stage *s, uint32_t class_) {
    uint32_t state;
    for (state = 0; state < s->state_count; state++)
        if (transition(s, state, class_) & ~(uint32_t)ACCEPT) return 0;
    return 1;
}

/* Whether a program treats all of the classes that it stops before alike. */
static int stops_alike(const tkx_stage *s, const uint8_t *stops) {
    uint32_t state, class_, last = TKX_NONE;
    for (class_ = 0; class_ < s->class_count; class_++) {
        if (!stops[class_]) continue;
        for (state = 0; state < s->state_count && last != TKX_NONE; state++)
            if (transition(s, state, class_) != transition(s, state, last)) return 0;
        last = class_;
    }
    return 1;
}

/* Finds what an operation does; 0: it is not supported. */
static int note_op(tkx_context *ctx, const tkx_op *op, tkx_bulk_points *found) {
    const uint8_t *data = op->table.data;
    tkx_entries map = {0};
    uint8_t stops[256], character[4];
    uint32_t c;
    size_t length;
    switch (op->kind) {
        case AFFIX: return !(op->flags & APPEND);
        case CHARSMAP:
            if ((op->flags & BY_CLUSTER) || !note_sequences(ctx, op, found)) return 0;
            note_protected(ctx, op, found);
            return 1;
        case MAP: map = entries_at(data + MAP_HEADER + ASCII_SIZE, data); break;
        case REPLACE:
            if (op->program.labels || (op->program.flags & (EMPTY_MATCHES | ON_BYTES))) return 0;
            for (c = 0; c < op->program.class_count; c++)
                stops[c] = (uint8_t)stops_before(&op->program, c);
            found->keeps_space &= stops_alike(&op->program, stops);
            break;
        default: return 0;
    }
    for (c = 0; c < TKX_BULK_POINTS && ctx->code == TKX_OK; c++) {
        const uint32_t image = found->images[c];
        if (!has_point(found->left, c) && !has_point(found->unchanged, c)) continue;
        utf8_encode(character, image);
        if (op->kind == REPLACE ? !stops[symbol_class(&op->program, character, &length)]
            : image < 128       ? data[MAP_HEADER + image] != image
                                : find_entry(ctx, &map, image) != map.entries) {
            clear_point(found->left, c);
            clear_point(found->unchanged, c);
        }
    }
    return 1;
}

/* Normalizes a short text; returns its size, or 0 if that failed. */
static size_t normalize_short(const tkx *t, const uint8_t *text, size_t size, uint8_t *normalized) {
    uint8_t memory[4096];
    tkx_context ctx;
    context_init(&ctx, t, 0);
    ctx.memory = memory;
    ctx.memory_size = sizeof memory;
    ctx.text.begin = ctx.text.base = text;
    ctx.text.limit = text + size;
    rewrite(&ctx, t->ops, t->op_count, &text, &size);
    if (ctx.code != TKX_OK || size > 16) return 0;
    memcpy(normalized, text, size);
    return size;
}

/* Whether the normalizer changes neither a space nor the character after it. */
static int keeps_space(const tkx *t, uint32_t c) {
    uint8_t text[5] = {' '}, normalized[16];
    const size_t size = 1 + utf8_encode(text + 1, c);
    return normalize_short(t, text, size, normalized) == size && !memcmp(normalized, text, size);
}

/* Whether an ASCII character becomes a space between two that are not changed. */
static int becomes_space(const tkx *t, uint8_t c, uint8_t unchanged) {
    uint8_t text[3] = {0, ' ', 0}, with_space[16], with_c[16];
    size_t size;
    text[0] = text[2] = unchanged;
    size = normalize_short(t, text, 3, with_space);
    text[1] = c;
    return size >= 3 && with_space[size - 2] == ' ' && with_space[size - 3] == unchanged &&
           normalize_short(t, text, 3, with_c) == size && !memcmp(with_c, with_space, size);
}

/* Keeps the ASCII characters before which a text can be cut after an unchanged one: also after all
   others of `left`, since programs stop before both alike. */
static void keep_spaces(const tkx *t, tkx_bulk_points *found) {
    uint32_t c, unchanged = 1;
    while (unchanged < 128 &&
           !(has_point(found->left, unchanged) && has_point(found->unchanged, unchanged)))
        unchanged++;
    for (c = 0; c < 128; c++)
        if (unchanged == 128 || !found->keeps_space || !has_point(found->tokens, ' ') ||
            !bit_of(t->cuts.data + 16 * unchanged, c) ||
            !becomes_space(t, (uint8_t)c, (uint8_t)unchanged))
            clear_point(found->spaces, c);
}

int tkx_bulk_find_points(const tkx *t, tkx_bulk_points *found) {
    tkx_context ctx;
    uint32_t c, i, maps = 0;
    context_init(&ctx, t, 0);
    found->keeps_space = 1;
    memset(found->spaces, 255, sizeof found->spaces);
    for (c = 1; c < TKX_BULK_POINTS; c++) {
        found->images[c] = (uint16_t)c;
        if (!is_scalar(c)) continue;
        if (!is_mark(c)) set_point(found->left, c);
        if (is_token(t, c)) set_point(found->tokens, c);
    }
    memcpy(found->right, found->left, sizeof found->right);
    memcpy(found->unchanged, found->left, sizeof found->unchanged);
    for (i = 0; i < t->op_count; i++) {
        maps += t->ops[i].kind == CHARSMAP;
        if (maps > 1 || !note_op(&ctx, &t->ops[i], found)) return 0;
    }
    for (i = 0; i < TKX_BULK_POINTS / 64; i++) found->right[i] &= found->left[i];
    keep_spaces(t, found);
    for (c = 1; c < TKX_BULK_POINTS && !has_point(found->unchanged, c); c++) continue;
    found->keeps_space &= c < TKX_BULK_POINTS && keeps_space(t, c);
    return !t->keys.data && ctx.code == TKX_OK;
}
