/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Unigram in single precision, by parts of a text: the last section of bridge.c.

   When a part begins, the absolute value of the sum is at most TKX_BULK_RESET, and a part of at
   most MOST_STABLE bytes changes it by less than 31,072: so all sums are below 2^17, and adding a
   score rounds by at most 2^-8. Where the best path is ahead of all others by more than both can
   lose so, its ids are the same for any sum. A reset inside a part subtracts one number from all
   sums in use, without rounding, since they are close to each other. */

enum { MOST_STABLE = 255 };
typedef char tkx_bulk_sums_are_below_2_17[(MOST_STABLE + 1) * TKX_BULK_LARGEST <= 31072 ? 1 : -1];
typedef char tkx_bulk_sums_are_reset[(int)TKX_LARGEST_SUM == TKX_BULK_RESET ? 1 : -1];

int tkx_bulk_has_sum(const tkx *t) {
    const double unknown = t->trie.data ? load_double(t->trie.data + 16) : 0;
    uint32_t i;
    if (t->model != MODEL_UNIGRAM || !(t->trie_flags & SINGLE_PRECISION) || !t->cuts.data ||
        t->stage_count || t->unknown_id == TKX_NONE || !t->scores.data ||
        !(unknown <= TKX_BULK_LARGEST && unknown >= -TKX_BULK_LARGEST))
        return 0;
    for (i = 0; i < t->op_count; i++)
        if (t->ops[i].flags & (ONLY_FIRST | FIRST_SOURCE)) return 0;
    for (i = 0; i < t->id_count; i++) {
        const double score = score_of(t, i);
        if (!(score <= TKX_BULK_LARGEST && score >= -TKX_BULK_LARGEST)) return 0;
    }
    return 1;
}

int tkx_bulk_has_carry(const tkx *t) { return has_carry(t); }

size_t tkx_bulk_cut(const tkx *t, const void *text, size_t size) {
    return last_cut(t, (const uint8_t *)text, size);
}

double *tkx_bulk_sum(tkx_context *ctx) { return &ctx->carry; }

int tkx_bulk_add_text(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    uint32_t *const outer_ids = ctx->ids;
    const size_t outer_capacity = ctx->capacity, before = ctx->count;
    write_to(ctx, outer_ids, 0, 0);
    encode_unigram(ctx, bytes, size);
    write_to(ctx, outer_ids, outer_capacity, before);
    return ctx->code;
}

/* The best path to a position, and the sum of the second best one. */
typedef struct tkx_bulk_path {
    double sum, second;
    uint32_t id, length; /* of the last token; length 0: there is no path */
    uint32_t tokens, characters;
} tkx_bulk_path;

static void offer_path(tkx_bulk_path *path, const tkx_bulk_path *from, double score, uint32_t id,
                       size_t length) {
    const double sum = from->sum + score;
    if (path->length && sum <= path->sum) {
        if (sum > path->second) path->second = sum;
        return;
    }
    path->second = path->length ? path->sum : -DBL_MAX;
    path->sum = sum;
    path->id = id;
    path->length = (uint32_t)length;
    path->tokens = from->tokens + 1;
}

/* Finds the best paths of a text, without rounding; 0: the trie is damaged. */
static int find_stable_paths(tkx_context *ctx, const uint8_t *text, size_t size,
                             tkx_bulk_path *paths) {
    const tkx *t = ctx->t;
    const uint8_t *const end = text + size;
    size_t at = 0, length;
    memset(paths, 0, (size + 1) * sizeof *paths);
    for (; at < size; at += length) {
        const uint8_t *p = text + at, *const deepest = trie_reach(t, p, end);
        uint32_t base = t->trie_root;
        int is_covered = 0;
        length = utf8_length(*p);
        while (p < deepest) {
            const uint64_t unit = trie_child(t, base, *p);
            const uint32_t id = id_of(unit);
            if (label_of(unit) != *p) break;
            p++;
            base = base_of(unit);
            if (id == MAX_IDS) continue;
            if (id >= t->id_count) return 0;
            is_covered |= (size_t)(p - text) == at + length;
            offer_path(&paths[p - text], &paths[at], score_of(t, id), id, (size_t)(p - text) - at);
        }
        if (!is_covered)
            offer_path(&paths[at + length], &paths[at], load_double(t->trie.data + 16),
                       t->unknown_id, length);
        paths[at + length].characters = paths[at].characters + 1;
    }
    return 1;
}

/* Whether the best path of a text of `size` bytes is the best one for any sum. The second best path
   has at most as many tokens as there are characters. */
static int is_best_for_any_sum(const tkx_bulk_path *paths, size_t size) {
    const tkx_bulk_path *path = paths + size;
    for (; path > paths; path -= path->length) {
        const double lost = (path->tokens + path->characters) / 256.0 + 1e-6;
        if (!(path->sum - path->second > lost)) return 0;
    }
    return 1;
}

/* Emits pending unknown text, up to `to`; returns whether its id tells what it is. */
static int emit_named_text(tkx_unigram *u, const uint8_t *to) {
    const size_t size = u->unknown ? (size_t)(to - u->unknown) : 0;
    uint32_t id = TKX_NONE;
    if (!size) return 1;
    if (!u->ctx->t->byte_ids.data) id = tkx_bulk_name_unknown(u->ctx->bulk, u->unknown, size);
    if (id == TKX_NONE) {
        emit_unknown_text(u, to);
        return 0;
    }
    emit(u->ctx, id);
    u->unknown = NULL;
    return 1;
}

/* Emits the best path of a text, and adds its scores to the sum. Returns whether the ids alone tell
   the path: unknown text has its own ids, and all tokens have the bytes that they stand for. */
static int emit_best_path(tkx_context *ctx, const uint8_t *text, size_t size,
                          tkx_bulk_path *paths) {
    const tkx *t = ctx->t;
    const uint8_t *const end = text + size;
    tkx_unigram u = {ctx, text, end, NULL, 0, NULL, 0};
    size_t at, next;
    int tells = 1;
    /* for each token, the length of the next one */
    for (at = size, next = 0; at; at -= paths[at].length) {
        paths[at].characters = (uint32_t)next;
        next = paths[at].length;
    }
    for (at = 0; at < size; at += next, next = paths[at].characters) {
        const tkx_bulk_path *path = paths + at + next;
        const uint8_t *const p = text + at, *bytes;
        uint32_t length, flags;
        if (path->id == t->unknown_id) {
            if (!u.unknown) u.unknown = p;
            ctx->carry = rounded(ctx->carry + load_double(t->trie.data + 16), 1);
            continue;
        }
        tells &= emit_named_text(&u, p);
        emit_token(ctx, path->id, p, p + next);
        ctx->carry = rounded(ctx->carry + score_of(t, path->id), 1);
        tells &= read_record(t, path->id, &bytes, &length, &flags) && length == next &&
                 memcmp(bytes, p, next) == 0;
    }
    return tells & emit_named_text(&u, end);
}

int tkx_bulk_encode_part(tkx_context *ctx, const uint8_t *bytes, size_t size, int kind,
                         uint32_t *ids, size_t capacity, size_t *count, int *is_stable) {
    const tkx_text outer = ctx->text;
    uint32_t *const outer_ids = ctx->ids;
    const size_t outer_capacity = ctx->capacity, before = ctx->count, mark = ctx->memory_used;
    tkx_bulk_path paths[MOST_STABLE + 1];
    uint32_t i;
    write_to(ctx, ids, capacity, 0);
    for (i = 0; i < ctx->t->normalizer_count && kind != TKX_BULK_UNCHANGED; i++)
        if (kind != TKX_BULK_INNER || ctx->t->ops[i].kind != AFFIX)
            rewrite(ctx, &ctx->t->ops[i], 1, &bytes, &size);
    *is_stable = ctx->code == TKX_OK && size <= MOST_STABLE &&
                 (ctx->carry < 0 ? -ctx->carry : ctx->carry) + (double)size * TKX_BULK_LARGEST <
                     TKX_BULK_RESET &&
                 find_stable_paths(ctx, bytes, size, paths) && is_best_for_any_sum(paths, size);
    if (*is_stable) *is_stable = emit_best_path(ctx, bytes, size, paths);
    else if (size && ctx->code == TKX_OK) encode_unigram(ctx, bytes, size);
    ctx->text = outer;
    ctx->memory_used = mark;
    *count = ctx->count;
    write_to(ctx, outer_ids, outer_capacity, before);
    return ctx->code;
}
