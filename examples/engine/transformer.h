/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Llama- and Qwen3-style transformers: RMSNorm, rotary positions, grouped-query attention, SwiGLU,
   and a norm of queries and keys where the weights have one. */
#ifndef TRANSFORMER_H
#define TRANSFORMER_H

#include "matrix.h"
#include "threads.h"

/* What a conversation needs besides the weights: keys and values of all positions, and room for one
   step. */
typedef struct transformer {
    const weights *w;
    threads *pool;
    uint32_t positions; /* at most so many */
    float *memory;      /* all that follows is a part of it */
    int8_t *codes;
    float *state, *query, *scores, *gate, *up, *logits, *keys, *values;
    vector normed, mixed; /* inputs of a matrix: a norm's output, and that of attention or SwiGLU */
} transformer;

/* 0 where there is not enough memory. `positions` is at most the weights' context. */
int transformer_start(transformer *t, const weights *w, threads *pool, uint32_t positions);

/* Adds a token at a position; those before it have been added. Returns the logits of the next one,
   one for each id, in memory that the next step overwrites; NULL with `wants_logits` 0, which is
   faster. `token` is below the vocabulary's size, `position` below `positions`. */
const float *transformer_step(transformer *t, uint32_t token, uint32_t position, int wants_logits);

void transformer_stop(transformer *t);

#endif
