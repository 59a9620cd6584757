/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- open_rewriting.c: rewriting operations (I18) -------------------------------------------- */

#ifndef TKX_NO_NORMALIZER

/* Units of the trie in a CHARSMAP (3.3); a node is an index into the array. */
#define TKX_DARTS_LEAF UINT32_C(0x100)
#define TKX_DARTS_LABEL UINT32_C(0x800000FF)
#define TKX_DARTS_VALUE UINT32_C(0x7FFFFFFF)

/* The unit at an index; after the end, one that no byte matches. */
static uint32_t charsmap_unit(const tkx_op *op, uint32_t place) {
    return place < load_u32(op->table.data)
               ? load_u32(op->table.data + CHARSMAP_HEADER + 4 * (size_t)place)
               : TKX_DARTS_LABEL;
}

static uint32_t charsmap_offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

static int is_text(tkx_span s) { return utf8_valid(s.data, s.size) == s.size; }

/* Checks a CHARSMAP, and finds the ASCII characters that it never changes: those that begin no
   sequence or, by cluster, are not a whole sequence. */
static int check_charsmap(tkx_op *op) {
    tkx_span table = op->table, program;
    uint32_t c, root;
    if (table.size < CHARSMAP_HEADER || table.size != charsmap_size(table) ||
        load_u32(table.data) == 0)
        return 0;
    program.size = load_u32(table.data + 12);
    program.data = table.data + (table.size - load_u32(table.data + 16) - program.size);
    if (op->flags & BY_CLUSTER) {
        if (program.size < STAGE_SIZE || load_u32(table.data + 4) ||
            !check_program(&op->program, program) || op->program.flags ||
            op->program.behavior != ISOLATED || op->program.memo_count ||
            load_u32(table.data + 20) > op->program.class_count)
            return 0;
    } else if (program.size || load_u32(table.data + 20)) {
        return 0;
    }
    memset(op->program.no_match, 0, sizeof op->program.no_match);
    root = charsmap_offset(charsmap_unit(op, 0));
    for (c = 1; c < 128; c++) {
        uint32_t unit = charsmap_unit(op, root ^ c);
        int stays =
            (unit & TKX_DARTS_LABEL) != c || ((op->flags & BY_CLUSTER) && !(unit & TKX_DARTS_LEAF));
        if (c == '\r' && (op->flags & BY_CLUSTER)) stays = 0; /* CR LF is one cluster */
        if (stays) op->program.no_match[c >> 6] |= UINT64_C(1) << (c & 63);
    }
    return 1;
}

/* Checks an operation of NORM (I18). */
static int check_op(tkx_op *op, tkx_span section, const uint8_t *entry) {
    const uint32_t table = load_u32(entry + 12), table_size = load_u32(entry + 16),
                   content = load_u32(entry + 20), content_size = load_u32(entry + 24);
    uint32_t flags = 0;
    if (!lies_within(section, table, table_size) || !lies_within(section, content, content_size))
        return 0;
    op->kind = entry[0];
    op->flags = entry[1];
    op->growth = load_u32(entry + 4);
    op->extra = load_u32(entry + 8);
    op->table = (tkx_span){section.data + table, table_size};
    op->content = (tkx_span){section.data + content, content_size};
    if (op->kind == AFFIX) flags = APPEND | UNLESS_PRESENT | ONLY_FIRST | FIRST_SOURCE;
    if (op->kind == CHARSMAP) flags = BY_CLUSTER;
    if (load_u16(entry + 2) || load_u32(entry + 28) || (op->flags & ~flags) ||
        content_size > MAX_CONTENT || !is_text(op->content) ||
        (content_size && op->kind != REPLACE && op->kind != AFFIX))
        return 0;
    switch (op->kind) {
        case FORM:
            return table_size >= FORM_HEADER && table_size == form_size(op->table) &&
                   load_u32(op->table.data) <= NFKD && !load_u64(op->table.data + 24);
        case MAP: return table_size >= MAP_HEADER && table_size == map_size(op->table);
        case REPLACE:
            return table_size >= STAGE_SIZE && check_program(&op->program, op->table) &&
                   (op->program.flags & ~EMPTY_MATCHES) == 0 && op->program.behavior == ISOLATED;
        case CHARSMAP: return check_charsmap(op);
        case AFFIX:
        case BYTES: return table_size == 0;
        default: return 0;
    }
}

static int check_ops(tkx *t) {
    uint32_t i;
    const uint8_t *data = t->normalizer.data;
    t->op_count = load_u32(data);
    t->normalizer_count = load_u32(data + 4);
    if (t->op_count > TKX_MAX_OPS || t->normalizer_count > t->op_count || load_u64(data + 8))
        return TKX_E_SPLITS;
    for (i = 0; i < t->op_count; i++) {
        if (!check_op(&t->ops[i], t->normalizer, data + REWRITE_HEADER + i * (size_t)OP_SIZE))
            return TKX_E_SPLITS;
        if (t->ops[i].flags & FIRST_SOURCE) t->follows_sources = 1;
        if (t->ops[i].kind == CHARSMAP || t->alignment.data) t->moves_spans = 1;
    }
#ifdef TKX_NO_OFFSETS
    if (t->follows_sources) return TKX_E_UNKNOWN;
#endif
    return TKX_OK;
}

/* A stage that rewrites has no program. */
static int check_rewriting_stage(const tkx *t, tkx_stage *s, const uint8_t *entry) {
    uint32_t first = entry[24], count = entry[25];
    size_t i;
    for (i = 0; i < STAGE_SIZE; i++) {
        if (i != 24 && i != 25 && entry[i] != (i == 1 ? REWRITE : 0)) return 0;
    }
    if (first > t->op_count || count > t->op_count - first) return 0;
    s->flags = REWRITE;
    s->first_op = (uint8_t)first;
    s->op_count = (uint8_t)count;
    return 1;
}

#endif
