/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "weights.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 64, ALIGNMENT = 64, QK_NORM = 1, TIED = 2 };

/* The unread part of the file. Offsets are 64-bit, so that no product of sizes overflows: each size
   is at most 2^21. */
typedef struct reader {
    const unsigned char *data;
    uint64_t size, at;
} reader;

static uint32_t u32(const unsigned char *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Takes the next `bytes`, aligned; beyond the end of the file, only the position advances. */
static const void *take(reader *r, uint64_t bytes) {
    const uint64_t begin = (r->at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    r->at = begin + bytes;
    return r->at <= r->size ? r->data + begin : NULL;
}

static const float *take_vector(reader *r, uint32_t count) {
    return (const float *)take(r, (uint64_t)count * sizeof(float));
}

static matrix take_matrix(reader *r, uint32_t rows, uint32_t columns, uint32_t group) {
    const uint64_t count = (uint64_t)rows * columns;
    matrix m = {NULL, NULL, NULL, rows, columns, group};
    if (group) {
        m.codes = (const int8_t *)take(r, count);
        m.scales = (const float *)take(r, count / group * sizeof(float));
    } else {
        m.values = (const float *)take(r, count * sizeof(float));
    }
    return m;
}

static void take_block(reader *r, const weights *w, block *b, int has_norms) {
    const uint32_t queries = w->heads * w->head_size, keys = w->key_heads * w->head_size;
    b->attention_norm = take_vector(r, w->width);
    b->query = take_matrix(r, queries, w->width, w->group);
    b->key = take_matrix(r, keys, w->width, w->group);
    b->value = take_matrix(r, keys, w->width, w->group);
    b->query_norm = has_norms ? take_vector(r, w->head_size) : NULL;
    b->key_norm = has_norms ? take_vector(r, w->head_size) : NULL;
    b->output = take_matrix(r, w->width, queries, w->group);
    b->feed_norm = take_vector(r, w->width);
    b->gate = take_matrix(r, w->hidden, w->width, w->group);
    b->up = take_matrix(r, w->hidden, w->width, w->group);
    b->down = take_matrix(r, w->width, w->hidden, w->group);
}

static const char *check(const weights *w) {
    const uint32_t sizes[] = {w->vocabulary, w->width,     w->hidden, w->layers,
                              w->heads,      w->key_heads, w->context};
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] == 0 || sizes[i] > (UINT32_C(1) << 21)) return "a size is out of range";
    }
    if (w->layers > 4096 || w->heads > 4096) return "a size is out of range";
    if (w->heads % w->key_heads) return "the heads are no multiple of the key heads";
    if (w->head_size == 0 || w->head_size % 2 || w->head_size > 4096)
        return "the size of a head is out of range";
    if (w->group &&
        (w->width % w->group || w->hidden % w->group || w->heads * w->head_size % w->group))
        return "a row is no multiple of the group";
    return NULL;
}

const char *weights_open(weights *w, const void *data, size_t size) {
    const unsigned char *header = (const unsigned char *)data;
    const union {
        uint32_t number;
        unsigned char bytes[4];
    } order = {1};
    reader r = {header, size, HEADER};
    uint32_t flags, i;
    const char *problem;
    if (!order.bytes[0]) return "this machine is not little-endian";
    if (size < HEADER || memcmp(header, "TKXMODEL", 8)) return "this is not a weights file";
    if (u32(header + 56) != (size & 0xFFFFFFFF) || u32(header + 60) != (uint64_t)size >> 32)
        return "the file is shorter or longer than its header says";
    if (u32(header + 8) != 1) return "this version of weights files is not known";
    flags = u32(header + 12);
    w->vocabulary = u32(header + 16);
    w->width = u32(header + 20);
    w->hidden = u32(header + 24);
    w->layers = u32(header + 28);
    w->heads = u32(header + 32);
    w->key_heads = u32(header + 36);
    w->head_size = u32(header + 40);
    w->context = u32(header + 44);
    w->group = u32(header + 48);
    memcpy(&w->epsilon, header + 52, sizeof w->epsilon);
    if (flags & ~(uint32_t)(QK_NORM | TIED)) return "a flag is not known";
    problem = check(w);
    if (problem) return problem;
    w->blocks = (block *)calloc(w->layers, sizeof(block));
    if (!w->blocks) return "there is not enough memory";
    w->rope_frequencies = take_vector(&r, w->head_size / 2);
    w->embedding = take_matrix(&r, w->vocabulary, w->width, w->group);
    for (i = 0; i < w->layers; i++) take_block(&r, w, &w->blocks[i], (flags & QK_NORM) != 0);
    w->final_norm = take_vector(&r, w->width);
    w->classifier =
        flags & TIED ? w->embedding : take_matrix(&r, w->vocabulary, w->width, w->group);
    if (r.at == size) return NULL;
    weights_close(w);
    return "the tensors are not of the size that the header says";
}

void weights_close(weights *w) {
    free(w->blocks);
    w->blocks = NULL;
}
