/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Checks the promises of tokexport.h about encoding on a good file: work memory, caches, streams,
   cuts, spans and long texts. */

#ifndef ENCODING_H
#define ENCODING_H

#include "support.h"

enum { MAX_TEXT = 400, MAX_IDS = 12 * MAX_TEXT + 8 };

static int encode(const tkx *t, int special, const uint8_t *text, size_t size, uint32_t *ids,
                  size_t capacity, size_t *count, const tkx_work *work) {
    return (special ? tkx_encode_special : tkx_encode)(t, text, size, ids, capacity, count, work);
}

/* How often a call may ask for more work memory: once for almost all texts (test_c_work_memory.py
   checks that), and again if a text of 100,000 bytes is one pre-token, or is rewritten to many
   times its size. */
enum { MAX_RETRIES = 3 };

/* Encodes with work memory of the sizes that errors report. */
static int encode_growing(const tkx *t, int special, const uint8_t *text, size_t size,
                          uint32_t *ids, size_t capacity, size_t *count) {
    tkx_work work = {NULL, 0, NULL, 0};
    int retries = 0;
    int code = encode(t, special, text, size, ids, capacity, count, &work);
    while (code == TKX_E_WORK) {
        CHECK(*count > work.memory_size && *count <= tkx_work_size(t, size));
        CHECK(++retries <= MAX_RETRIES);
        free(work.memory);
        work.memory_size = *count;
        work.memory = exactly(work.memory_size);
        code = encode(t, special, text, size, ids, capacity, count, &work);
    }
    free(work.memory);
    return code;
}

static void all_ways_to_encode_produce_the_same_ids(const tkx *t, int special, const uint8_t *text,
                                                    size_t size, const uint32_t *ids, size_t count,
                                                    uint64_t *state) {
    static uint8_t cache[4096 + 8];
    static uint32_t other[MAX_IDS];
    static const size_t cache_sizes[] = {1, 63, 200, 1000, 4096};
    size_t got, i, memory_size = tkx_work_size(t, size), exact;
    uint32_t *room;
    int code;
    tkx_work work = {NULL, 0, NULL, 0};
    code = encode(t, special, text, size, NULL, 0, &got, &work);
    CHECK(code == TKX_E_WORK || (code == (count ? TKX_E_IDS : TKX_OK) && got == count));
    CHECK(encode_growing(t, special, text, size, other, MAX_IDS, &got) == TKX_OK);
    CHECK(got == count && memcmp(other, ids, 4 * count) == 0);
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    CHECK(memory_size <= tkx_spans_work_size(t, size));
    CHECK(t->normalizer.data || tkx_spans_work_size(t, size) <= TKX_WORK_SIZE(size));
    for (i = 0; i < sizeof cache_sizes / sizeof *cache_sizes; i++) {
        int twice;
        memset(cache, 0, sizeof cache);
        work.cache = cache + below(state, 8);
        work.cache_size = cache_sizes[i];
        for (twice = 0; twice < 2; twice++) {
            memset(other, 0xAB, sizeof other);
            CHECK(encode(t, special, text, size, other, MAX_IDS, &got, &work) == TKX_OK);
            CHECK(got == count && memcmp(other, ids, 4 * count) == 0);
        }
        /* The array has exactly this size, so nothing may be written after it. */
        for (exact = count < 6 ? 0 : count - 6; exact <= count; exact++) {
            room = (uint32_t *)exactly(4 * exact);
            CHECK(encode(t, special, text, size, room, exact, &got, &work) ==
                  (exact < count ? TKX_E_IDS : TKX_OK));
            CHECK(got == count && memcmp(room, ids, 4 * exact) == 0);
            free(room);
        }
    }
    free(work.memory);
}

static void a_stream_produces_the_ids_of_the_whole(const tkx *t, int special, const uint8_t *text,
                                                   size_t size, const uint32_t *ids, size_t count,
                                                   size_t window_size, uint64_t *state) {
    tkx_encoder e;
    tkx_work work = {NULL, 0, NULL, 0};
    uint8_t *window = (uint8_t *)exactly(window_size);
    size_t capacity = 12 * window_size, at = 0, got, taken, all = 0;
    uint32_t *part = (uint32_t *)exactly(4 * capacity);
    int code = TKX_OK;
    work.memory_size = tkx_work_size(t, window_size);
    work.memory = exactly(work.memory_size);
    CHECK(tkx_encoder_init(&e, t, special, window, window_size, &work) == TKX_OK);
    CHECK(tkx_encoder_feed(&e, text, size, &taken, part, 3 * window_size - 1, &got) == TKX_E_IDS);
    while (at < size) {
        size_t offered = 1 + below(state, size - at < 40 ? size - at : 40);
        uint8_t *chunk = copy_of(text + at, offered);
        code = tkx_encoder_feed(&e, chunk, offered, &taken, part, capacity, &got);
        free(chunk);
        if (code != TKX_OK) break;
        CHECK(taken <= offered && all + got <= count && memcmp(part, ids + all, 4 * got) == 0);
        at += taken;
        all += got;
    }
    if (code != TKX_OK) {
        CHECK(code == TKX_E_WINDOW && window_size < size);
    } else {
        CHECK(tkx_encoder_finish(&e, part, capacity, &got) == TKX_OK);
        CHECK(all + got == count && memcmp(part, ids + all, 4 * got) == 0);
        CHECK(tkx_encoder_finish(&e, part, capacity, &got) == TKX_E_STATE);
        CHECK(tkx_encoder_feed(&e, "a", 1, &taken, part, capacity, &got) == TKX_E_STATE);
    }
    free(part);
    free(window);
    free(work.memory);
}

static void cutting_changes_nothing(const tkx *t, int special, const uint8_t *text, size_t size,
                                    const uint32_t *ids, size_t count) {
    static uint32_t left[MAX_IDS];
    size_t cut = tkx_cut(t, text, size), got;
    CHECK(cut < size || size == 0);
    if (cut == 0) return;
    CHECK(encode_growing(t, special, text, cut, left, MAX_IDS, &got) == TKX_OK);
    CHECK(got <= count && memcmp(left, ids, 4 * got) == 0);
    ids += got;
    count -= got;
    CHECK(encode_growing(t, special, text + cut, size - cut, left, MAX_IDS, &got) == TKX_OK);
    CHECK(got == count && memcmp(left, ids, 4 * got) == 0);
}

static void only_allowed_tokens_are_found(const tkx *t, const uint8_t *text, size_t size) {
    static uint32_t expected[MAX_IDS], ids[MAX_IDS];
    uint8_t all[64];
    size_t count, got, memory_size = tkx_work_size(t, size);
    tkx_work work = {NULL, 0, NULL, 0};
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    memset(all, 0xFF, sizeof all);
    CHECK(tkx_added_count(t) <= 8 * sizeof all);
    CHECK(tkx_encode(t, text, size, expected, MAX_IDS, &count, &work) == TKX_OK);
    CHECK(tkx_encode_allowed(t, text, size, NULL, 0, ids, MAX_IDS, &got, &work) == TKX_OK);
    CHECK(got == count && memcmp(ids, expected, 4 * count) == 0);
    CHECK(tkx_encode_special(t, text, size, expected, MAX_IDS, &count, &work) == TKX_OK);
    CHECK(tkx_encode_allowed(t, text, size, all, sizeof all, ids, MAX_IDS, &got, &work) == TKX_OK);
    CHECK(got == count && memcmp(ids, expected, 4 * count) == 0);
    free(work.memory);
}

/* The template around a text, according to its items. */
static void the_template_surrounds_the_text(const tkx *t, int special, const uint8_t *text,
                                            size_t size, const uint32_t *ids, size_t count) {
    static uint32_t expected[2 * MAX_IDS + 8], got[2 * MAX_IDS + 8];
    uint32_t index, kind, id, type_id;
    size_t used = 0, full, memory_size = tkx_work_size(t, size);
    tkx_work work = {NULL, 0, NULL, 0};
    for (index = 0; tkx_template(t, 0, index, &kind, &id, &type_id) == TKX_OK; index++) {
        CHECK(kind < 2 && used + count < 2 * MAX_IDS);
        if (kind == 0) expected[used++] = id;
        if (kind == 1) memcpy(expected + used, ids, 4 * count);
        if (kind == 1) used += count;
    }
    if (index == 0) memcpy(expected, ids, 4 * count);
    if (index == 0) used = count;
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    CHECK(tkx_encode_with_template(t, text, size, special, got, used, &full, &work) == TKX_OK);
    CHECK(full == used && memcmp(got, expected, 4 * used) == 0);
    if (used) {
        CHECK(tkx_encode_with_template(t, text, size, special, got, used - 1, &full, &work) ==
              TKX_E_IDS);
        CHECK(full == used && memcmp(got, expected, 4 * (used - 1)) == 0);
        CHECK(tkx_encode_with_template(t, text, size, special, NULL, 0, &full, &work) == TKX_E_IDS);
        CHECK(full == used);
    }
    free(work.memory);
}

static size_t characters_of(const uint8_t *text, size_t size) {
    size_t count = 0, i;
    for (i = 0; i < size; i++) count += (text[i] & 0xC0) != 0x80;
    return count;
}

/* With exactly the work memory and the array that the call needs. */
static void spans_are_within_the_text(const tkx *t, int special, const uint8_t *text, size_t size,
                                      const uint32_t *expected, size_t count) {
    static uint32_t in_bytes[2 * MAX_IDS];
    const uint8_t *data;
    uint32_t *ids = (uint32_t *)exactly(4 * count), *spans = (uint32_t *)exactly(8 * count);
    size_t memory_size = 0, got, i, all = special ? TKX_ALL : 0, trim_size;
    int unit, trims = tkx_section(t, "TRIM", &data, &trim_size) == TKX_OK;
    for (unit = TKX_BYTES; unit <= TKX_CHARACTERS; unit++) {
        const size_t end = unit == TKX_BYTES ? size : characters_of(text, size);
        int code, retries = 0;
        for (;;) {
            tkx_work work = {NULL, 0, NULL, 0};
            work.memory = exactly(memory_size);
            work.memory_size = memory_size;
            code = tkx_encode_spans(t, text, size, NULL, all, unit, ids, spans, count, &got, &work);
            free(work.memory);
            if (code != TKX_E_WORK) break;
            CHECK(got > memory_size && got <= tkx_spans_work_size(t, size));
            CHECK(++retries <= MAX_RETRIES);
            memory_size = got;
        }
        CHECK(code == TKX_OK && got == count && memcmp(ids, expected, 4 * count) == 0);
        for (i = 0; i < count; i++) {
            CHECK(spans[2 * i] <= spans[2 * i + 1] && spans[2 * i + 1] <= end);
            if (unit == TKX_BYTES || trims) continue;
            CHECK(characters_of(text, in_bytes[2 * i]) == spans[2 * i] &&
                  characters_of(text, in_bytes[2 * i + 1]) == spans[2 * i + 1]);
        }
        if (unit == TKX_BYTES && count) memcpy(in_bytes, spans, 8 * count);
    }
    if (count > 1) {
        tkx_work work = {NULL, 0, NULL, 0};
        uint32_t few[1], few_spans[2];
        work.memory = exactly(memory_size);
        work.memory_size = memory_size;
        CHECK(tkx_encode_spans(t, text, size, NULL, all, TKX_BYTES, few, few_spans, 1, &got,
                               &work) == TKX_E_IDS &&
              got == count);
        CHECK(few[0] == expected[0] && few_spans[0] == in_bytes[0] && few_spans[1] == in_bytes[1]);
        CHECK(tkx_encode_spans(t, text, size, NULL, all, TKX_BYTES, NULL, NULL, 0, &got, &work) ==
                  TKX_E_IDS &&
              got == count);
        free(work.memory);
    }
    free(ids);
    free(spans);
}

/* Whether a text stops the encoder, in a file in which unknown characters do (UNKNOWN_STOPS). */
static int is_stopped(const tkx *t, int code, size_t count) {
    if (!(t->flags & 32) || code != TKX_E_UNKNOWN_TEXT) return 0;
    CHECK(count == 0);
    return 1;
}

static void encode_random_texts(const tkx *t, uint64_t *state) {
    static uint8_t buffer[MAX_TEXT];
    static uint32_t ids[MAX_IDS];
    size_t size = random_text(t, state, buffer, MAX_TEXT), count;
    uint8_t *text = copy_of(buffer, size);
    int special, stopped = 0;
    for (special = 0; special < 2; special++) {
        const int code = encode_growing(t, special, text, size, ids, MAX_IDS, &count);
        stopped = is_stopped(t, code, count);
        if (stopped) break;
        CHECK(code == TKX_OK);
        all_ways_to_encode_produce_the_same_ids(t, special, text, size, ids, count, state);
        the_template_surrounds_the_text(t, special, text, size, ids, count);
        spans_are_within_the_text(t, special, text, size, ids, count);
        a_stream_produces_the_ids_of_the_whole(t, special, text, size, ids, count, size + 1, state);
        a_stream_produces_the_ids_of_the_whole(t, special, text, size, ids, count,
                                               1 + below(state, 80), state);
        cutting_changes_nothing(t, special, text, size, ids, count);
    }
    if (!stopped) only_allowed_tokens_are_found(t, text, size);
    free(text);
}

/* Many kinds of text, including some that are quadratic in many tokenizers. Time is not measured:
   with a megabyte, quadratic time does not end. */
static void long_texts_end(const tkx *t, size_t size) {
    static const char *const parts[] = {"a",
                                        "ab",
                                        " ",
                                        "\n ",
                                        "0",
                                        "\xCC\x81",
                                        "\xCC\xA3\xCC\x87",
                                        "\xE4\xBD\xA0",
                                        "<",
                                        "a\xCC\x81",
                                        ".,",
                                        "-",
                                        " -",
                                        "<s>",
                                        "\t ",
                                        "abc",
                                        "x"};
    size_t i, count, at;
    uint8_t *text = (uint8_t *)exactly(size);
    uint32_t *ids = (uint32_t *)exactly(4 * 12 * size);
    int code;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]), used = size / length * length;
        for (at = 0; at < used; at += length) memcpy(text + at, parts[i], length);
        code = encode_growing(t, 1, text, used, ids, 12 * size, &count);
        CHECK(code == TKX_OK || is_stopped(t, code, count));
    }
    free(text);
    free(ids);
}

#endif
