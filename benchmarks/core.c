/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* What benchmarks/core.py measures: the C core alone, without a word cache, on many documents. */
#include "tokexport.h"

/* Encodes documents, of which the i-th is the bytes from ends[i - 1] to ends[i] of a text: their
   ids one after the other, and to made[i] where those of the i-th end. */
TKX_API int encode_documents(const void *file, size_t file_size, const char *text,
                             const size_t *ends, size_t documents, uint32_t *ids, size_t capacity,
                             size_t *made) {
    static unsigned char memory[1 << 16];
    const tkx_work work = {memory, sizeof memory, NULL, 0};
    size_t i, from = 0, used = 0, count;
    tkx t;
    int code = tkx_open(&t, file, file_size);
    for (i = 0; i < documents && code == TKX_OK; from = ends[i++]) {
        code =
            tkx_encode(&t, text + from, ends[i] - from, ids + used, capacity - used, &count, &work);
        made[i] = used += count;
    }
    return code;
}
