/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Ends a text at the first of some stop strings, wherever the tokens cut it: text that may be the
   begin of one is held back until it is known. */
#ifndef STOPS_H
#define STOPS_H

#include <stddef.h>
#include <stdio.h>

enum { MAX_STOPS = 16, MAX_STOP_SIZE = 256 };

typedef struct stops {
    const char *strings[MAX_STOPS]; /* none is empty, or longer than MAX_STOP_SIZE */
    size_t count;
    char held[MAX_STOP_SIZE];
    size_t held_size;
} stops;

/* Writes what of the held text and `text` is certain. Returns 1 where a stop string has come:
   nothing of it is written, nor what follows. */
int stops_write(stops *s, const char *text, size_t size, FILE *out);

/* Writes what is held back, as the end of the text. */
void stops_flush(stops *s, FILE *out);

#endif
