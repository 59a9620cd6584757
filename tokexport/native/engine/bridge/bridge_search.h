/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* What the engine searches for with vectors: a part of bridge.c. */

int tkx_bulk_find_stable(tkx *t, uint32_t number, tkx_bulk_stable *stable) {
    tkx_context ctx;
    tkx_normalizer n;
    size_t leaf, known = SIZE_MAX;
    uint32_t c, i;
    if (number >= t->op_count || t->ops[number].kind != FORM) return 0;
    context_init(&ctx, t, 0);
    normalizer_start(&n, &ctx, &t->ops[number], NULL, 0);
    for (c = 0; c < 0x10000; c += 64, known = leaf) {
        uint64_t *points = &stable->points[c / 64];
        leaf = find_leaf(n.table.top, n.table.middle, n.table.middle_count, n.table.leaf_count, c);
        /* most blocks are equal to the one before */
        if (leaf == known && is_hangul(c) == is_hangul(c - 64) &&
            is_hangul(c + 63) == is_hangul(c - 1)) {
            *points = points[-1];
            continue;
        }
        *points = 0;
        for (i = 0; i < 64; i++) *points |= (uint64_t)is_stable(&n, c + i) << i;
    }
    t->ops[number].stable = stable;
    return 1;
}

/* Follows a byte in the trie of a CHARSMAP: the unit, or 0 if no sequence goes on so. */
static uint32_t follow_sequence(const tkx_op *op, uint32_t *node, uint32_t byte) {
    const uint32_t unit = charsmap_unit(op, *node ^ byte);
    *node ^= byte ^ charsmap_offset(unit);
    return (unit & TKX_DARTS_LABEL) == byte ? unit : 0;
}

int tkx_bulk_find_pairs(tkx *t, uint32_t number, tkx_bulk_pairs *pairs) {
    tkx_op *op = &t->ops[number];
    tkx_context ctx;
    tkx_scanner f;
    uint32_t first, second;
    if (op->kind != CHARSMAP || (op->flags & BY_CLUSTER)) return 0;
    context_init(&ctx, t, 0);
    scan_protected(&f, &ctx, op, t->data, t->data);
    for (first = 1; first < 256; first++) {
        uint32_t node = charsmap_offset(charsmap_unit(op, 0));
        const uint32_t unit = follow_sequence(op, &node, first),
                       text = f.node_count ? find_child(&f, 0, (uint8_t)first) : 0;
        const int is_whole = (unit & TKX_DARTS_LEAF) ||
                             (text && load_u32(f.nodes + NODE_SIZE * (size_t)text + 4) != TKX_NONE);
        for (second = 0; second < 256 && (unit || text); second++) {
            uint32_t inner = node;
            if (is_whole || (unit && second && follow_sequence(op, &inner, second)) ||
                (text && find_child(&f, text, (uint8_t)second)))
                pairs->bits[4 * first + second / 64] |= (uint64_t)1 << second % 64;
        }
    }
    if (ctx.code == TKX_OK) op->pairs = pairs;
    return ctx.code == TKX_OK;
}

static void add_to_set(tkx_bulk_byte_sets *sets, uint32_t byte, uint8_t bit) {
    sets->low[byte & 15] |= bit;
    sets->high[byte >> 4] |= bit;
}

/* Finds the runs of a byte among the added tokens that begin with it. */
static void find_runs(tkx_scanner *f, uint8_t byte, tkx_bulk_runs *runs) {
    uint32_t node = find_child(f, 0, byte), size = 1, most = 0;
    for (; node; node = find_child(f, node, byte), size++) {
        const uint8_t *entry = f->nodes + NODE_SIZE * (size_t)node;
        const uint32_t token = load_u32(entry + 4), last = !find_child(f, node, byte);
        if (size == 64 || load_u32(entry + NODE_SIZE) - load_u32(entry) != !last) return;
        runs->lengths[size] = token == TKX_NONE ? runs->lengths[size - 1] : (uint8_t)size;
        runs->tokens[size] = token == TKX_NONE ? runs->tokens[size - 1] : token;
        most = size;
    }
    runs->most = most;
}

void tkx_bulk_find_starts(tkx *t, int normalized, tkx_bulk_starts *starts) {
    tkx_context ctx;
    tkx_scanner f;
    uint32_t first, count = 0;
    context_init(&ctx, t, 1);
    if (!has_tokens(&ctx, normalized)) return;
    scanner_start(&f, &ctx, normalized, t->data, 0);
    for (first = 0; first < 256; first++) {
        const uint32_t node = find_child(&f, 0, (uint8_t)first);
        const uint8_t *entry = f.nodes + NODE_SIZE * (size_t)node, bit = (uint8_t)(1 << count % 8);
        uint32_t edge = load_u32(entry), end = load_u32(entry + NODE_SIZE);
        if (!node) continue;
        add_to_set(&starts->first, first, bit);
        /* a content of one byte, or longer ones */
        if (load_u32(entry + 4) != TKX_NONE) {
            for (edge = 0; edge < 256; edge++) add_to_set(&starts->second, edge, bit);
        } else if (end <= f.edge_count) {
            for (; edge < end; edge++)
                add_to_set(&starts->second, load_u32(f.edges + 4 * (size_t)edge) >> 24, bit);
        } else {
            return;
        }
        count++;
    }
    find_runs(&f, ' ', &starts->spaces);
    find_runs(&f, '\t', &starts->tabs);
    if (ctx.code == TKX_OK) t->starts[normalized] = starts;
}

int tkx_bulk_tokens_are_verbatim(const tkx *t) {
    const uint8_t *content;
    uint32_t number, id, flags, found;
    size_t size;
    tkx_context ctx;
    tkx_scanner f;
    context_init(&ctx, t, 1);
    for (number = 0; tkx_added_token(t, number, &id, &content, &size, &flags) == TKX_OK; number++) {
        if (!(flags & TKX_ADDED_NORMALIZED)) continue;
        found = TKX_NONE;
        scanner_start(&f, &ctx, 1, content, size);
        if (longest_content(&f, 0, &found) != size || found != number) return 0;
    }
    return 1;
}
