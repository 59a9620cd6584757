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
    uint32_t top_k;    /* sample from the k largest logits; 0: from all */
    float top_p;       /* from the fewest ids whose probabilities sum to p; 1: from all */
    uint64_t seed;     /* not 0; each draw changes it */
    candidate *room;   /* one for each id */
} sampler;

/* Samples an id; of equal logits, the smaller id is preferred. */
uint32_t sample(sampler *s, const float *logits, uint32_t count);

#endif
