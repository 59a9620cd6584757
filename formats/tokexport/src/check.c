/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- check.c: checks ------------------------------------------------------------------------- */

int tkx_check(const tkx *t) {
    uint32_t tables[4][256], i;
    const uint8_t *end;
    if (!t || !t->data) return TKX_E_ARGUMENT;
    crc_tables(tables);
    end = section_entry(t, t->section_count);
    for (i = 0; i < t->section_count; i++) {
        const tkx_span s = section_span(t, i);
        if (crc_large(tables, s.data, s.size) != load_u32(section_entry(t, i) + 24))
            return TKX_E_CRC;
        for (; end < s.data; end++) {
            if (*end) return TKX_E_PADDING;
        }
        end = s.data + s.size;
    }
    return TKX_OK;
}

/* One case of the self test. */
static int run_case(const tkx *t, const uint8_t *entry, const uint8_t *expected,
                    const uint8_t *texts, uint32_t *ids, size_t capacity, const tkx_work *work) {
    uint32_t offset = load_u32(entry), length = load_u32(entry + 4), first = load_u32(entry + 8),
             id_count = load_u32(entry + 12);
    uint32_t text_size = (uint32_t)field(t->self_test, 8), all = (uint32_t)field(t->self_test, 4);
    size_t count, i;
    int code;
    if (offset > text_size || length > text_size - offset || first > all || id_count > all - first)
        return TKX_E_CORRUPT;
    if (id_count > capacity) return TKX_E_IDS;
    code = encode_as(load_u32(entry + 16) & CASE_SPECIAL, t, texts + offset, length, ids, capacity,
                     &count, work);
    if (code == TKX_E_UTF8 || (code == TKX_E_ARGUMENT && length > MAX_TEXT)) return TKX_E_CORRUPT;
    if (code == TKX_E_IDS) return TKX_E_SELF_TEST;
    if (code != TKX_OK) return code;
    if (count != id_count) return TKX_E_SELF_TEST;
    for (i = 0; i < count; i++) {
        if (ids[i] != load_u32(expected + 4 * (first + i))) return TKX_E_SELF_TEST;
    }
    return TKX_OK;
}

int tkx_selftest(const tkx *t, uint32_t *ids, size_t capacity, size_t *count,
                 const tkx_work *work) {
    const uint8_t *cases, *expected, *texts;
    uint32_t case_count, i;
    if (!t || !count || (!ids && capacity)) return TKX_E_ARGUMENT;
    *count = 0;
    if (!t->self_test.data) return TKX_E_NOT_FOUND;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    case_count = (uint32_t)field(t->self_test, 0);
    cases = t->self_test.data + 16;
    expected = cases + CASE_SIZE * (size_t)case_count;
    texts = expected + 4 * (size_t)field(t->self_test, 4);
    for (i = 0; i < case_count; i++) {
        int code = run_case(t, cases + CASE_SIZE * (size_t)i, expected, texts, ids, capacity, work);
        *count = i;
        if (code != TKX_OK) return code;
    }
    *count = case_count;
    return TKX_OK;
}
