/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_queue.c: a queue of merges (3.5) ---------------------------------------------------- */

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

static void queue_push(tkx_queue *q, uint64_t key) {
    if (key >> 32 <= q->rank) heap_push(q, key);
    else put_u64(pending_key(q, q->pending++), key);
}
