/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Ends a text at the first of several stop strings, wherever token boundaries are: text that may be
   the beginning of a stop string is held back until this is decided. */
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

/* Writes as much of the held text and `text` as cannot be part of a stop string. Returns 1 if a
   stop string was found: neither it nor what follows is written. */
int stops_write(stops *s, const char *text, size_t size, FILE *out);

/* Writes what is held back, as the end of the text. */
void stops_flush(stops *s, FILE *out);

#endif
