/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "sampler.h"

#include <math.h>
#include <stdlib.h>

/* Uniform in [0, 1): xorshift64* (Vigna, 2016). */
static float draw(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (float)((*seed * UINT64_C(0x2545F4914F6CDD1D)) >> 40) / 16777216.0f;
}

static int by_logit(const void *left, const void *right) {
    const candidate *a = (const candidate *)left, *b = (const candidate *)right;
    if (a->logit != b->logit) return a->logit > b->logit ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint32_t largest(const float *logits, uint32_t count) {
    uint32_t best = 0, i;
    for (i = 1; i < count; i++) {
        if (logits[i] > logits[best]) best = i;
    }
    return best;
}

/* Moves the candidate at `at` down a heap, whose first element is the worst, to its position. */
static void sift(candidate *heap, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t worst = at, child = 2 * at + 1, end = child + 2;
        candidate moved;
        for (; child < end && child < count; child++) {
            if (by_logit(&heap[child], &heap[worst]) > 0) worst = child;
        }
        if (worst == at) return;
        moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

/* Selects the best `wanted` of all ids, best first. */
static void select_best(candidate *room, const float *logits, uint32_t count, uint32_t wanted) {
    uint32_t i;
    for (i = 0; i < wanted; i++) room[i] = (candidate){logits[i], i};
    if (wanted < count) {
        for (i = wanted / 2; i-- > 0;) sift(room, wanted, i);
        for (i = wanted; i < count; i++) {
            const candidate next = {logits[i], i};
            if (by_logit(&next, &room[0]) < 0) {
                room[0] = next;
                sift(room, wanted, 0);
            }
        }
    }
    qsort(room, wanted, sizeof *room, by_logit);
}

uint32_t sample(sampler *s, const float *logits, uint32_t count) {
    uint32_t wanted = s->top_k && s->top_k < count ? s->top_k : count, i;
    float first, sum = 0, reached = 0, target;
    if (s->temperature <= 0) return largest(logits, count);
    select_best(s->room, logits, count, wanted);
    first = s->room[0].logit;
    for (i = 0; i < wanted; i++) {
        s->room[i].logit = expf((s->room[i].logit - first) / s->temperature);
        sum += s->room[i].logit;
    }
    for (i = 0; i < wanted && reached < s->top_p * sum; i++) reached += s->room[i].logit;
    wanted = i ? i : 1;
    target = draw(&s->seed) * (reached > 0 ? reached : s->room[0].logit);
    for (i = 0; i + 1 < wanted && target >= s->room[i].logit; i++) target -= s->room[i].logit;
    return s->room[i].id;
}
