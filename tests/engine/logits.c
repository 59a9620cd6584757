/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Writes the logits after each id of standard input, as floats; or the reason
   if the weights file is refused.
       logits WEIGHTS THREADS */
#include <stdio.h>
#include <stdlib.h>

#include "transformer.h"

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    unsigned char *data;
    const char *problem;
    threads *pool;
    unsigned long id;
    uint32_t position = 0;
    transformer t;
    weights w;
    long size;
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) return 2;
    rewind(file);
    data = (unsigned char *)malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) return 2;
    fclose(file);
    problem = weights_open(&w, data, (size_t)size);
    if (problem) {
        puts(problem);
        free(data);
        return 0;
    }
    pool = threads_start((uint32_t)atoi(argv[2]));
    if (!pool || !transformer_start(&t, &w, pool, w.context < 256 ? w.context : 256)) return 2;
    while (scanf("%lu", &id) == 1 && id < w.vocabulary && position < t.positions) {
        const float *logits = transformer_step(&t, (uint32_t)id, position++, 1);
        fwrite(logits, sizeof *logits, w.vocabulary, stdout);
    }
    transformer_stop(&t);
    threads_stop(pool);
    weights_close(&w);
    free(data);
    return 0;
}
