/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A mapped weights file (formats/weights): where it stores each matrix of a Llama- or Qwen3-style
   model. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

/* A matrix of rows x columns, stored row by row. float32: `values`. int8: `codes`, with one of
   `scales` for each `group` neighbours in a row; a weight is code * scale. */
typedef struct matrix {
    const float *values;
    const int8_t *codes;
    const float *scales;
    uint32_t rows, columns, group;
} matrix;

/* One transformer block. The norms of queries and keys are NULL if the model has none. */
typedef struct block {
    const float *attention_norm, *query_norm, *key_norm, *feed_norm;
    matrix query, key, value, output, gate, up, down;
} block;

typedef struct weights {
    uint32_t vocabulary, width, hidden, layers, heads, key_heads, head_size, context, group;
    float epsilon;                 /* of the norms */
    const float *rope_frequencies; /* head_size / 2 of them, in radians per position */
    matrix embedding, classifier;
    const float *final_norm;
    block *blocks;
} weights;

/* Finds all matrices in the bytes of a file, which must be aligned to 4 bytes and stay valid.
   Returns NULL, or a sentence that says what is wrong; then there is nothing to close. */
const char *weights_open(weights *w, const void *data, size_t size);

void weights_close(weights *w);

#endif
