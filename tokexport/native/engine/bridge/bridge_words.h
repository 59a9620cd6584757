/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* The ids of single words, which the engine looks up and merges: a part of bridge.c. */

uint32_t tkx_bulk_symbol(const tkx *t, uint32_t code_point) {
    tkx_context ctx;
    context_init(&ctx, t, 0);
    return unit_symbol(&ctx, code_point, 0);
}

int tkx_bulk_find(const tkx *t, tkx_bulk_word *words, size_t count) {
    const int first = (t->flags & WHOLE_FIRST) != 0;
    size_t i, found = 0;
    for (i = 0; i < count; i++) {
        words[i].hash = hash_bytes(words[i].bytes, words[i].size);
        words[i].id = TKX_NONE;
        TKX_PREFETCH(token_displacement(t, words[i].hash));
    }
    for (i = 0; i < count; i++) TKX_PREFETCH(token_slot(t, words[i].hash));
    /* About half of the words have a slot that fits. These are listed without a branch, which could
       not be predicted. Nearly all of them are the token in their slot. */
    for (i = 0; i < count; i++) {
        const uint32_t slot = words[i].slot = load_u32(token_slot(t, words[i].hash));
        words[found].listed = (uint32_t)i;
        found += (size_t)(slot_fits(slot, words[i].hash) & (words[i].size <= t->max_token_bytes));
    }
    for (i = 0; i < found; i++) {
        const uint32_t id = words[words[i].listed].slot & MAX_IDS;
        if (id >= t->id_count) return TKX_E_CORRUPT;
        TKX_PREFETCH(t->records.data + RECORD_SIZE * (size_t)id);
    }
    for (i = 0; i < found; i++) {
        const uint8_t *bytes;
        uint32_t length, flags;
        if (!read_key(t, words[words[i].listed].slot & MAX_IDS, &bytes, &length, &flags))
            return TKX_E_CORRUPT;
        TKX_PREFETCH(bytes);
    }
    for (i = 0; i < found; i++) {
        tkx_bulk_word *w = &words[words[i].listed];
        uint32_t id, flags;
        const int code = token_in_slot(t, w->slot, w->hash, w->bytes, w->size, 0, &id, &flags);
        if (code == TKX_E_CORRUPT) return code;
        if (code == TKX_OK && (first || (flags & TKX_WHOLE))) w->id = id;
    }
    return TKX_OK;
}

/* Redirects the output of `ctx`. */
static void write_to(tkx_context *ctx, uint32_t *ids, size_t capacity, size_t count) {
    ctx->ids = ids;
    ctx->capacity = capacity;
    ctx->count = count;
}

int tkx_bulk_merge(tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                   size_t *count) {
    if (size <= SHORT_PRETOKEN) {
        uint32_t merged[SHORT_PRETOKEN + SPARE];
        *count = first_symbols(ctx, bytes, size, (uint8_t *)merged, NULL);
        *count = merge_symbols(ctx, merged, *count);
        memcpy(ids, merged, *count * sizeof *ids);
    } else {
        uint32_t *const outer_ids = ctx->ids;
        const size_t capacity = ctx->capacity, before = ctx->count;
        write_to(ctx, ids, size, 0);
        merge_long(ctx, bytes, size);
        *count = ctx->count;
        write_to(ctx, outer_ids, capacity, before);
    }
    return ctx->code;
}

int tkx_bulk_has_words(const tkx *t, uint32_t next) {
    uint32_t i, op;
    if (t->model == MODEL_WORDLEVEL && (t->flags & FUSE_UNKNOWN)) return 0;
    for (i = next; i < t->stage_count; i++) {
        const tkx_stage *s = &t->stages[i];
        for (op = 0; (s->flags & REWRITE) && op < s->op_count; op++)
            if (t->ops[s->first_op + op].flags & (ONLY_FIRST | FIRST_SOURCE)) return 0;
    }
    return 1;
}

/* Parts that were merged before are found by where their ids are. */
static void forget_parts(tkx_context *ctx) {
    if (ctx->recent) ctx->recent = (const uint8_t *)ctx;
}

int tkx_bulk_encode_word(tkx_context *ctx, uint32_t next, const uint8_t *bytes, size_t size,
                         uint32_t *ids, size_t capacity, size_t *count) {
    const tkx *t = ctx->t;
    uint32_t *const outer_ids = ctx->ids;
    uint8_t *const cache = ctx->cache;
    const size_t outer_capacity = ctx->capacity, before = ctx->count, mark = ctx->memory_used;
    write_to(ctx, ids, capacity, 0);
    forget_parts(ctx);
    ctx->cache = NULL;
    if (next == t->stage_count) add_pretoken(ctx, bytes, size);
    else if (next + 1 == t->stage_count && is_simple(&t->stages[next]))
        split_simply(ctx, &t->stages[next], bytes, bytes + size, NULL);
    else split_in_stages(ctx, next, bytes, bytes + size);
    encode_batch(ctx);
    ctx->memory_used = mark;
    ctx->cache = cache;
    *count = ctx->count;
    forget_parts(ctx);
    write_to(ctx, outer_ids, outer_capacity, before);
    return ctx->code;
}

int tkx_bulk_lacks_memory(const tkx_context *ctx) { return ctx->memory_needed != 0; }

int tkx_bulk_encode_long(tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                         size_t capacity, size_t *count) {
    uint32_t *const outer_ids = ctx->ids;
    const size_t outer_capacity = ctx->capacity, before = ctx->count;
    uint32_t id, flags;
    const int found = find_token(ctx->t, bytes, size, &id, &flags);
    if (found == TKX_E_CORRUPT) return fail(ctx, found);
    write_to(ctx, ids, capacity, 0);
    if (found == TKX_OK && ((ctx->t->flags & WHOLE_FIRST) || (flags & TKX_WHOLE))) emit(ctx, id);
    else merge_long(ctx, bytes, size);
    *count = ctx->count;
    write_to(ctx, outer_ids, outer_capacity, before);
    return ctx->code;
}
