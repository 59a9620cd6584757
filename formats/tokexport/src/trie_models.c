/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- trie_models.c: shared by Unigram, WordPiece, WordLevel and greedy models (3.6) ---------- */

#if !defined(TKX_NO_UNIGRAM) || !defined(TKX_NO_WORDPIECE) || !defined(TKX_NO_WORDLEVEL) ||        \
    !defined(TKX_NO_GREEDY)
#define TKX_HAS_TRIE

/* Emits the unknown token for the text from `from` to `to`. */
static void emit_unknown(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    if (ctx->t->unknown_id == TKX_NONE) fail(ctx, TKX_E_UNKNOWN_TEXT);
    else emit_token(ctx, ctx->t->unknown_id, from, to);
}

#endif

/* ---- trie_models.c: WordPiece (3.6) ---------------------------------------------------------- */

#ifndef TKX_NO_WORDPIECE

static size_t count_characters(const uint8_t *bytes, size_t size) {
    size_t count = 0, i;
    for (i = 0; i < size; i++) count += !utf8_inside(bytes[i]);
    return count;
}

static void encode_wordpiece(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const tkx *t = ctx->t;
    const uint8_t *at = bytes, *end = bytes + size;
    const size_t before = ctx->count;
    uint32_t base = t->trie_root, id = 0;
    int is_known =
        size <= t->trie_characters || count_characters(bytes, size) <= t->trie_characters;
    while (is_known && at < end && ctx->code == TKX_OK) {
        const uint8_t *last = longest_token(ctx->t, base, at, end, &id, &ctx->code);
        is_known = last > at;
        if (is_known) emit_token(ctx, id, at, last);
        at = last;
        base = t->trie_continuation;
    }
    if (is_known) return;
    ctx->count = before; /* a part that is not found makes the whole word unknown */
    emit_unknown(ctx, bytes, end);
}

#endif

/* ---- trie_models.c: WordLevel (3.6) ---------------------------------------------------------- */

#ifndef TKX_NO_WORDLEVEL

static void encode_word(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const int goes_on = ctx->carry > 0;
    uint32_t id;
    int found = token_in_trie(ctx->t, bytes, size, &id);
    ctx->carry = found == TKX_E_NOT_FOUND && (ctx->t->flags & FUSE_UNKNOWN);
    if (found == TKX_OK) {
        emit_token(ctx, id, bytes, bytes + size);
    } else if (found == TKX_E_CORRUPT) {
        fail(ctx, found);
    } else if (!goes_on) {
        emit_unknown(ctx, bytes, bytes + size);
#ifndef TKX_NO_OFFSETS
    } else if (wants_spans(ctx) && ctx->count) {
        extend_span(ctx, bytes, bytes + size);
#endif
    }
}

#endif

/* ---- trie_models.c: greedy (3.6) ------------------------------------------------------------- */

#ifndef TKX_NO_GREEDY

static void encode_greedy(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const uint8_t *at = bytes, *end = bytes + size;
    uint32_t id = 0;
    while (at < end && ctx->code == TKX_OK) {
        const uint8_t *last = longest_token(ctx->t, ctx->t->trie_root, at, end, &id, &ctx->code);
        if (last > at) {
            emit_token(ctx, id, at, last);
            at = last;
        } else {
            emit_unknown(ctx, at, at + 1);
            at++;
        }
    }
}

#endif

/* ---- trie_models.c: Unigram (3.6) ------------------------------------------------------------ */

#ifndef TKX_NO_UNIGRAM

#include <float.h>

/* The ids depend on the last bit of sums: each sum of two doubles must be rounded immediately.
   There are only additions and comparisons, so that nothing can be contracted, and sums of floats
   may be computed as doubles. FLT_EVAL_METHOD is 0, 1, or a width, such as 16 with AVX512-FP16. */
#if defined(FLT_EVAL_METHOD) &&                                                                    \
    (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD > 64)
#error "Unigram needs doubles that are rounded after each addition: -mfpmath=sse or TKX_NO_UNIGRAM"
#endif
typedef char tkx_unigram_needs_64_bit_doubles[sizeof(double) == 8 ? 1 : -1];

/* The best path to a position, in work memory: f64 sum of scores, u32 length and u32 id of its last
   token. Length 0: no path found. The paths of FEW_PATHS positions are on the stack. */
enum { PATH_LENGTH = 8, PATH_ID = 12, FEW_PATHS = 64 };

/* A pre-token being encoded. All paths pass through `from`; ids up to there have been emitted. */
typedef struct tkx_unigram {
    tkx_context *ctx;
    const uint8_t *from, *end;
    const uint8_t *unknown; /* where pending unknown text begins, or NULL */
    double sum;     /* at `from`, since the start of the pre-token, or with `single` the carry */
    uint8_t *paths; /* room + 1 paths */
    size_t room;
} tkx_unigram;

static TKX_INLINE double path_sum(const uint8_t *path) {
    double v;
    TKX_COPY(&v, path, 8);
    return v;
}

static TKX_INLINE uint32_t path_length(const uint8_t *path) { return get_u32(path + PATH_LENGTH); }
static TKX_INLINE uint32_t path_id(const uint8_t *path) { return get_u32(path + PATH_ID); }

static TKX_INLINE void put_path(uint8_t *path, double sum, size_t length, uint32_t id) {
    TKX_COPY(path, &sum, 8);
    put_u32(path + PATH_LENGTH, (uint32_t)length);
    put_u32(path + PATH_ID, id);
}

static TKX_INLINE double rounded(double s, int single) { return single ? (double)(float)s : s; }

/* Emits pending unknown text, up to `to`. */
static void emit_unknown_text(tkx_unigram *u, const uint8_t *to) {
    tkx_context *ctx = u->ctx;
    const tkx *t = ctx->t;
    const uint8_t *from = u->unknown, *p;
    uint32_t id;
    int found = TKX_E_NOT_FOUND;
    if (!from) return;
    u->unknown = NULL;
    if (!(t->trie_flags & SINGLE_PRECISION))
        found = token_in_trie(t, from, (size_t)(to - from), &id);
    if (found == TKX_E_CORRUPT) fail(ctx, found);
    for (p = from; found != TKX_OK && t->byte_ids.data && p < to; p++)
        if (byte_id(ctx, *p) == TKX_NONE) break;
    if (found == TKX_OK) {
        emit_token(ctx, id, from, to);
    } else if (p < to) {
        emit_unknown(ctx, from, to);
    } else {
        for (p = from; p < to; p++) {
            /* in sentencepiece, the last byte of a character has the span of the character */
            const int apart = t->alignment.data != NULL;
            emit_token(ctx, byte_id(ctx, *p), apart ? p : from, apart ? p + 1 : to);
        }
    }
}

/* Emits the best path to the position `size` bytes after `from`. */
static void emit_path(tkx_unigram *u, size_t size) {
    uint8_t *path = u->paths + PATH * size;
    uint32_t length = path_length(path), id = path_id(path);
    size_t at;
    /* reverse the path, so that each position has the token that begins there */
    while (path > u->paths) {
        uint32_t length_before, id_before;
        path -= PATH * (size_t)length;
        length_before = path_length(path);
        id_before = path_id(path);
        put_u32(path + PATH_LENGTH, length);
        put_u32(path + PATH_ID, id);
        length = length_before;
        id = id_before;
    }
    for (at = 0; at < size; at += length) {
        const uint8_t *p = u->from + at;
        length = path_length(u->paths + PATH * at);
        id = path_id(u->paths + PATH * at);
        if (id == u->ctx->t->unknown_id) {
            if (!u->unknown) u->unknown = p;
        } else {
            emit_unknown_text(u, p);
            emit_token(u->ctx, id, p, p + length);
        }
    }
}

/* Records a path to a position, if its sum is larger than before. 0: there is no room for it. */
static TKX_INLINE int add_path(tkx_unigram *u, size_t *reach, size_t to, double sum, size_t length,
                               uint32_t id) {
    uint8_t *path;
    if (to > u->room) return 0;
    path = u->paths + PATH * to;
    if (to <= *reach && path_length(path) && !(sum > path_sum(path))) return 1;
    while (*reach < to) put_u32(u->paths + PATH * ++*reach + PATH_LENGTH, 0);
    put_path(path, sum, length, id);
    return 1;
}

/* Like sentencepiece, subtract a sum beyond this from all sums in use. */
#define TKX_LARGEST_SUM 100000.0

static TKX_NOINLINE double reset_sums(tkx_unigram *u, size_t at, size_t reach, double sum) {
    size_t i;
    for (i = at; i <= reach; i++) {
        uint8_t *path = u->paths + PATH * i;
        double rest = rounded(path_sum(path) - sum, 1);
        if (i == at || path_length(path)) TKX_COPY(path, &rest, 8);
    }
    return 0;
}

/* Finds the best path from `from` to the end of the pre-token. At a position that no token crosses,
   the path so far is emitted, and `from` moves there. 0: there is no room for a path. */
static TKX_INLINE int find_paths(tkx_unigram *u, int single) {
    tkx_context *ctx = u->ctx;
    const tkx *t = ctx->t;
    const double unknown = load_double(t->trie.data + 16);
    const uint32_t id_count = t->id_count, root = t->trie_root;
    size_t at = 0, reach = 0;
    put_path(u->paths, u->sum, 0, 0);
    while (u->from + at < u->end) {
        const uint8_t *start = u->from + at, *p = start, *deepest = trie_reach(t, p, u->end);
        const size_t character = utf8_length(*start);
        double sum = path_sum(u->paths + PATH * at);
        uint32_t base = root;
        int is_covered = 0;
        if (single && (sum < -TKX_LARGEST_SUM || sum > TKX_LARGEST_SUM))
            sum = reset_sums(u, at, reach, sum);
        do {
            uint64_t unit = trie_child(t, base, *p);
            uint32_t id = id_of(unit);
            if (label_of(unit) != *p) {
                if (!TKX_LIKELY(label_of(unit) <= 256)) fail(ctx, TKX_E_CORRUPT);
                break;
            }
            p++;
            base = base_of(unit);
            if (id == MAX_IDS) continue;
            if (!TKX_LIKELY(id < id_count)) return fail(ctx, TKX_E_CORRUPT), 1;
            if ((size_t)(p - start) == character) is_covered = 1;
            if (!add_path(u, &reach, (size_t)(p - u->from), rounded(score_of(t, id) + sum, single),
                          (size_t)(p - start), id))
                return 0;
        } while (p < deepest);
        if (!TKX_LIKELY((size_t)(p - start) <= t->trie_depth)) fail(ctx, TKX_E_CORRUPT);
        if (!is_covered) {
            if (!add_path(u, &reach, at + character, rounded(unknown + sum, single), character,
                          t->unknown_id))
                return 0;
            /* without an unknown token the reference stops here, even if a better path exists */
            if (path_id(u->paths + PATH * (at + character)) == TKX_NONE)
                fail(ctx, TKX_E_UNKNOWN_TEXT);
        }
        if (ctx->code != TKX_OK) return 1;
        at += character;
        if (at == reach) {
            u->sum = path_sum(u->paths + PATH * at);
            emit_path(u, at);
            u->from += at;
            put_path(u->paths, u->sum, 0, 0);
            at = reach = 0;
        }
    }
    return 1;
}

static void encode_unigram(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    uint8_t few[PATH * (FEW_PATHS + 1)];
    const size_t mark = ctx->memory_used;
    const int single = ctx->t->trie_flags & SINGLE_PRECISION;
    tkx_unigram u = {ctx, bytes, bytes + size, NULL, ctx->carry, few, FEW_PATHS};
    while (!(single ? find_paths(&u, 1) : find_paths(&u, 0))) {
        /* eight times the room on each retry, so that little work is repeated */
        size_t rest = (size_t)(u.end - u.from);
        u.room = smaller(rest, 8 * u.room);
        ctx->memory_used = mark;
        u.paths = work_alloc(ctx, (uint64_t)PATH * ((uint64_t)u.room + 1));
        if (!u.paths) {
            need_memory(ctx, mark + (uint64_t)PATH * ((uint64_t)rest + 1));
            return;
        }
    }
    if (ctx->code == TKX_OK) emit_unknown_text(&u, u.end);
    if (single) ctx->carry = u.sum;
    ctx->memory_used = mark;
}

#endif
