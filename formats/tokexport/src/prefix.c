/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- prefix.c: ids by prefix (SORT) ---------------------------------------------------------- */

/* The byte at a depth of the index-th id in SORT; -1 if the id is shorter, -2 if it is damaged. */
static int sorted_byte(const tkx *t, uint32_t index, uint32_t depth) {
    const uint8_t *bytes;
    size_t length;
    if (tkx_token_bytes(t, number_at(t->sorted.data + 4 * (size_t)index), &bytes, &length))
        return -2;
    return depth < length ? bytes[depth] : -1;
}

/* Moves r->begin to the first id in the range whose byte at its depth is not below `byte`, or to
   the end of the range. TKX_OK or TKX_E_CORRUPT. */
static int skip_below(const tkx *t, tkx_prefix *r, int byte) {
    uint32_t end = r->end;
    while (r->begin < end) {
        const uint32_t middle = r->begin + (end - r->begin) / 2;
        const int found = sorted_byte(t, middle, r->depth);
        if (found == -2) return TKX_E_CORRUPT;
        if (found < byte) r->begin = middle + 1;
        else end = middle;
    }
    return TKX_OK;
}

/* Checks that there is SORT, and that a range is within it. */
static int check_range(const tkx *t, const tkx_prefix *r) {
    if (!t || !r) return TKX_E_ARGUMENT;
    if (!t->sorted.data) return TKX_E_NOT_FOUND;
    return r->begin <= r->end && r->end <= t->token_count ? TKX_OK : TKX_E_ARGUMENT;
}

int tkx_prefix_step(const tkx *t, tkx_prefix *range, uint8_t byte) {
    tkx_prefix after;
    int code = check_range(t, range);
    if (code != TKX_OK) return code;
    code = skip_below(t, range, byte);
    after = *range;
    if (code == TKX_OK) code = skip_below(t, &after, byte + 1);
    range->end = code == TKX_OK ? after.begin : range->begin;
    range->depth++;
    return code;
}

int tkx_prefix_ids(const tkx *t, const void *prefix, size_t size, tkx_prefix *range) {
    size_t i;
    int code = TKX_OK;
    if (!t || !range || (!prefix && size)) return TKX_E_ARGUMENT;
    *range = (tkx_prefix){0, t->sorted.data ? t->token_count : 0, 0};
    if (!t->sorted.data) return TKX_E_NOT_FOUND;
    for (i = 0; i < size && code == TKX_OK && range->begin < range->end; i++)
        code = tkx_prefix_step(t, range, ((const uint8_t *)prefix)[i]);
    return code;
}

int tkx_prefix_next(const tkx *t, const tkx_prefix *range, uint32_t from, uint8_t *byte) {
    tkx_prefix rest;
    int code = check_range(t, range), found;
    if (!byte) return TKX_E_ARGUMENT;
    *byte = 0;
    if (code != TKX_OK) return code;
    rest = *range;
    code = from < 256 ? skip_below(t, &rest, (int)from) : TKX_E_NOT_FOUND;
    if (code != TKX_OK) return code;
    if (rest.begin == rest.end) return TKX_E_NOT_FOUND;
    found = sorted_byte(t, rest.begin, rest.depth);
    if (found < (int)from) return TKX_E_CORRUPT;
    *byte = (uint8_t)found;
    return TKX_OK;
}

int tkx_prefix_id(const tkx *t, uint32_t index, uint32_t *id) {
    if (!t || !id) return TKX_E_ARGUMENT;
    *id = TKX_NONE;
    if (!t->sorted.data || index >= t->token_count) return TKX_E_NOT_FOUND;
    *id = number_at(t->sorted.data + 4 * (size_t)index);
    if (*id < t->id_count) return TKX_OK;
    *id = TKX_NONE;
    return TKX_E_CORRUPT;
}
