/* The C core, and the functions of bridge.h over it. */
#include "bridge.h"

#include "tokexport.c"

/* Encodes a segment by the engine; 0 if the core has to. */
static int encode_bulk(tkx_context *ctx, const uint8_t *text, size_t size) {
    const tkx *t = ctx->t;
    const tkx_text outer = ctx->text;
    const size_t mark = ctx->memory_used;
    tkx_bulk_segment segment;
    int code = TKX_OK;
    if (t->stage_count == 1 && (t->stages[0].flags & REWRITE))
        rewrite(ctx, t->ops + t->stages[0].first_op, t->stages[0].op_count, &text, &size);
    segment.text = text;
    segment.size = size;
    segment.limit = ctx->text.limit;
    segment.capacity = ctx->capacity - smaller(ctx->count, ctx->capacity);
    segment.ids = segment.capacity ? ctx->ids + ctx->count : ctx->ids;
    segment.count = 0;
    if (size && ctx->code == TKX_OK) code = tkx_bulk_encode(ctx->bulk, ctx, &segment);
    ctx->text = outer;
    ctx->memory_used = mark;
    if (code == TKX_E_NOT_FOUND) return 0;
    if (code != TKX_OK) fail(ctx, code);
    ctx->count += segment.count;
    return 1;
}

int tkx_bulk_is_byte_level(const tkx *t) {
    return t->model == MODEL_BPE && t->splits.data && !t->characters.data && !t->crossings.data &&
           t->byte_ids.data && t->id_count <= MAX_IDS;
}

/* Whether the stages are one that rewrites the text, or none. */
static int only_rewrites(const tkx *t) {
    return t->stage_count == 0 || (t->stage_count == 1 && (t->stages[0].flags & REWRITE));
}

int tkx_bulk_is_characters(const tkx *t) {
    return t->model == MODEL_BPE && t->splits.data && only_rewrites(t) && t->characters.data &&
           load_u32(t->characters.data) == UNIT_CHARACTER && t->place_count == 1 &&
           t->crossings.data && !(t->flags & WHOLE_PIECE_FIRST) && t->id_count <= MAX_IDS;
}

uint32_t tkx_bulk_symbol(const tkx *t, uint32_t code_point) {
    tkx_context ctx;
    context_init(&ctx, t, 0);
    return unit_symbol(&ctx, code_point, 0);
}

int tkx_bulk_find(const tkx *t, tkx_bulk_word *words, size_t count) {
    const int first = (t->flags & WHOLE_PIECE_FIRST) != 0;
    size_t i;
    for (i = 0; i < count; i++) {
        words[i].hash = hash_bytes(words[i].bytes, words[i].size);
        TKX_PREFETCH(token_displacement(t, words[i].hash));
    }
    for (i = 0; i < count; i++) TKX_PREFETCH(token_slot(t, words[i].hash));
    for (i = 0; i < count; i++) {
        words[i].slot = load_u32(token_slot(t, words[i].hash));
        if (slot_fits(words[i].slot, words[i].hash) && (words[i].slot & MAX_IDS) < t->id_count)
            TKX_PREFETCH(t->records.data + RECORD_SIZE * (size_t)(words[i].slot & MAX_IDS));
    }
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags;
        if (slot_fits(words[i].slot, words[i].hash) && (words[i].slot & MAX_IDS) < t->id_count &&
            read_key(t, words[i].slot & MAX_IDS, &bytes, &length, &flags))
            TKX_PREFETCH(bytes);
    }
    for (i = 0; i < count; i++) {
        tkx_bulk_word *w = &words[i];
        uint32_t id = TKX_NONE, flags = 0;
        const int code = w->size <= t->max_token_bytes
                             ? token_in_slot(t, w->slot, w->hash, w->bytes, w->size, &id, &flags)
                             : TKX_E_NOT_FOUND;
        if (code == TKX_E_CORRUPT) return code;
        w->id = code == TKX_OK && (first || (flags & TKX_WHOLE)) ? id : TKX_NONE;
    }
    return TKX_OK;
}

/* Lets `ctx` write somewhere else. */
static void write_to(tkx_context *ctx, uint32_t *ids, size_t capacity, size_t count) {
    ctx->ids = ids;
    ctx->capacity = capacity;
    ctx->count = count;
}

int tkx_bulk_merge(tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                   size_t *count) {
    if (size <= SHORT_PRETOKEN) {
        uint32_t merged[SHORT_PRETOKEN + SPARE];
        *count = merge_short(ctx, bytes, size, merged);
        memcpy(ids, merged, *count * sizeof *ids);
    } else {
        uint32_t *const kept = ctx->ids;
        const size_t capacity = ctx->capacity, before = ctx->count;
        write_to(ctx, ids, size, 0);
        merge_long(ctx, bytes, size);
        *count = ctx->count;
        write_to(ctx, kept, capacity, before);
    }
    return ctx->code;
}

int tkx_bulk_encode_long(tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                         size_t capacity, size_t *count) {
    uint32_t *const kept = ctx->ids;
    const size_t kept_capacity = ctx->capacity, before = ctx->count;
    uint32_t id, flags;
    const int found = find_token(ctx->t, bytes, size, &id, &flags);
    if (found == TKX_E_CORRUPT) return fail(ctx, found);
    write_to(ctx, ids, capacity, 0);
    if (found == TKX_OK && ((ctx->t->flags & WHOLE_PIECE_FIRST) || (flags & TKX_WHOLE)))
        emit(ctx, id);
    else merge_long(ctx, bytes, size);
    *count = ctx->count;
    write_to(ctx, kept, kept_capacity, before);
    return ctx->code;
}
