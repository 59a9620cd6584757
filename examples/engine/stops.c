/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "stops.h"

#include <string.h>

/* The length of the longest prefix of `stop` with which the held text ends. */
static size_t overlap(const stops *s, const char *stop) {
    size_t size = strlen(stop);
    if (size > s->held_size) size = s->held_size;
    while (size && memcmp(s->held + s->held_size - size, stop, size)) size--;
    return size;
}

static void write_held(stops *s, size_t size, FILE *out) {
    fwrite(s->held, 1, size, out);
    s->held_size -= size;
    memmove(s->held, s->held + size, s->held_size);
}

int stops_write(stops *s, const char *text, size_t size, FILE *out) {
    size_t i, at;
    for (at = 0; at < size; at++) {
        size_t longest = 0, whole = 0; /* of those that end here, the one that begins first */
        s->held[s->held_size++] = text[at];
        for (i = 0; i < s->count; i++) {
            const size_t same = overlap(s, s->strings[i]);
            longest = same > longest ? same : longest;
            if (s->strings[i][same] == 0 && same > whole) whole = same;
        }
        if (whole) {
            write_held(s, s->held_size - whole, out);
            s->held_size = 0;
            return 1;
        }
        write_held(s, s->held_size - longest, out);
    }
    return 0;
}

void stops_flush(stops *s, FILE *out) { write_held(s, s->held_size, out); }
