/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- selftest.c: texts with the ids of the reference library (TEST) -------------------------- */

enum { CASE_BYTES = 20, CASE_TAKES_SPECIAL = 1 };

/* Runs a case. TEST has `all` ids and `text_size` bytes of text, which the case must be within. */
static int run_case(const tkx *t, const uint8_t *entry, const uint8_t *expected, uint32_t all,
                    const uint8_t *texts, uint32_t text_size, uint32_t *ids, size_t capacity,
                    const tkx_work *work) {
    const uint32_t offset = number_at(entry), length = number_at(entry + 4),
                   first = number_at(entry + 8), id_count = number_at(entry + 12);
    size_t count, i;
    int code;
    if (offset > text_size || length > text_size - offset || first > all || id_count > all - first)
        return TKX_E_CORRUPT;
    if (id_count > capacity) return TKX_E_IDS;
    code = (number_at(entry + 16) & CASE_TAKES_SPECIAL ? tkx_encode_special : tkx_encode)(
        t, texts + offset, length, ids, capacity, &count, work);
    if (code == TKX_E_UTF8 || code == TKX_E_ARGUMENT) return TKX_E_CORRUPT;
    if (code == TKX_E_IDS) return TKX_E_SELF_TEST;
    if (code != TKX_OK) return code;
    for (i = 0; i < count && count == id_count; i++)
        if (ids[i] != number_at(expected + 4 * (first + i))) return TKX_E_SELF_TEST;
    return count == id_count ? TKX_OK : TKX_E_SELF_TEST;
}

int tkx_selftest(const tkx *t, uint32_t *ids, size_t capacity, size_t *count,
                 const tkx_work *work) {
    const uint8_t *head, *cases, *expected, *texts;
    uint32_t case_count, all;
    if (!t || !count || (!ids && capacity)) return TKX_E_ARGUMENT;
    *count = 0;
    if (!t->self_test.data) return TKX_E_NOT_FOUND;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    head = t->self_test.data;
    case_count = number_at(head);
    all = number_at(head + 4);
    cases = head + 16;
    expected = cases + CASE_BYTES * (size_t)case_count;
    texts = expected + 4 * (size_t)all;
    for (; *count < case_count; ++*count) {
        const int code = run_case(t, cases + CASE_BYTES * *count, expected, all, texts,
                                  number_at(head + 8), ids, capacity, work);
        if (code != TKX_OK) return code;
    }
    return TKX_OK;
}
