/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- stream.c: encoding a stream ------------------------------------------------------------- */

int tkx_encoder_init(tkx_encoder *e, const tkx *t, int special, void *window, size_t window_size,
                     const tkx_work *work) {
    if (!e || !t || !window || window_size == 0 || window_size > MAX_TEXT) return TKX_E_ARGUMENT;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    *e = (tkx_encoder){t, work, (uint8_t *)window, window_size, 0, special != 0, 0, 0};
    return TKX_OK;
}

/* Encodes and removes the first `size` bytes of the window. On an error nothing is changed. */
static int encode_window(tkx_encoder *e, size_t size, uint32_t *ids, size_t capacity,
                         size_t *count) {
    const int code = encode_bits(e->special, NULL, 0, &e->sum, e->t, e->window, size, ids, capacity,
                                 count, e->work);
    if (code != TKX_OK) return code;
    e->used -= size;
    memmove(e->window, e->window + size, e->used);
    return TKX_OK;
}

int tkx_encoder_feed(tkx_encoder *e, const void *text, size_t size, size_t *taken, uint32_t *ids,
                     size_t capacity, size_t *count) {
    size_t old, searched, cut;
    int code;
    if (!e || !e->t || !taken || !count || (!text && size) || (!ids && capacity))
        return TKX_E_ARGUMENT;
    *taken = *count = 0;
    if (e->finished) return TKX_E_STATE;
    if (capacity / 3 < e->window_size) {
        *count = 3 * e->window_size;
        return TKX_E_IDS;
    }
    if (size == 0) return TKX_OK;
    old = e->used;
    size = smaller(size, e->window_size - old);
    memcpy(e->window + old, text, size);
    e->used += size;
    /* a cut up to `old` would have been found by an earlier call */
    searched = old ? old - 1 : 0;
    cut = last_cut(e->t, e->window + searched, e->used - searched);
    if (cut == 0) {
        *taken = size;
        return size == 0 ? TKX_E_WINDOW : TKX_OK;
    }
    code = encode_window(e, searched + cut, ids, capacity, count);
    if (code == TKX_OK) *taken = size;
    else e->used = old;
    return code;
}

int tkx_encoder_finish(tkx_encoder *e, uint32_t *ids, size_t capacity, size_t *count) {
    int code;
    if (!e || !e->t || !count || (!ids && capacity)) return TKX_E_ARGUMENT;
    *count = 0;
    if (e->finished) return TKX_E_STATE;
    code = encode_window(e, e->used, ids, capacity, count);
    if (code == TKX_OK) e->finished = 1;
    return code;
}
