/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- encode.c: encoding (5.3) ---------------------------------------------------------------- */

/* A stretch without added tokens, not empty: step 6 and 7. */
static void encode_plain(run *r, const uint8_t *text, size_t size) {
    size_t mark = r->memory_used;
    split(r, text, text + size);
    encode_batch(r);
    r->memory_used = mark;
}

/* A stretch between raw added tokens, not empty: step 4 to 7. */
static void encode_stretch(run *r, const uint8_t *text, size_t size) {
    size_t mark = r->memory_used;
    const uint8_t *limit = r->limit, *begin = r->begin;
    const view at_hand = r->at_hand;
#ifndef TKX_NO_OFFSETS
    const uint8_t *whole = text;
    const size_t whole_size = size;
#endif
#ifndef TKX_NO_NORMALIZER
    if (r->t->normalizer_count) {
        const uint8_t *given = text;
        rewrite(r, r->t->ops, r->t->normalizer_count, text == begin, &text, &size);
        if (given == begin) r->begin = text;
        if (given != text) r->limit = text + size;
    }
#endif
#ifndef TKX_NO_OFFSETS
    if (wants_spans(r) && r->t->alignment.data && size && r->code == TKX_OK)
        align_whole(r, at_hand.base, whole, whole_size, text, size);
#endif
    if (r->code != TKX_OK) return;
    if (can_find(r, 1)) {
        finder f;
        part item;
        find_start(&f, r, 1, text, size);
        while (r->code == TKX_OK && find_next(&f, &item)) {
            if (item.id != NONE) emit_added(r, item.id, text + item.from, text + item.to);
            else encode_plain(r, text + item.from, item.to - item.from);
        }
    } else if (size) {
        encode_plain(r, text, size);
    }
    r->begin = begin;
    r->limit = limit;
    r->at_hand = at_hand;
    r->memory_used = mark;
}

/* A text that is valid: step 3 to 7. */
static void encode_text(run *r, const uint8_t *text, size_t size) {
    r->limit = text + size;
    if (can_find(r, 0)) {
        finder f;
        part item;
        find_start(&f, r, 0, text, size);
        while (r->code == TKX_OK && find_next(&f, &item)) {
            if (item.id != NONE) emit_added(r, item.id, text + item.from, text + item.to);
            else encode_stretch(r, text + item.from, item.to - item.from);
        }
    } else if (size) {
        encode_stretch(r, text, size);
    }
}

size_t tkx_cut(const tkx *t, const void *text, size_t size) {
    const uint8_t *p = (const uint8_t *)text;
    size_t i;
    if (!t || !t->cuts.data || !text) return 0;
    for (i = size; i > 1; i--) {
        uint8_t x = p[i - 2], y = p[i - 1];
        if (x < 128 && y < 128 && bit_of(t->cuts.data + x * 16, y)) return i - 1;
    }
    return 0;
}

/* A text that is to be rewritten or labelled is cut into blocks of about this size, where it can
   be: a normalized copy of prose, or its labels, then fit into the 64 KB of work memory that prose
   needs, and into the cache of the machine. */
enum { BLOCK = 8192 };

static int has_labels(const tkx *t) {
    uint32_t i;
    for (i = 0; i < t->stage_count && !t->stages[i].labels; i++) continue;
    return i < t->stage_count;
}

static void encode_blocks(run *r, const uint8_t *text, size_t size) {
    r->begin = text;
    while (size > BLOCK && (r->t->op_count || has_labels(r->t)) && r->code == TKX_OK) {
        size_t length = BLOCK, cut = tkx_cut(r->t, text, length);
        while (cut == 0 && length < size) {
            length = length > size / 2 ? size : 2 * length;
            cut = length < size ? tkx_cut(r->t, text, length) : 0;
        }
        if (cut == 0) break;
        encode_text(r, text, cut);
        text += cut;
        size -= cut;
    }
    if (r->code == TKX_OK) encode_text(r, text, size);
}

static void lend(run *r, const tkx_work *work) {
    size_t sets = 0, offset;
    r->memory = r->no_memory;
    if (work && work->memory) {
        r->memory = (uint8_t *)work->memory;
        r->memory_size = work->memory_size;
    }
    /* a cached word does not say which bytes its ids stand for */
    if (!work || !work->cache || wants_spans(r)) return;
    /* A set shall lie in one line of memory. */
    offset = (size_t)(0 - (uintptr_t)work->cache) & (SET - 1);
    if (work->cache_size >= offset + 2 * SET) {
        r->cache = (uint8_t *)work->cache + offset;
        sets = (work->cache_size - offset) / SET;
        for (r->cache_shift = 64; sets > 1; sets >>= 1) r->cache_shift--;
    }
}

static int encode(run *r, const void *text, size_t size, uint32_t *ids, size_t capacity,
                  size_t *count, const tkx_work *work) {
    const tkx *t = r->t;
    size_t valid;
    if (!count) return TKX_E_ARGUMENT;
    *count = 0;
    if (!t || (!text && size) || size > MAX_TEXT || (!ids && capacity)) return TKX_E_ARGUMENT;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    if (size == 0) return TKX_OK;
    valid = utf8_valid((const uint8_t *)text, size);
    if (valid < size) {
        *count = valid;
        return TKX_E_UTF8;
    }
    r->ids = ids;
    r->capacity = capacity;
    r->at_hand.base = (const uint8_t *)text;
    lend(r, work);
    encode_blocks(r, (const uint8_t *)text, size);
    if (r->code == TKX_E_WORK)
        *count = r->memory_needed > SIZE_MAX ? SIZE_MAX : (size_t)r->memory_needed;
    if (r->code != TKX_OK) return r->code;
    *count = r->count;
    return r->count <= capacity ? TKX_OK : TKX_E_IDS;
}

static void run_init(run *r, const tkx *t, int special) {
    memset(r, 0, offsetof(run, batch));
    r->t = t;
    r->special = special;
}

int tkx_encode(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
               size_t *count, const tkx_work *work) {
    run r;
    run_init(&r, t, 0);
    return encode(&r, text, size, ids, capacity, count, work);
}

int tkx_encode_special(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
                       size_t *count, const tkx_work *work) {
    run r;
    run_init(&r, t, 1);
    return encode(&r, text, size, ids, capacity, count, work);
}

int tkx_encode_allowed(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                       size_t allowed_size, uint32_t *ids, size_t capacity, size_t *count,
                       const tkx_work *work) {
    run r;
    if (!allowed && allowed_size) return TKX_E_ARGUMENT;
    run_init(&r, t, 2);
    r.allowed = allowed;
    r.allowed_size = allowed_size;
    return encode(&r, text, size, ids, capacity, count, work);
}

#ifndef TKX_NO_OFFSETS

int tkx_encode_spans(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                     size_t allowed_size, int unit, uint32_t *ids, uint32_t *spans, size_t capacity,
                     size_t *count, const tkx_work *work) {
    static const uint8_t nothing[1] = {0};
    uint32_t no_spans[1];
    run r;
    if ((!allowed && allowed_size && allowed_size != TKX_ALL) || (!spans && capacity))
        return TKX_E_ARGUMENT;
    if (unit != TKX_BYTES && unit != TKX_CHARACTERS) return TKX_E_ARGUMENT;
    if (t && field(t->trims, 0) == NONE) {
        if (count) *count = 0;
        return TKX_E_NO_SPANS;
    }
    run_init(&r, t, allowed_size == TKX_ALL ? 1 : allowed_size ? 2 : 0);
    r.allowed = allowed ? allowed : nothing;
    r.allowed_size = allowed_size;
    r.where.spans = spans ? spans : no_spans;
    r.where.unit = unit;
    r.where.input = (const uint8_t *)text;
    r.where.input_size = size;
    return encode(&r, text, size, ids, capacity, count, work);
}

#endif
