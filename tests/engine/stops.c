/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Writes the arguments after "--" as parts of a text, up to the first of the stop strings
   before "--"; then a line that says whether one was found.
       stops STOP... -- PART... */
#include "stops.h"

#include <string.h>

int main(int argc, char **argv) {
    stops s = {{NULL}, 0, {0}, 0};
    int i = 1, ended = 0;
    for (; i < argc && strcmp(argv[i], "--"); i++) s.strings[s.count++] = argv[i];
    for (i++; i < argc && !ended; i++) ended = stops_write(&s, argv[i], strlen(argv[i]), stdout);
    if (!ended) stops_flush(&s, stdout);
    puts(ended ? "|stopped" : "|");
    return 0;
}
