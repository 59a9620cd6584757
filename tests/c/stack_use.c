/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Prints the maximum C stack that the runtime has used: stack_use FILE...

   The stack below main is filled with a pattern before each call, and examined after it. */

#include "support.h"

enum { PAINTED = 1 << 16, MAX_SIZE = 3000 };

static uintptr_t bottom;

/* Not inlined, so that its array is where the frames of a call will be. */
static __attribute__((noinline)) void paint(void) {
    volatile uint8_t area[PAINTED];
    size_t i;
    for (i = 0; i < PAINTED; i++) area[i] = 0xA5;
    bottom = (uintptr_t)area;
}

static size_t used(void) {
    const volatile uint8_t *area = (const volatile uint8_t *)bottom;
    size_t i = 0;
    while (i < PAINTED && area[i] == 0xA5) i++;
    return PAINTED - i;
}

int main(int argc, char **argv) {
    static uint8_t text[MAX_SIZE], memory[1 << 22], out[1 << 18];
    static uint32_t ids[12 * MAX_SIZE], spans[24 * MAX_SIZE];
    static const tkx_work work = {memory, sizeof memory, NULL, 0};
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    size_t maximum = 0, count, size;
    int i, round;
    for (i = 1; i < argc; i++) {
        uint8_t *data = read_file(argv[i], &size);
        tkx t;
        paint();
        CHECK(tkx_open(&t, data, size) == TKX_OK);
        tkx_check(&t);
        maximum = used() > maximum ? used() : maximum;
        for (round = 0; t.splits.data && round < 20; round++) {
            size = random_text(&t, &state, text, MAX_SIZE);
            paint();
            tkx_encode_spans(&t, text, size, NULL, TKX_ALL, TKX_CHARACTERS, ids, spans,
                             12 * MAX_SIZE, &count, &work);
            tkx_encode_with_template(&t, text, size, 1, ids, 12 * MAX_SIZE, &count, &work);
            tkx_decode_text(&t, ids, count, out, sizeof out, &count);
            maximum = used() > maximum ? used() : maximum;
        }
        free(data);
    }
    printf("%lu\n", (unsigned long)maximum);
    return 0;
}
