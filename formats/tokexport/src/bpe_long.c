/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_long.c: merging a long piece (5.6) -------------------------------------------------- */

/* A list of symbols in lent memory, 16 bytes each: id, neighbours, and the product of the pair with
   the right neighbour. */
enum { SYMBOL = 16, SYMBOL_ID = 0, SYMBOL_PREVIOUS = 4, SYMBOL_NEXT = 8, SYMBOL_PRODUCT = 12 };

static FORCE_INLINE uint32_t symbol(const uint8_t *symbols, size_t i, size_t offset) {
    return get_u32(symbols + SYMBOL * i + offset);
}

static FORCE_INLINE void set_symbol(uint8_t *symbols, size_t i, size_t offset, uint32_t v) {
    put_u32(symbols + SYMBOL * i + offset, v);
}

/* Whether a key still holds. */
static FORCE_INLINE int holds(const tkx *t, const uint8_t *symbols, uint64_t key) {
    uint32_t product = symbol(symbols, (uint32_t)key, SYMBOL_PRODUCT);
    return product != NONE && rank_of(t, product) == key >> 32;
}

/* Merges the waiting keys into the array; 0 if there is no room for that, or if it would not
   pay. */
static int sort_in(queue *q, const tkx *t, const uint8_t *symbols) {
    /* room for those that wait once more, and as many again to sort them */
    uint8_t *keys = q->heap + 8 * q->size;
    size_t left = q->count - q->next, count = 0, i, from, taken = 0;
    if (q->waits < 64 || q->waits < left / 4 || q->size / 2 + q->waits > q->room - 1) return 0;
    for (i = 0; i < q->waits; i++) {
        uint64_t key = get_u64(waiting_key(q, i));
        if (holds(t, symbols, key)) put_u64(keys + 8 * count++, key);
    }
    if (left + count > q->room) return 0;
    sort_keys(keys, keys + 8 * count, count);
    from = q->room - left;
    memmove(q->sorted + 8 * from, q->sorted + 8 * q->next, 8 * left);
    for (i = 0; taken < count || from < q->room; i++) {
        uint64_t a = taken < count ? get_u64(keys + 8 * taken) : UINT64_MAX,
                 b = from < q->room ? get_u64(q->sorted + 8 * from) : UINT64_MAX;
        put_u64(q->sorted + 8 * i, a < b ? a : b);
        if (a < b) taken++;
        else from++;
    }
    q->next = 0;
    q->count = i;
    return 1;
}

/* Looks up a pair of neighbours, i and `next`, and the one before it, `left` and i, and puts them
   into the queue; a neighbour that is NONE has no pair. Both wait for memory together. */
static FORCE_INLINE void queue_pairs(run *r, queue *q, uint8_t *symbols, uint32_t left, uint32_t i,
                                     uint32_t next) {
    const uint32_t id = symbol(symbols, i, SYMBOL_ID);
    uint32_t before, behind;
    find_two_pairs(r, symbol(symbols, left == NONE ? i : left, SYMBOL_ID), id, id,
                   symbol(symbols, next == NONE ? i : next, SYMBOL_ID), &before, &behind);
    if (left == NONE) before = NONE;
    if (next == NONE) behind = NONE;
    if (left != NONE) {
        set_symbol(symbols, left, SYMBOL_PRODUCT, before);
        if (before != NONE) queue_push(q, (uint64_t)rank_of(r->t, before) << 32 | left);
    }
    set_symbol(symbols, i, SYMBOL_PRODUCT, behind);
    if (behind != NONE) queue_push(q, (uint64_t)rank_of(r->t, behind) << 32 | i);
}

/* The next key, of which it is not known whether it holds; 0: there is none. */
static int queue_pop(queue *q, const tkx *t, const uint8_t *symbols, uint64_t *key) {
    for (;;) {
        uint64_t first = q->next < q->count ? get_u64(q->sorted + 8 * q->next) : UINT64_MAX;
        uint64_t top = q->size ? get_u64(q->heap) : UINT64_MAX;
        *key = first < top ? first : top;
        if (*key >> 32 > q->rank && q->waits) {
            /* From the last on: where merges of one rank make different products, more keys may
               wait than the heap has room beside them. */
            if (sort_in(q, t, symbols)) q->waits = 0;
            while (q->waits) heap_push(q, get_u64(waiting_key(q, --q->waits)));
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
static void merge(run *r, queue *q, uint8_t *symbols, uint32_t i) {
    const uint32_t right = symbol(symbols, i, SYMBOL_NEXT),
                   left = symbol(symbols, i, SYMBOL_PREVIOUS);
    const uint32_t next = symbol(symbols, right, SYMBOL_NEXT);
    set_symbol(symbols, i, SYMBOL_ID, symbol(symbols, i, SYMBOL_PRODUCT));
    set_symbol(symbols, i, SYMBOL_NEXT, next);
    set_symbol(symbols, i, SYMBOL_PRODUCT, NONE);
    set_symbol(symbols, right, SYMBOL_PRODUCT, NONE);
    if (next != NONE) set_symbol(symbols, next, SYMBOL_PREVIOUS, i);
    queue_pairs(r, q, symbols, left, i, next);
}

/* Makes the list and the first keys. The place of a symbol is that of the first symbol in it. */
static void list_symbols(run *r, queue *q, uint8_t *symbols, const uint8_t *given, size_t count) {
    uint32_t left = NONE;
    uint64_t largest = 0;
    int sorted = 1;
    early e;
    early_start(&e, r, given, count);
    while (e.next < count) {
        const uint32_t i = (uint32_t)e.next;
        early_next(&e, r);
        if (left != NONE) {
            const uint32_t rank = rank_of(r->t, e.product);
            set_symbol(symbols, left, SYMBOL_PRODUCT, e.product);
            if (rank != NONE) {
                const uint64_t key = (uint64_t)rank << 32 | left;
                sorted &= key >= largest;
                largest = key;
                put_u64(q->sorted + 8 * q->count++, key);
            }
        }
        set_symbol(symbols, i, SYMBOL_ID, e.id);
        set_symbol(symbols, i, SYMBOL_PREVIOUS, left);
        set_symbol(symbols, i, SYMBOL_NEXT, e.next < count ? (uint32_t)e.next : NONE);
        set_symbol(symbols, i, SYMBOL_PRODUCT, NONE);
        left = i;
    }
    if (!sorted) sort_keys(q->sorted, q->heap, q->count);
}

/* The parts of a symbol that is taken apart again (UNUS), and their number; 0 if it stays. */
static uint32_t find_parts(run *r, uint32_t id, const uint8_t **parts) {
    const tkx *t = r->t;
    const uint8_t *entries = t->unused.data + UNUSED_HEADER;
    uint32_t low = 0, count = (uint32_t)field(t->unused, 0), high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry = entries + UNUSED_SIZE * (size_t)middle;
        if (load_u32(entry) == id) {
            const uint32_t first = load_u32(entry + 4), behind = load_u32(entry + UNUSED_SIZE + 4);
            *parts = entries + UNUSED_SIZE * ((size_t)count + 1 + first);
            if (first < behind && behind <= field(t->unused, 4)) return behind - first;
            fail(r, TKX_E_CORRUPT);
            return 0;
        }
        if (load_u32(entry) < id) low = middle + 1;
        else high = middle;
    }
    return 0;
}

/* The id of a part. */
static uint32_t part_id(run *r, const uint8_t *at) {
    const uint32_t id = load_u32(at);
    if (id < r->t->id_count) return id;
    fail(r, TKX_E_CORRUPT);
    return 0;
}

/* Emits a symbol that merging has left, or its parts. It stands for the bytes from `from` to `to`,
   which matter for spans only. */
static void emit_symbol(run *r, uint32_t id, const uint8_t *from, const uint8_t *to) {
    const uint8_t *at = NULL;
    uint32_t count = r->t->unused.data ? find_parts(r, id, &at) : 0;
    if (count == 0) {
        emit_token(r, id, from, to);
        return;
    }
    for (; count && r->code == TKX_OK; count--, at += UNUSED_SIZE) {
        const size_t length = wants_spans(r) ? load_u32(at + 4) : 0;
        if (length > (size_t)(to - from) ||
            (wants_spans(r) && (length == 0 || (count == 1 && length < (size_t)(to - from))))) {
            fail(r, TKX_E_CORRUPT);
            return;
        }
        id = part_id(r, at);
        emit_token(r, id, from, from + length);
        from += length;
    }
}

/* Takes the symbols of a short piece apart. A part is a byte long at least, so that they are no
   more than the bytes. */
static size_t take_apart(run *r, uint32_t *ids, size_t count) {
    uint32_t made[SHORT_PIECE];
    size_t used = 0, i;
    for (i = 0; i < count; i++) {
        const uint8_t *at = NULL;
        uint32_t left = find_parts(r, ids[i], &at);
        if (left > SHORT_PIECE - used || (left == 0 && used == SHORT_PIECE)) {
            fail(r, TKX_E_CORRUPT);
            return 0;
        }
        if (left == 0) made[used++] = ids[i];
        for (; left; left--, at += UNUSED_SIZE) made[used++] = part_id(r, at);
    }
    memcpy(ids, made, used * sizeof *ids);
    return used;
}

/* How much of the lengths of symbols a byte of their piece stands for. */
static size_t unit_length(int of_characters, uint8_t byte) {
    return of_characters ? 1 : spelled_length(byte);
}

/* Emits the symbols that merging has left, each with the bytes that it stands for. A symbol is as
   long as the first symbols that it was made from, and they are laid side by side from the start of
   the piece: behind a character that gave no symbol, all are too far left. That is how the
   reference library has it. */
static void emit_symbols(run *r, const uint8_t *bytes, const uint8_t *symbols,
                         const uint8_t *lengths, size_t count) {
    const int of_characters =
        r->t->characters.data && load_u32(r->t->characters.data) == UNIT_CHARACTER;
    size_t at = 0, before = 0; /* a byte, and the length of those before it */
    size_t length = 0;         /* of the symbols so far */
    size_t i, next;
    for (i = 0; i < count; i = next) {
        const uint32_t link = symbol(symbols, i, SYMBOL_NEXT);
        const uint8_t *from;
        size_t k;
        next = link == NONE ? count : link;
        while (before + unit_length(of_characters, bytes[at]) <= length)
            before += unit_length(of_characters, bytes[at++]);
        from = bytes + at;
        for (k = i; k < next; k++) length += get_u32(lengths + 4 * k);
        while (before + unit_length(of_characters, bytes[at]) < length)
            before += unit_length(of_characters, bytes[at++]);
        emit_symbol(r, symbol(symbols, i, SYMBOL_ID), from, bytes + at + 1);
    }
}

static NO_INLINE void merge_long(run *r, const uint8_t *bytes, size_t size) {
    size_t mark = r->memory_used, count;
    uint8_t *lengths = wants_spans(r) ? borrow(r, (uint64_t)LENGTH_BYTES * size) : NULL;
    uint8_t *symbols = r->code == TKX_OK ? borrow(r, (uint64_t)MERGE_BYTES * size) : NULL;
    queue q = {NULL, NULL, 0, 0, 0, 0, 0, 0};
    uint64_t key;
    uint32_t i;
    if (!symbols) return;
    if (size >= NONE) {
        fail(r, TKX_E_ARGUMENT);
        return;
    }
    /* one key a symbol at first, at most two for each merge later: 8 + 16 bytes */
    q.sorted = symbols + SYMBOL * size;
    q.heap = q.sorted + 8 * size;
    q.room = size;
    count = first_symbols(r, bytes, size, q.heap, lengths);
    memmove(symbols + 12 * size, q.heap, 4 * count);
    list_symbols(r, &q, symbols, symbols + 12 * size, count);
    while (r->code == TKX_OK && queue_pop(&q, r->t, symbols, &key)) {
        if (holds(r->t, symbols, key)) merge(r, &q, symbols, (uint32_t)key);
    }
    if (lengths) {
        emit_symbols(r, bytes, symbols, lengths, count);
    } else {
        const size_t emitted = r->count;
        for (i = count ? 0 : NONE; i != NONE && r->code == TKX_OK;
             i = symbol(symbols, i, SYMBOL_NEXT)) {
            emit_symbol(r, symbol(symbols, i, SYMBOL_ID), bytes, bytes);
            /* A part is a byte long at least. */
            if (r->t->unused.data && r->count - emitted > size) fail(r, TKX_E_CORRUPT);
        }
    }
    r->memory_used = mark;
}
