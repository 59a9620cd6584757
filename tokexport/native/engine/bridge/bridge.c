/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* The C core, and the functions of bridge.h on top of it. */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

/* The block size for texts that are rewritten: the engine is better at long ones. */
#define TKX_BLOCK (ctx->bulk ? (size_t)1 << 18 : 8192)

/* Places where the core skips text, here with vectors. */
#define TKX_SKIP_STABLE(n, p, end) skip_stable((n)->op, p, end)
#define TKX_SKIP_TO_START(f, p, end) skip_to_start((f)->ctx->t, (f)->starts, p, end)
#define TKX_FIND_RUN(f, at, token, length)                                                         \
    find_run((f)->ctx->t, (f)->starts, (f)->text + (at), (f)->text + (f)->size, token, length)
#define TKX_SKIP_TO_SEQUENCE(op, p, end) skip_to_sequence((op)->pairs, p, end)

static const uint8_t *skip_stable(const tkx_op *op, const uint8_t *p, const uint8_t *end) {
    return op->stable ? op->stable->skip(op->stable, p, end) : p;
}

/* `bits` identifies the trie of added tokens. */
static const tkx_bulk_starts *starts_of(const tkx *t, const uint8_t *bits) {
    return t->starts[bits != t->added.data + 32];
}

static const uint8_t *skip_to_start(const tkx *t, const uint8_t *bits, const uint8_t *p,
                                    const uint8_t *end) {
    const tkx_bulk_starts *starts = starts_of(t, bits);
    return starts ? starts->skip(starts, p, end) : p;
}

/* Finds the longest added token at p, before `end`, if it is a run; 0: it may be another one. */
static int find_run(const tkx *t, const uint8_t *bits, const uint8_t *p, const uint8_t *end,
                    uint32_t *token, size_t *length) {
    const tkx_bulk_starts *starts = p < end ? starts_of(t, bits) : NULL;
    const tkx_bulk_runs *runs;
    size_t size = 1;
    if (!starts || (*p != ' ' && *p != '\t')) return 0;
    runs = *p == ' ' ? &starts->spaces : &starts->tabs;
    if (!runs->most) return 0;
    while (size < runs->most && (size_t)(end - p) > size && p[size] == *p) size++;
    *token = runs->tokens[size];
    *length = runs->lengths[size];
    return 1;
}

static const uint8_t *skip_to_sequence(const tkx_bulk_pairs *pairs, const uint8_t *p,
                                       const uint8_t *end) {
    if (!pairs) return p;
    while (end - p > 1 && !(pairs->bits[4 * p[0] + p[1] / 64] >> p[1] % 64 & 1)) p++;
    while (p < end && (*p & 0xC0) == 0x80) p++;
    return p;
}

#include "tokexport.c"

/* Encodes a text of a kind by the engine; 0: the core has to. */
static int encode_in_bulk(tkx_context *ctx, const uint8_t *text, size_t size, int kind,
                          int normalized) {
    tkx_bulk_segment segment;
    int code;
    segment.text = text;
    segment.size = size;
    segment.kind = kind;
    segment.normalized = normalized;
    segment.limit = ctx->text.limit;
    segment.capacity = ctx->capacity - smaller(ctx->count, ctx->capacity);
    segment.ids = segment.capacity ? ctx->ids + ctx->count : ctx->ids;
    segment.count = 0;
    if (tkx_bulk_collects(ctx->bulk)) {
        const int is_whole = text == ctx->input && text + size == ctx->text.limit;
        if (!is_whole || !tkx_bulk_collect(ctx->bulk, &segment)) fail(ctx, TKX_E_STATE);
        return 1;
    }
    code = tkx_bulk_encode(ctx->bulk, ctx, &segment);
    if (code == TKX_E_NOT_FOUND) return 0;
    if (code != TKX_OK) fail(ctx, code);
    ctx->count += segment.count;
    return 1;
}

/* The operation that puts a space before a text, or NULL. */
static const tkx_op *find_affix(const tkx_op *op, uint32_t count) {
    for (; count; count--, op++)
        if (op->kind == AFFIX) return op;
    return NULL;
}

/* Whether a text has U+2581. */
static int has_mark(const uint8_t *text, size_t size) {
    const uint8_t *p = text, *end = text + size;
    while (p < end && (p = (const uint8_t *)memchr(p, 0xE2, (size_t)(end - p))) != NULL) {
        if (p[1] == 0x96 && p[2] == 0x81) return 1;
        p += 3;
    }
    return 0;
}

/* Encodes a segment that the normalizer would not change, except for a space before it. */
static int encode_as_it_is(tkx_context *ctx, const uint8_t *text, size_t size, int is_rest) {
    const tkx *t = ctx->t;
    const tkx_op *affix = find_affix(t->ops, t->normalizer_count);
    int is_spaced;
    if (!tkx_bulk_maps_marks_only(ctx->bulk) || has_mark(text, size)) return 0;
    if (has_tokens(ctx, 1)) {
        if (affix && !is_rest) return 0;
        encode_around(ctx, 1, text, size, encode_plain);
        return 1;
    }
    if (!affix) affix = find_affix(t->ops, t->op_count);
    is_spaced = affix && !is_rest && !((affix->flags & ONLY_FIRST) && text != ctx->text.begin) &&
                !((affix->flags & UNLESS_PRESENT) && *text == ' ');
    return encode_in_bulk(ctx, text, size, is_spaced ? TKX_BULK_SPACED : TKX_BULK_SEGMENT, 0);
}

int tkx_bulk_encode_collected(const tkx *t, const tkx_work *work, uint32_t *ids, size_t capacity,
                              size_t *counts) {
    tkx_context ctx;
    int code;
    context_init(&ctx, t, 0);
    use_workspace(&ctx, work);
    /* words are of several texts, so that no part is found by where it is in one */
    memset(ctx.parts, 0, sizeof ctx.parts);
    memset(ctx.characters, 0xFF, sizeof ctx.characters);
    ctx.recent = (const uint8_t *)&ctx;
    code = tkx_bulk_run_collected(ctx.bulk, &ctx, ids, capacity, counts);
    return code == TKX_OK && ctx.memory_needed ? TKX_E_WORK : code;
}

int tkx_bulk_scan(tkx_context *ctx, int special, int normalized, const uint8_t *text, size_t size,
                  int (*take)(void *self, size_t from, size_t to, uint32_t id), void *self) {
    tkx_scanner f;
    tkx_segment item;
    int code = TKX_OK;
    ctx->special = special;
    scanner_start(&f, ctx, normalized, text, size);
    while (code == TKX_OK && ctx->code == TKX_OK && scanner_next(&f, &item))
        code = take(self, item.from, item.to, item.id);
    return code == TKX_OK ? ctx->code : code;
}

int tkx_bulk_has_space_tokens(const tkx *t, int normalized) {
    const uint8_t *content;
    size_t size;
    uint32_t i, id, flags;
    for (i = 0; tkx_added_token(t, i, &id, &content, &size, &flags) == TKX_OK; i++) {
        if ((flags & TKX_ADDED_SPECIAL) || !(flags & TKX_ADDED_NORMALIZED) != !normalized) continue;
        while (size && (content[size - 1] == ' ' || content[size - 1] == '\n')) size--;
        if (!size) return 1;
    }
    return 0;
}

/* Whether no operation changes ASCII characters. */
static int only_forms(const tkx_op *op, uint32_t count) {
    for (; count; count--, op++)
        if (op->kind != FORM) return 0;
    return 1;
}

/* Encodes a text and the added tokens in it by the engine, if nothing else happens to them, so that
   CUTS are where the text can be cut. */
static int encode_with_tokens(tkx_context *ctx, const uint8_t *text, size_t size, int normalized) {
    const tkx *t = ctx->t;
    if (!ctx->bulk || ctx->special > 1 || !tkx_bulk_takes_tokens(ctx->bulk, normalized)) return 0;
    if (normalized ? !only_forms(t->ops, t->normalizer_count)
                   : has_tokens(ctx, 1) || find_affix(t->ops, t->op_count) ||
                         !tkx_bulk_maps_marks_only(ctx->bulk) || has_mark(text, size))
        return 0;
    if ((normalized || !t->normalizer_count) && t->stage_count && (t->stages[0].flags & REWRITE))
        return 0;
    return encode_in_bulk(ctx, text, size, ctx->special ? TKX_BULK_SPECIAL : TKX_BULK_TOKENS,
                          normalized);
}

/* `level`: 0 for a segment, 1 for a normalized one, 2 and 3 if they have added tokens. */
static int encode_bulk(tkx_context *ctx, const uint8_t *text, size_t size, int level) {
    const tkx *t = ctx->t;
    const tkx_text outer = ctx->text;
    const size_t mark = ctx->memory_used;
    const int is_rest = ctx->bulk && text == outer.begin && tkx_bulk_is_rest(ctx->bulk);
    uint32_t i;
    int is_done = 1;
    if (level > 1) return encode_with_tokens(ctx, text, size, level - 2);
    if (!ctx->bulk) return 0;
    if (tkx_bulk_runs_sum(ctx->bulk))
        return level == 0 && encode_in_bulk(ctx, text, size, TKX_BULK_SEGMENT, 0);
    if (level == 0) {
        if (encode_as_it_is(ctx, text, size, is_rest)) return 1;
        if (!is_rest) return 0;
        /* a rest with U+2581: only the maps apply, since nothing is put before it */
        for (i = 0; i < t->op_count; i++)
            if (t->ops[i].kind == MAP) rewrite(ctx, &t->ops[i], 1, &text, &size);
        if (has_tokens(ctx, 1)) {
            if (ctx->code == TKX_OK) encode_around(ctx, 1, text, size, encode_plain);
            size = 0;
        }
    } else if (t->stage_count && (t->stages[0].flags & REWRITE)) {
        rewrite(ctx, t->ops + t->stages[0].first_op, t->stages[0].op_count, &text, &size);
    }
    if (size && ctx->code == TKX_OK) is_done = encode_in_bulk(ctx, text, size, TKX_BULK_SEGMENT, 0);
    ctx->text = outer;
    ctx->memory_used = mark;
    if (!is_done && is_rest) fail(ctx, TKX_E_NOT_FOUND), is_done = 1;
    return is_done;
}

/* Whether an operation leaves all characters except U+2581 unchanged. */
static int maps_marks_only(const tkx *t, const tkx_op *op) {
    const uint8_t *data = op->table.data, *direct = data + MAP_HEADER;
    const tkx_entries map = entries_at(direct + ASCII_SIZE, data);
    tkx_context ctx;
    uint32_t c;
    context_init(&ctx, t, 0);
    for (c = 0; c < 128; c++)
        if (direct[c] != c) return 0;
    /* the lead bytes of UTF-8: 0xE2 is that of U+2000 to U+2FFF */
    for (c = 0xC2; c <= 0xF4; c++)
        if (c != 0xE2 && !(load_u64(data + 16) >> (c & 63) & 1)) return 0;
    for (c = 0x2000; c < 0x3000; c++) {
        const uint8_t *entry = find_entry(&ctx, &map, c);
        if (!entry || (c != 0x2581 && entry != map.entries)) return 0;
    }
    return 1;
}

int tkx_bulk_has_light_normalizer(const tkx *t) {
    uint32_t i, affixes = 0;
    for (i = 0; i < t->op_count; i++) {
        const tkx_op *op = &t->ops[i];
        if (op->kind == AFFIX) {
            if (op->content.size != 1 || *op->content.data != ' ' || affixes++ ||
                (op->flags & ~(UNLESS_PRESENT | ONLY_FIRST)))
                return 0;
        } else if (op->kind != MAP || !maps_marks_only(t, op)) {
            return 0;
        }
    }
    return 1;
}

int tkx_bulk_can_cut(const tkx *t, int special) {
    tkx_context ctx;
    context_init(&ctx, t, special);
    return !has_tokens(&ctx, 1) || t->op_count == t->normalizer_count;
}

/* Whether no added token of a trie can contain a cut of a text, touch it or strip white space
   across it. */
static int is_outside_tokens(tkx_context *ctx, int normalized, const uint8_t *text, size_t cut) {
    tkx_scanner f;
    size_t from, at, most;
    if (!has_tokens(ctx, normalized)) return 1;
    scanner_start(&f, ctx, normalized, text, cut);
    if (cut < f.node_count || bit_of(f.starts, text[cut]) ||
        (added_class(ctx, before(text + cut)) & CLASS_SPACE))
        return 0;
    /* no content is longer than the trie has nodes */
    most = f.node_count + 2; /* and a U+2581, which becomes a space */
    if (normalized && (cut < most || has_mark(text + cut - most, most))) return 0;
    for (from = cut; cut - from < f.node_count; from--) {
        uint32_t node = find_child(&f, 0, text[from - 1]);
        for (at = from; node && at < cut; at++) node = find_child(&f, node, text[at]);
        if (node || ctx->code != TKX_OK) return 0;
    }
    return 1;
}

int tkx_bulk_is_outside_tokens(const tkx *t, const uint8_t *text, size_t cut) {
    tkx_context ctx;
    context_init(&ctx, t, 1);
    return is_outside_tokens(&ctx, 0, text, cut) && is_outside_tokens(&ctx, 1, text, cut);
}

int tkx_bulk_is_byte_level(const tkx *t) {
    return t->model == MODEL_BPE && t->splits.data && !t->characters.data && t->byte_ids.data &&
           t->id_count <= MAX_IDS;
}

/* Whether there is no stage, or a single one that rewrites the text. */
static int only_rewrites(const tkx *t) {
    return t->stage_count == 0 || (t->stage_count == 1 && (t->stages[0].flags & REWRITE));
}

int tkx_bulk_is_characters(const tkx *t) {
    return t->model == MODEL_BPE && t->splits.data && only_rewrites(t) && t->characters.data &&
           load_u32(t->characters.data) == UNIT_CHARACTER && t->place_count == 1 &&
           t->crossings.data && !(t->flags & WHOLE_FIRST) && t->id_count <= MAX_IDS;
}

#include "bridge_words.h"
#include "bridge_search.h"
#include "bridge_points.h"
#include "bridge_sum.h"
