/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_queue.c: a queue of merges (5.6) ---------------------------------------------------- */

/* A queue of keys (rank << 32 | position). Keys are not taken out when they become stale: who takes
   one looks whether it still holds.

   The first keys lie sorted in an array. Those that come later are in a heap of four children a
   node, because most of them never get far up. But while the pairs of one rank are merged, the new
   keys of higher ranks only wait: if they are many, as in a run of one character, they are sorted
   into the array, which is linear; otherwise they go into the heap. That makes a million letters
   `a` three times as fast. */
typedef struct queue {
    /* room for `room` keys, and for twice as many: for what waits as well, from the end on down */
    uint8_t *sorted, *heap;
    size_t room, next, count, size, waits;
    uint32_t rank; /* of the key that was taken last */
} queue;

/* Bits at most: of few keys, most of the work is to count digits, and more than these cost more
   stack than they gain. */
enum { DIGIT = 8 };

/* Sorts digit by digit from the lowest on. Where the positions are in order already, as they are
   unless merges of one rank make different products, only the ranks are sorted by: keys with the
   same rank stay in order. */
static void sort_keys(uint8_t *keys, uint8_t *other, size_t count) {
    uint32_t first[1 << DIGIT];
    uint8_t *from = keys, *to = other;
    uint64_t bits = 0; /* in which two keys differ */
    size_t digits, i;
    unsigned low = 0, length = 0, passes, width, shift;
    int in_order = 1;
    for (i = 1; i < count; i++) {
        const uint64_t before = get_u64(keys + 8 * i - 8), key = get_u64(keys + 8 * i);
        bits |= key ^ before;
        in_order &= (uint32_t)before <= (uint32_t)key;
    }
    if (in_order) bits &= ~(uint64_t)NONE;
    if (!bits) return;
    while (!(bits >> low & 1)) low++;
    while (low + length < 64 && bits >> low >> length) length++;
    passes = (length + DIGIT - 1) / DIGIT;
    width = (length + passes - 1) / passes;
    digits = (size_t)1 << width;
    for (shift = low; shift < low + length; shift += width) {
        uint32_t sum = 0;
        uint8_t *swap = from;
        memset(first, 0, digits * sizeof *first);
        for (i = 0; i < count; i++) first[get_u64(from + 8 * i) >> shift & (digits - 1)]++;
        for (i = 0; i < digits; i++) {
            const uint32_t here = first[i];
            first[i] = sum;
            sum += here;
        }
        for (i = 0; i < count; i++) {
            const uint64_t key = get_u64(from + 8 * i);
            put_u64(to + 8 * (size_t)first[key >> shift & (digits - 1)]++, key);
        }
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, 8 * count);
}

static void heap_push(queue *q, uint64_t key) {
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

static void heap_pop(queue *q) {
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

/* Place of the i-th key that waits. All keys but the first ones come two a merge, and of n symbols
   n - 1 merges can be made: heap and waiting keys have room. */
static uint8_t *waiting_key(const queue *q, size_t i) {
    return q->heap + 8 * (2 * q->room - 1 - i);
}

static void queue_push(queue *q, uint64_t key) {
    if (key >> 32 <= q->rank) heap_push(q, key);
    else put_u64(waiting_key(q, q->waits++), key);
}
