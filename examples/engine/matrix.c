/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "matrix.h"

#include <math.h>
#include <string.h>

/* Four numbers added with one instruction: a compiler may not reorder a sum on its own. */
#ifdef __GNUC__
typedef float lanes __attribute__((vector_size(16)));
#else
typedef struct lanes {
    float number[4];
} lanes;
#endif

enum { LANES = 4, SUMS = 4 }; /* four sums, since each addition waits for the one before */

void quantize(vector *x, uint32_t size, uint32_t group) {
    uint32_t begin, i;
    for (begin = 0; group && begin < size; begin += group) {
        float largest = 0, scale, inverse;
        for (i = begin; i < begin + group; i++) {
            const float magnitude = fabsf(x->values[i]);
            largest = magnitude > largest ? magnitude : largest;
        }
        scale = largest / 127.0f;
        inverse = scale > 0 ? 1 / scale : 0;
        x->scales[begin / group] = scale;
        for (i = begin; i < begin + group; i++)
            x->codes[i] = (int8_t)lrintf(x->values[i] * inverse);
    }
}

static void add_products(lanes *sum, const float *a, const float *b) {
#ifdef __GNUC__
    lanes x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    *sum += x * y;
#else
    int i;
    for (i = 0; i < LANES; i++) sum->number[i] += a[i] * b[i];
#endif
}

static float dot(const float *a, const float *b, uint32_t size) {
    lanes sums[SUMS];
    float parts[LANES * SUMS], sum = 0;
    uint32_t i = 0, part;
    memset(sums, 0, sizeof sums);
    for (; i + LANES * SUMS <= size; i += LANES * SUMS) {
        for (part = 0; part < SUMS; part++)
            add_products(sums + part, a + i + part * LANES, b + i + part * LANES);
    }
    for (; i < size; i++) sum += a[i] * b[i];
    memcpy(parts, sums, sizeof parts);
    for (part = 0; part < LANES * SUMS; part++) sum += parts[part];
    return sum;
}

/* The sum of two products fits into 16 bits: codes of x are at most 127, those of a at most 128. */
static int32_t dot_of_group(const int8_t *a, const int8_t *x, uint32_t size) {
    const uint32_t half = size / 2;
    int32_t sum = size % 2 ? a[size - 1] * x[size - 1] : 0;
    uint32_t i;
    for (i = 0; i < half; i++) sum += (int16_t)(a[i] * x[i] + a[half + i] * x[half + i]);
    return sum;
}

static float dot_of_codes(const int8_t *a, const float *a_scales, const vector *x, uint32_t size,
                          uint32_t group) {
    float sum = 0;
    uint32_t begin;
    for (begin = 0; begin < size; begin += group) {
        const int32_t whole = dot_of_group(a + begin, x->codes + begin, group);
        sum += (float)whole * a_scales[begin / group] * x->scales[begin / group];
    }
    return sum;
}

void multiply_rows(const matrix *m, const vector *x, float *out, uint32_t begin, uint32_t end) {
    uint32_t row;
    for (row = begin; row < end; row++) {
        const size_t at = (size_t)row * m->columns;
        out[row] = m->group ? dot_of_codes(m->codes + at, m->scales + at / m->group, x, m->columns,
                                           m->group)
                            : dot(m->values + at, x->values, m->columns);
    }
}

void copy_row(const matrix *m, uint32_t row, float *out) {
    const size_t at = (size_t)row * m->columns;
    uint32_t i;
    if (!m->group) {
        memcpy(out, m->values + at, m->columns * sizeof(float));
        return;
    }
    for (i = 0; i < m->columns; i++)
        out[i] = (float)m->codes[at + i] * m->scales[(at + i) / m->group];
}
