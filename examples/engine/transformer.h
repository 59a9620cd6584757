/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Llama- and Qwen3-style transformers: RMSNorm, rotary positions, grouped-query attention, SwiGLU,
   and a norm of queries and keys if the weights have one. */
#ifndef TRANSFORMER_H
#define TRANSFORMER_H

#include "matrix.h"
#include "threads.h"

/* What a conversation needs besides the weights: keys and values of all positions, and buffers for
   one step. */
typedef struct transformer {
    const weights *w;
    threads *pool;
    uint32_t positions; /* the maximum */
    float *memory;      /* all pointers below point into it */
    int8_t *codes;
    float *state, *query, *scores, *gate, *up, *logits, *keys, *values;
    vector normed, mixed; /* inputs of a matrix: output of a norm, and of attention or SwiGLU */
} transformer;

/* Returns 0 if there is not enough memory. `positions` is at most the context of the weights. */
int transformer_start(transformer *t, const weights *w, threads *pool, uint32_t positions);

/* Adds a token at a position, after those before it. Returns the logits of the next token, one for
   each id, in memory that the next step overwrites; or NULL if `wants_logits` is 0, which is
   faster. `token` must be below the size of the vocabulary, `position` below `positions`. */
const float *transformer_step(transformer *t, uint32_t token, uint32_t position, int wants_logits);

void transformer_stop(transformer *t);

#endif
