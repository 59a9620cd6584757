/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* The stages of the core without its encoder: the ends of the pre-tokens of a text. */

#include "tokexport.c"

/* Writes the ends, and returns their number; SIZE_MAX on an error. `ends` has room for one per byte
   of the text. */
size_t core_splits(const void *file, size_t file_size, const uint8_t *text, size_t size,
                   uint32_t *ends, void *memory, size_t memory_size) {
    static tkx t;
    static tkx_context ctx;
    static tkx_splitter splitters[TKX_MAX_STAGES];
    uint32_t level = 0;
    tkx_pretoken p;
    if (tkx_open(&t, file, file_size) != TKX_OK || t.stage_count == 0) return SIZE_MAX;
    memset(&ctx, 0, sizeof ctx);
    ctx.t = &t;
    ctx.memory = memory;
    ctx.memory_size = memory_size;
    ctx.text.begin = ctx.text.base = text;
    ctx.text.limit = text + size;
    splitter_start(&splitters[0], &ctx, &t.stages[0], text, text + size);
    for (;;) {
        if (ctx.code != TKX_OK) return SIZE_MAX;
        if (!next_pretoken(&splitters[level], &ctx, &p)) {
            ctx.memory_used = splitters[level].outer_used;
            if (level == 0) return ctx.code == TKX_OK ? ctx.count : SIZE_MAX;
            level--;
        } else if (level + 1 < t.stage_count) {
            const tkx_memo *m = &splitters[level].m;
            work_release(&ctx, m->mark + (size_t)memo_size(m, m->limit));
            level++;
            splitter_start(&splitters[level], &ctx, &t.stages[level], p.from, p.to);
        } else {
            ends[ctx.count++] = (uint32_t)(p.to - text);
        }
    }
}
