/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Chooses the next token from logits. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdint.h>

typedef struct candidate {
    float logit;
    uint32_t id;
} candidate;

typedef struct sampler {
    float temperature; /* 0: always the largest logit */
    uint32_t top_k;    /* of the k largest; 0: of all */
    float top_p;       /* of the fewest whose probabilities sum to p; 1: of all */
    uint64_t seed;     /* not 0; each draw changes it */
    candidate *room;   /* for as many as there are ids */
} sampler;

/* The id that is chosen; equal logits go to the smaller id. */
uint32_t sample(sampler *s, const float *logits, uint32_t count);

#endif
