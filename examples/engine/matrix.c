/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "matrix.h"

#include <math.h>
#include <string.h>

enum { LANES = 32 }; /* two vectors of 512 bits, or four of 256 */

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

/* Sums in LANES parts, which the compiler keeps in vectors without being allowed to reorder. */
static float dot(const float *a, const float *b, uint32_t size) {
    float sums[LANES] = {0}, sum = 0;
    uint32_t i = 0, lane;
    for (; i + LANES <= size; i += LANES) {
        for (lane = 0; lane < LANES; lane++) sums[lane] += a[i + lane] * b[i + lane];
    }
    for (; i < size; i++) sum += a[i] * b[i];
    for (lane = 0; lane < LANES; lane++) sum += sums[lane];
    return sum;
}

static float dot_of_codes(const int8_t *a, const float *a_scales, const vector *x, uint32_t size,
                          uint32_t group) {
    float sum = 0;
    uint32_t begin, i;
    for (begin = 0; begin < size; begin += group) {
        int32_t whole = 0;
        for (i = begin; i < begin + group; i++) whole += (int32_t)a[i] * x->codes[i];
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
