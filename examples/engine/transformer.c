/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "transformer.h"

#include <math.h>
#include <stdlib.h>

/* Takes the next `count` elements of an array that is divided into parts. */
static float *part(float **next, size_t count) {
    float *begin = *next;
    *next += count;
    return begin;
}

int transformer_start(transformer *t, const weights *w, threads *pool, uint32_t positions) {
    const size_t queries = (size_t)w->heads * w->head_size,
                 keys = (size_t)w->key_heads * w->head_size;
    const size_t cache = (size_t)w->layers * positions * keys;
    const size_t widest = queries > w->hidden ? queries : w->hidden;
    const size_t scales = w->group ? (w->width + widest) / w->group : 0;
    float *next;
    t->w = w;
    t->pool = pool;
    t->positions = positions;
    t->memory =
        (float *)calloc(2 * (size_t)w->width + queries + (size_t)w->heads * positions +
                            2 * (size_t)w->hidden + w->vocabulary + widest + scales + 2 * cache,
                        sizeof(float));
    t->codes = (int8_t *)calloc(w->width + widest, 1);
    if (!t->memory || !t->codes) return transformer_stop(t), 0;
    next = t->memory;
    t->state = part(&next, w->width);
    t->normed.values = part(&next, w->width);
    t->mixed.values = part(&next, widest);
    t->query = part(&next, queries);
    t->scores = part(&next, (size_t)w->heads * positions);
    t->gate = part(&next, w->hidden);
    t->up = part(&next, w->hidden);
    t->logits = part(&next, w->vocabulary);
    t->keys = part(&next, cache);
    t->values = part(&next, cache);
    t->normed.codes = t->codes;
    t->mixed.codes = t->codes + w->width;
    t->normed.scales = next;
    t->mixed.scales = w->group ? next + w->width / w->group : next;
    return 1;
}

void transformer_stop(transformer *t) {
    free(t->memory);
    free(t->codes);
    t->memory = NULL;
    t->codes = NULL;
}

/* out = x / sqrt(mean(x^2) + epsilon) * weight; out may be x. */
static void rms_norm(const float *x, const float *weight, float epsilon, uint32_t size,
                     float *out) {
    float sum = 0, scale;
    uint32_t i;
    for (i = 0; i < size; i++) sum += x[i] * x[i];
    scale = 1 / sqrtf(sum / (float)size + epsilon);
    for (i = 0; i < size; i++) out[i] = x[i] * scale * weight[i];
}

/* Rotates the pairs (i, i + size / 2) of a head by the angles of its position. */
static void rotate(const weights *w, uint32_t position, float *head) {
    const uint32_t half = w->head_size / 2;
    uint32_t i;
    for (i = 0; i < half; i++) {
        const float angle = (float)position * w->rope_frequencies[i];
        const float cosine = cosf(angle), sine = sinf(angle), a = head[i], b = head[i + half];
        head[i] = a * cosine - b * sine;
        head[i + half] = b * cosine + a * sine;
    }
}

/* Up to three matrices times the same vector, as one task over all of their rows. */
typedef struct products {
    const matrix *matrices[3];
    float *outs[3];
    const vector *x;
    uint32_t count;
} products;

static void multiply_share(void *context, uint32_t begin, uint32_t end) {
    const products *p = (const products *)context;
    uint32_t i, first = 0;
    for (i = 0; i < p->count; i++) {
        const uint32_t rows = p->matrices[i]->rows, last = first + rows;
        const uint32_t from = begin > first ? begin - first : 0;
        const uint32_t to = end < last ? end - first : rows;
        if (begin < last && end > first) multiply_rows(p->matrices[i], p->x, p->outs[i], from, to);
        first = last;
    }
}

static void multiply(transformer *t, products *p) {
    uint32_t i, rows = 0;
    for (i = 0; i < p->count; i++) rows += p->matrices[i]->rows;
    threads_run(t->pool, multiply_share, p, rows);
}

typedef struct attention {
    transformer *t;
    const float *keys, *values; /* of the block, from position 0 on */
    uint32_t position;
} attention;

/* Scaled dot-product attention for some heads, over the positions so far. */
static void attend(void *context, uint32_t begin, uint32_t end) {
    const attention *a = (const attention *)context;
    const weights *w = a->t->w;
    const uint32_t size = w->head_size, stride = w->key_heads * size;
    const float scale = 1 / sqrtf((float)size);
    uint32_t head, p, i;
    for (head = begin; head < end; head++) {
        const size_t shared = (size_t)(head / (w->heads / w->key_heads)) * size;
        const float *query = a->t->query + (size_t)head * size;
        float *scores = a->t->scores + (size_t)head * a->t->positions;
        float *out = a->t->mixed.values + (size_t)head * size;
        float largest = -INFINITY, sum = 0;
        for (p = 0; p <= a->position; p++) {
            const float *key = a->keys + (size_t)p * stride + shared;
            float score = 0;
            for (i = 0; i < size; i++) score += query[i] * key[i];
            scores[p] = score * scale;
            largest = scores[p] > largest ? scores[p] : largest;
        }
        for (p = 0; p <= a->position; p++) {
            scores[p] = expf(scores[p] - largest);
            sum += scores[p];
        }
        for (i = 0; i < size; i++) out[i] = 0;
        for (p = 0; p <= a->position; p++) {
            const float *value = a->values + (size_t)p * stride + shared;
            const float weight = scores[p] / sum;
            for (i = 0; i < size; i++) out[i] += weight * value[i];
        }
    }
}

/* Adds m times x to the state. */
static void add_product(transformer *t, const matrix *m, vector *x, float *room) {
    products p = {{m, NULL, NULL}, {room, NULL, NULL}, x, 1};
    uint32_t i;
    quantize(x, m->columns, m->group);
    multiply(t, &p);
    for (i = 0; i < m->rows; i++) t->state[i] += room[i];
}

static void run_attention(transformer *t, uint32_t layer, uint32_t position) {
    const weights *w = t->w;
    const block *b = &w->blocks[layer];
    const size_t stride = (size_t)w->key_heads * w->head_size;
    const size_t first = (size_t)layer * t->positions * stride, here = first + position * stride;
    products p = {{&b->query, &b->key, &b->value},
                  {t->query, t->keys + here, t->values + here},
                  &t->normed,
                  3};
    attention a = {t, t->keys + first, t->values + first, position};
    uint32_t i;
    rms_norm(t->state, b->attention_norm, w->epsilon, w->width, t->normed.values);
    quantize(&t->normed, w->width, w->group);
    multiply(t, &p);
    for (i = 0; i < w->heads + w->key_heads; i++) {
        const int is_query = i < w->heads;
        const float *norm = is_query ? b->query_norm : b->key_norm;
        float *head = is_query ? t->query + (size_t)i * w->head_size
                               : t->keys + here + (size_t)(i - w->heads) * w->head_size;
        if (norm) rms_norm(head, norm, w->epsilon, w->head_size, head);
        rotate(w, position, head);
    }
    threads_run(t->pool, attend, &a, w->heads);
    add_product(t, &b->output, &t->mixed, t->normed.values);
}

static void run_feed_forward(transformer *t, const block *b) {
    const weights *w = t->w;
    products p = {{&b->gate, &b->up, NULL}, {t->gate, t->up, NULL}, &t->normed, 2};
    uint32_t i;
    rms_norm(t->state, b->feed_norm, w->epsilon, w->width, t->normed.values);
    quantize(&t->normed, w->width, w->group);
    multiply(t, &p);
    for (i = 0; i < w->hidden; i++) /* SwiGLU: the gate through SiLU */
        t->mixed.values[i] = t->gate[i] / (1 + expf(-t->gate[i])) * t->up[i];
    add_product(t, &b->down, &t->mixed, t->normed.values);
}

const float *transformer_step(transformer *t, uint32_t token, uint32_t position, int wants_logits) {
    const weights *w = t->w;
    products last = {{&w->classifier, NULL, NULL}, {t->logits, NULL, NULL}, &t->normed, 1};
    uint32_t layer;
    copy_row(&w->embedding, token, t->state);
    for (layer = 0; layer < w->layers; layer++) {
        run_attention(t, layer, position);
        run_feed_forward(t, &w->blocks[layer]);
    }
    if (!wants_logits) return NULL;
    rms_norm(t->state, w->final_norm, w->epsilon, w->width, t->normed.values);
    quantize(&t->normed, w->width, w->group);
    multiply(t, &last);
    return t->logits;
}
