/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A mapped weights file (formats/weights): where each matrix of a Llama- or Qwen3-style model
   stands in it. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

/* A matrix of rows x columns, a row after the other. float32: `values`. int8: `codes`, and of each
   `group` neighbours in a row one of `scales`; a weight is code * scale. */
typedef struct matrix {
    const float *values;
    const int8_t *codes;
    const float *scales;
    uint32_t rows, columns, group;
} matrix;

/* One transformer block. The norms of queries and keys are NULL where the model has none. */
typedef struct block {
    const float *attention_norm, *query_norm, *key_norm, *feed_norm;
    matrix query, key, value, output, gate, up, down;
} block;

typedef struct weights {
    uint32_t vocabulary, width, hidden, layers, heads, key_heads, head_size, context, group;
    float epsilon;                 /* of the norms */
    const float *rope_frequencies; /* head_size / 2 of them, in radians a position */
    matrix embedding, classifier;
    const float *final_norm;
    block *blocks;
} weights;

/* Finds everything in the bytes of a file, which are aligned to 4 bytes and stay. Returns NULL, or
   a sentence on what is wrong, in which case nothing is to be closed. */
const char *weights_open(weights *w, const void *data, size_t size);

void weights_close(weights *w);

#endif
