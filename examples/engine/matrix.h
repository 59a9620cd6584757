/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Matrix times vector, which takes nearly all of the time of a model. */
#ifndef MATRIX_H
#define MATRIX_H

#include "weights.h"

/* A vector, also in groups of int8 if the weights are int8. */
typedef struct vector {
    float *values;
    int8_t *codes;
    float *scales;
} vector;

/* Fills codes and scales from values: symmetric, with the largest of each group becoming 127.
   `size` is a multiple of `group`. For float32 weights `group` is 0, and nothing is done. */
void quantize(vector *x, uint32_t size, uint32_t group);

/* out[row] = row of m times x, for begin <= row < end. */
void multiply_rows(const matrix *m, const vector *x, float *out, uint32_t begin, uint32_t end);

/* A row of m, as float32. */
void copy_row(const matrix *m, uint32_t row, float *out);

#endif
