/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_long.c: a queue of merges (3.5) ----------------------------------------------------- */

/* A queue of keys (rank << 32 | position). Stale keys remain in it until they are popped.

   The first keys are in a sorted array. Later keys go into a heap with four children per node,
   since most of them do not move far up. But while pairs of one rank are merged, new keys of higher
   ranks are pending: if there are many, as in a run of one character, they are sorted into the
   array, in linear time; otherwise they go into the heap. Three times as fast for a million `a`. */
typedef struct tkx_queue {
    /* room for `room` keys, and for 2 * room keys: pending keys grow down from its end */
    uint8_t *sorted, *heap;
    size_t room, next, count, size, pending;
    uint32_t rank; /* of the last key popped */
} tkx_queue;

/* Bits of a digit: more bits need more stack, and more time for few keys. */
enum { DIGIT = 8, DIGITS = 1 << DIGIT };

/* Radix sort, least significant digit first; digits that are equal in all keys are skipped. It is
   stable: positions that are in order, as with one id per rank, are not sorted. */
static void sort_keys(uint8_t *keys, uint8_t *other, size_t count) {
    uint32_t first[DIGITS];
    uint8_t *from = keys, *to = other;
    uint64_t bits = 0; /* the bits in which two keys differ */
    size_t i;
    unsigned shift;
    int in_order = 1;
    for (i = 1; i < count; i++) {
        const uint64_t before = get_u64(keys + 8 * i - 8), key = get_u64(keys + 8 * i);
        bits |= key ^ before;
        in_order &= (uint32_t)before <= (uint32_t)key;
    }
    if (in_order) bits &= ~(uint64_t)TKX_NONE;
    for (shift = 0; shift < 64; shift += DIGIT) {
        uint32_t sum = 0;
        uint8_t *swap = from;
        if (!(bits >> shift & (DIGITS - 1))) continue;
        memset(first, 0, sizeof first);
        for (i = 0; i < count; i++) first[get_u64(from + 8 * i) >> shift & (DIGITS - 1)]++;
        for (i = 0; i < DIGITS; i++) {
            const uint32_t here = first[i];
            first[i] = sum;
            sum += here;
        }
        for (i = 0; i < count; i++) {
            const uint64_t key = get_u64(from + 8 * i);
            put_u64(to + 8 * (size_t)first[key >> shift & (DIGITS - 1)]++, key);
        }
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, 8 * count);
}

static void heap_push(tkx_queue *q, uint64_t key) {
    size_t i = q->size++;
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        uint64_t above = get_u64(q->heap + 8 * parent);
        if (above <= key) break;
        put_u64(q->heap + 8 * i, above);
        i = parent;
    }
    put_u64(q->heap + 8 * i, key);
}

static void heap_pop(tkx_queue *q) {
    uint64_t key = get_u64(q->heap + 8 * --q->size);
    size_t i = 0;
    for (;;) {
        size_t child = 4 * i + 1, least = child, end = smaller(child + 4, q->size);
        uint64_t smallest;
        if (child >= q->size) break;
        smallest = get_u64(q->heap + 8 * child);
        for (child++; child < end; child++) {
            uint64_t other = get_u64(q->heap + 8 * child);
            least = other < smallest ? child : least;
            smallest = other < smallest ? other : smallest;
        }
        if (smallest >= key) break;
        put_u64(q->heap + 8 * i, smallest);
        i = least;
    }
    put_u64(q->heap + 8 * i, key);
}

/* The i-th pending key. Each merge adds at most two keys, and n symbols allow n - 1 merges, so that
   heap and pending keys fit into 2 * room. */
static uint8_t *pending_key(const tkx_queue *q, size_t i) {
    return q->heap + 8 * (2 * q->room - 1 - i);
}

/* ---- bpe_long.c: merging a long pre-token (3.5) ---------------------------------------------- */

/* Linked symbols in work memory: id, neighbours, and the merged id of a symbol and the next one. */
enum { SYMBOL = 16, SYMBOL_ID = 0, SYMBOL_PREVIOUS = 4, SYMBOL_NEXT = 8, SYMBOL_MERGED = 12 };

static TKX_INLINE uint32_t symbol(const uint8_t *symbols, size_t i, size_t offset) {
    return get_u32(symbols + SYMBOL * i + offset);
}

static TKX_INLINE void set_symbol(uint8_t *symbols, size_t i, size_t offset, uint32_t v) {
    put_u32(symbols + SYMBOL * i + offset, v);
}

/* Whether a key is not stale, because its pair still exists. */
static TKX_INLINE int key_is_valid(const tkx *t, const uint8_t *symbols, uint64_t key) {
    uint32_t merged = symbol(symbols, (uint32_t)key, SYMBOL_MERGED);
    return merged != TKX_NONE && rank_of(t, merged) == key >> 32;
}

/* Sorts the pending keys into the array; 0 if there is no room, or if they are too few. */
static int sort_pending(tkx_queue *q, const tkx *t, const uint8_t *symbols) {
    size_t left = q->count - q->next, i;
    if (q->pending < 64 || q->pending < left / 4 || left + q->pending > q->room ||
        left + q->pending > 2 * q->room - q->size)
        return 0;
    memmove(q->sorted, q->sorted + 8 * q->next, 8 * left);
    for (i = 0; i < q->pending; i++) {
        const uint64_t key = get_u64(pending_key(q, i));
        if (key_is_valid(t, symbols, key)) put_u64(q->sorted + 8 * left++, key);
    }
    q->next = 0;
    q->count = left;
    sort_keys(q->sorted, q->heap + 8 * q->size, left);
    return 1;
}

/* Queues the merge of symbols i and `next`, if there is one. `next` may be TKX_NONE. */
static TKX_INLINE void queue_pair(tkx_context *ctx, tkx_queue *q, uint8_t *symbols, uint32_t i,
                                  uint32_t next) {
    const uint32_t id = symbol(symbols, i, SYMBOL_ID);
    const uint32_t merged =
        next == TKX_NONE ? TKX_NONE : find_merge(ctx, id, symbol(symbols, next, SYMBOL_ID));
    const uint64_t key = (uint64_t)rank_of(ctx->t, merged) << 32 | i;
    set_symbol(symbols, i, SYMBOL_MERGED, merged);
    if (merged == TKX_NONE) return;
    if (key >> 32 <= q->rank) heap_push(q, key);
    else put_u64(pending_key(q, q->pending++), key);
}

/* Removes the next key, which may be stale; returns 0 if there is none. */
static int queue_pop(tkx_queue *q, const tkx *t, const uint8_t *symbols, uint64_t *key) {
    for (;;) {
        uint64_t first = q->next < q->count ? get_u64(q->sorted + 8 * q->next) : UINT64_MAX;
        uint64_t top = q->size ? get_u64(q->heap) : UINT64_MAX;
        *key = first < top ? first : top;
        if (*key >> 32 > q->rank && q->pending) {
            /* last pending key first, because keys and heap grow towards each other and may meet */
            if (sort_pending(q, t, symbols)) q->pending = 0;
            while (q->pending) heap_push(q, get_u64(pending_key(q, --q->pending)));
            continue;
        }
        if (*key == UINT64_MAX) return 0;
        if (top < first) heap_pop(q);
        else q->next++;
        q->rank = (uint32_t)(*key >> 32);
        return 1;
    }
}

/* Merges symbol i with its right neighbour. */
static void merge_symbol(tkx_context *ctx, tkx_queue *q, uint8_t *symbols, uint32_t i) {
    const uint32_t right = symbol(symbols, i, SYMBOL_NEXT),
                   left = symbol(symbols, i, SYMBOL_PREVIOUS);
    const uint32_t next = symbol(symbols, right, SYMBOL_NEXT);
    set_symbol(symbols, i, SYMBOL_ID, symbol(symbols, i, SYMBOL_MERGED));
    set_symbol(symbols, i, SYMBOL_NEXT, next);
    set_symbol(symbols, right, SYMBOL_MERGED, TKX_NONE);
    if (next != TKX_NONE) set_symbol(symbols, next, SYMBOL_PREVIOUS, i);
    if (left != TKX_NONE) queue_pair(ctx, q, symbols, left, i);
    queue_pair(ctx, q, symbols, i, next);
}

/* Builds the list and the first keys. A merged symbol keeps the position of its first part. */
static void list_symbols(tkx_context *ctx, tkx_queue *q, uint8_t *symbols, const uint8_t *given,
                         size_t count) {
    uint64_t largest = 0;
    int sorted = 1;
    uint32_t i;
    for (i = 0; i < count; i++) {
        const int has_next = i + 1 < count;
        const uint32_t id = get_u32(given + 4 * (size_t)i),
                       merged = has_next ? find_merge(ctx, id, get_u32(given + 4 * (size_t)i + 4))
                                         : TKX_NONE;
        set_symbol(symbols, i, SYMBOL_ID, id);
        set_symbol(symbols, i, SYMBOL_PREVIOUS, i - 1);
        set_symbol(symbols, i, SYMBOL_NEXT, has_next ? i + 1 : TKX_NONE);
        set_symbol(symbols, i, SYMBOL_MERGED, merged);
        if (merged != TKX_NONE) {
            const uint64_t key = (uint64_t)rank_of(ctx->t, merged) << 32 | i;
            sorted &= key >= largest;
            largest = key;
            put_u64(q->sorted + 8 * q->count++, key);
        }
    }
    if (!sorted) sort_keys(q->sorted, q->heap, q->count);
}

/* The contribution of a byte of a pre-token to the length of its symbol. */
static size_t unit_length(int of_characters, uint8_t byte) {
    return of_characters ? 1 : spelled_length(byte);
}

/* Emits the merged symbols with the bytes that they cover. Positions are sums of the lengths of
   first symbols from the start of the pre-token, so that after a character without a symbol all
   spans are too far left, as in the reference library. */
static void emit_symbols(tkx_context *ctx, const uint8_t *bytes, const uint8_t *symbols,
                         const uint8_t *lengths, size_t count) {
    const int of_characters =
        ctx->t->characters.data && load_u32(ctx->t->characters.data) == UNIT_CHARACTER;
    size_t at = 0, before = 0; /* a byte, and the length of the bytes before it */
    size_t length = 0;         /* of the symbols so far */
    size_t i, next;
    for (i = 0; i < count; i = next) {
        const uint32_t link = symbol(symbols, i, SYMBOL_NEXT);
        const uint8_t *from;
        size_t k;
        next = link == TKX_NONE ? count : link;
        while (before + unit_length(of_characters, bytes[at]) <= length)
            before += unit_length(of_characters, bytes[at++]);
        from = bytes + at;
        for (k = i; k < next; k++) length += get_u32(lengths + 4 * k);
        while (before + unit_length(of_characters, bytes[at]) < length)
            before += unit_length(of_characters, bytes[at++]);
        emit_token(ctx, symbol(symbols, i, SYMBOL_ID), from, bytes + at + 1);
    }
}

static TKX_NOINLINE void merge_long(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    size_t mark = ctx->memory_used, count;
    const int length_bytes = wants_spans(ctx) ? LENGTH_BYTES : 0;
    uint8_t *symbols = work_alloc(ctx, (uint64_t)(MERGE_BYTES + length_bytes) * size);
    uint8_t *lengths;
    tkx_queue q = {NULL, NULL, 0, 0, 0, 0, 0, 0};
    uint64_t key;
    uint32_t i;
    if (symbols && size >= TKX_NONE) fail(ctx, TKX_E_ARGUMENT);
    if (!symbols || size >= TKX_NONE) return;
    lengths = length_bytes ? symbols + MERGE_BYTES * size : NULL;
    /* one key for each symbol initially, and at most two for each merge: 8 + 16 bytes */
    q.sorted = symbols + SYMBOL * size;
    q.heap = q.sorted + 8 * size;
    q.room = size;
    count = first_symbols(ctx, bytes, size, q.heap, lengths);
    memmove(symbols + 12 * size, q.heap, 4 * count);
    list_symbols(ctx, &q, symbols, symbols + 12 * size, count);
    while (ctx->code == TKX_OK && queue_pop(&q, ctx->t, symbols, &key)) {
        if (key_is_valid(ctx->t, symbols, key)) merge_symbol(ctx, &q, symbols, (uint32_t)key);
    }
    if (lengths) {
        emit_symbols(ctx, bytes, symbols, lengths, count);
    } else {
        for (i = count ? 0 : TKX_NONE; i != TKX_NONE && ctx->code == TKX_OK;
             i = symbol(symbols, i, SYMBOL_NEXT))
            emit(ctx, symbol(symbols, i, SYMBOL_ID));
    }
    ctx->memory_used = mark;
}
