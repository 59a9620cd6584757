/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Checks the promises of tokexport.h on good files: test_runtime ROUNDS LENGTH FILE...

   Results do not depend on the address of the file, the work memory, the cache, or the parts of a
   stream. Texts and buffers have exactly the required size. Other tests compare the ids with the
   reference libraries. */

#include "decoding.h"
#include "encoding.h"

static void lookups_succeed(const tkx *t) {
    uint32_t id, flags, holes = 0, stop, kind, type_id;
    const uint8_t *bytes;
    size_t size;
    float score;
    int code, has_encoder = tkx_section(t, "SPLT", &bytes, &size) == TKX_OK,
              has_scores = tkx_section(t, "SCOR", &bytes, &size) == TKX_OK ||
                           tkx_section(t, "SC64", &bytes, &size) == TKX_OK;
    /* Otherwise a token is found by its key, which differs from its decoded bytes. */
    int finds_bytes = tkx_section(t, "KEYS", &bytes, &size) != TKX_OK &&
                      tkx_section(t, "DECO", &bytes, &size) != TKX_OK &&
                      tkx_section(t, "CHRS", &bytes, &size) != TKX_OK;
    for (id = 0; id < tkx_id_count(t); id++) {
        CHECK(tkx_token_flags(t, id, &flags) == TKX_OK);
        code = tkx_token_bytes(t, id, &bytes, &size);
        CHECK(code == ((flags & TKX_KIND_MASK) == TKX_KIND_HOLE ? TKX_E_ID : TKX_OK));
        holes += code == TKX_E_ID;
        CHECK(tkx_token_score(t, id, &score) == (has_scores ? TKX_OK : TKX_E_NOT_FOUND));
        if (code == TKX_OK && has_encoder && finds_bytes &&
            (flags & TKX_KIND_MASK) == TKX_KIND_MODEL) {
            uint32_t other;
            const uint8_t *other_bytes;
            size_t other_size;
            CHECK(tkx_token_id(t, bytes, size, &other) == TKX_OK);
            CHECK(tkx_token_bytes(t, other, &other_bytes, &other_size) == TKX_OK);
            CHECK(other_size == size && memcmp(other_bytes, bytes, size) == 0);
        }
    }
    CHECK(holes == tkx_id_count(t) - t->token_count);
    CHECK(tkx_token_bytes(t, tkx_id_count(t), &bytes, &size) == TKX_E_ID);
    CHECK(tkx_token_flags(t, UINT32_MAX, &flags) == TKX_E_ID);
    CHECK(tkx_token_score(t, UINT32_MAX, &score) == TKX_E_ID);
    CHECK(tkx_token_id(t, "no such token", 13, &id) ==
          (has_encoder ? TKX_E_NOT_FOUND : TKX_E_NO_ENCODER));
    CHECK(tkx_special_id(t, 4, &id) == TKX_E_ARGUMENT &&
          tkx_special_id(t, -1, &id) == TKX_E_ARGUMENT);
    for (stop = 0; tkx_stop_id(t, stop, &id) == TKX_OK; stop++) CHECK(id < tkx_id_count(t));
    CHECK(tkx_stop_id(t, stop, &id) == TKX_E_NOT_FOUND &&
          tkx_stop_id(t, UINT32_MAX, &id) == TKX_E_NOT_FOUND);
    for (stop = 0; tkx_template(t, 1, stop, &kind, &id, &type_id) == TKX_OK; stop++)
        CHECK(kind <= 2);
    CHECK(tkx_template(t, 0, UINT32_MAX, &kind, &id, &type_id) == TKX_E_NOT_FOUND);
    CHECK(tkx_section(t, "RECS", &bytes, &size) == TKX_OK && size == 8 * (size_t)tkx_id_count(t));
    CHECK(tkx_section(t, "none", &bytes, &size) == TKX_E_NOT_FOUND && bytes == NULL && size == 0);
    CHECK(tkx_added_token(t, tkx_added_count(t), &id, &bytes, &size, &flags) == TKX_E_NOT_FOUND);
}

/* Ids by prefix equal those of a scan; each belongs to exactly one child of a node. */
static void prefixes_are_found(const tkx *t) {
    tkx_prefix range, child;
    const uint8_t *prefix, *bytes, *none;
    uint32_t id, other, from, at;
    size_t size, length, none_size;
    uint8_t byte = 0;
    if (tkx_section(t, "SORT", &none, &none_size) != TKX_OK) {
        CHECK(tkx_prefix_ids(t, "a", 1, &range) == TKX_E_NOT_FOUND && range.end == 0);
        CHECK(tkx_prefix_step(t, &range, 'a') == TKX_E_NOT_FOUND);
        CHECK(tkx_prefix_next(t, &range, 0, &byte) == TKX_E_NOT_FOUND);
        CHECK(tkx_prefix_id(t, 0, &id) == TKX_E_NOT_FOUND);
        return;
    }
    for (id = 0; id < tkx_id_count(t); id++) {
        uint32_t total = 0;
        if (tkx_token_bytes(t, id, &prefix, &size) != TKX_OK) continue;
        size -= size > 1 && id % 2;
        for (other = 0; other < tkx_id_count(t); other++)
            total += tkx_token_bytes(t, other, &bytes, &length) == TKX_OK && length >= size &&
                     memcmp(bytes, prefix, size) == 0;
        CHECK(tkx_prefix_ids(t, prefix, size, &range) == TKX_OK && range.depth == size);
        CHECK(range.end - range.begin == total);
        for (at = range.begin; at < range.end; at++) {
            CHECK(tkx_prefix_id(t, at, &other) == TKX_OK);
            CHECK(tkx_token_bytes(t, other, &bytes, &length) == TKX_OK && length >= size);
            CHECK(memcmp(bytes, prefix, size) == 0);
            if (length == size) range.begin++; /* this id ends here */
        }
        for (from = 0; tkx_prefix_next(t, &range, from, &byte) == TKX_OK; from = byte + 1u) {
            child = range;
            CHECK(tkx_prefix_step(t, &child, byte) == TKX_OK && child.begin == range.begin);
            CHECK(child.begin < child.end && child.depth == size + 1);
            range.begin = child.end;
        }
        CHECK(range.begin == range.end);
    }
    CHECK(tkx_prefix_ids(t, NULL, 0, &range) == TKX_OK && range.end == t->token_count);
    CHECK(tkx_prefix_ids(t, NULL, 1, &range) == TKX_E_ARGUMENT);
    CHECK(tkx_prefix_ids(t, "no such token", 13, &range) == TKX_OK && range.begin == range.end);
    range.end = t->token_count + 1;
    CHECK(tkx_prefix_step(t, &range, 0) == TKX_E_ARGUMENT);
    CHECK(tkx_prefix_next(t, &range, 0, &byte) == TKX_E_ARGUMENT);
    CHECK(tkx_prefix_id(t, t->token_count, &id) == TKX_E_NOT_FOUND && id == TKX_NONE);
}

/* Chat calls report the size needed and do not exceed it; special tokens in messages are text. */
static void conversations_are_encoded(const tkx *t) {
    static const tkx_message messages[] = {
        {TKX_SYSTEM, "h  e", 4},
        {TKX_USER, "\t the \xC2\xA0", 8},
        {TKX_ASSISTANT, "e", 1},
        {TKX_USER, "a<|end|>b", 9},
    };
    static const tkx_message bad = {TKX_USER, "the\xFF", 4};
    static const char prompt[] = "<|endof|>h  e<|end|> thethe<|end|>hee<|end|>the a<|end|>b"
                                 "  <|end|><|endof|>th";
    static const uint8_t marks[] = {1, 0x20, 0, 8, 0x20, 0, 0, 8, 4, 0};
    const size_t length = sizeof prompt - 1;
    const uint8_t *text;
    uint8_t *out;
    uint32_t ids[100], expected[100];
    size_t size, count, total, tries = 0;
    tkx_work work = {NULL, 0, NULL, 0};
    int code;
    if (tkx_section(t, "FRAM", &text, &size) != TKX_OK) {
        CHECK(tkx_chat_encode(t, messages, 4, ids, 100, &count, &work) == TKX_E_NOT_FOUND);
        CHECK(tkx_chat_prompt(t, messages, 4, NULL, 0, &size) == TKX_E_NOT_FOUND);
        CHECK(tkx_chat_text(t, 0, &text, &size) == TKX_E_NOT_FOUND && text == NULL);
        return;
    }
    out = (uint8_t *)exactly(length);
    CHECK(tkx_chat_prompt(t, messages, 4, NULL, 0, &size) == TKX_E_BYTES && size == length);
    CHECK(tkx_chat_prompt(t, messages, 4, out, length - 1, &size) == TKX_E_BYTES);
    CHECK(tkx_chat_prompt(t, messages, 4, out, length, &size) == TKX_OK && size == length);
    CHECK(memcmp(out, prompt, length) == 0);
    CHECK(sizeof marks >= (length + 7) / 8);
    CHECK(tkx_encode_marked(t, out, length, marks, expected, 100, &total, &work) == TKX_OK);
    while ((code = tkx_chat_encode(t, messages, 4, ids, 100, &count, &work)) == TKX_E_WORK) {
        CHECK(count > work.memory_size && tries++ < 20);
        free(work.memory);
        work.memory_size = tries == 1 ? 70 : count;
        work.memory = exactly(work.memory_size);
    }
    CHECK(code == TKX_OK && count == total && memcmp(ids, expected, 4 * count) == 0);
    CHECK(tkx_chat_encode(t, messages, 4, NULL, 0, &count, &work) == TKX_E_IDS && count == total);
    CHECK(tkx_chat_encode(t, messages, 3, ids, 100, &count, &work) == TKX_E_ROLE && count == 3);
    CHECK(tkx_chat_encode(t, messages + 1, 2, ids, 100, &count, &work) == TKX_E_ROLE);
    CHECK(tkx_chat_encode(t, messages + 2, 2, ids, 100, &count, &work) == TKX_E_ROLE && count == 0);
    CHECK(tkx_chat_encode(t, &bad, 1, ids, 100, &count, &work) == TKX_E_UTF8 && count == 0);
    CHECK(tkx_chat_encode(t, NULL, 1, ids, 100, &count, &work) == TKX_E_ARGUMENT);
    CHECK(tkx_chat_encode(t, NULL, 0, ids, 100, &count, &work) == TKX_E_ROLE);
    CHECK(tkx_chat_text(t, TKX_CHAT_USER_TO_REPLY, &text, &size) == TKX_OK && size == 20);
    CHECK(memcmp(text, "  <|end|><|endof|>th", size) == 0);
    CHECK(tkx_chat_text(t, 6, &text, &size) == TKX_E_ARGUMENT);
    CHECK(tkx_encode_marked(t, "a", 1, NULL, ids, 100, &count, &work) == TKX_E_ARGUMENT);
    free(work.memory);
    free(out);
}

static void wrong_calls_are_refused(const tkx *t, int has_encoder) {
    tkx other;
    tkx_decoder d;
    tkx_encoder e;
    uint32_t ids[64], bad = tkx_id_count(t);
    uint8_t out[64], memory[8];
    size_t count, taken;
    tkx_work none = {NULL, 0, NULL, 0};
    CHECK(tkx_open(NULL, out, 1) == TKX_E_ARGUMENT && tkx_open(&other, NULL, 1) == TKX_E_ARGUMENT);
    CHECK(tkx_open(&other, NULL, 0) == TKX_E_EMPTY);
    CHECK(tkx_encode(t, "a", 1, NULL, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode(t, NULL, 1, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode(t, "a", 1, ids, 4, NULL, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode(t, "a", (size_t)UINT32_C(0x80000000), ids, 4, &count, &none) ==
          TKX_E_ARGUMENT);
    CHECK(tkx_encode_allowed(t, "a", 1, NULL, 1, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode_spans(t, "a", 1, NULL, 1, TKX_BYTES, ids, ids, 4, &count, &none) ==
          TKX_E_ARGUMENT);
    CHECK(tkx_encode_spans(t, "a", 1, NULL, 0, TKX_BYTES, ids, NULL, 4, &count, &none) ==
          TKX_E_ARGUMENT);
    CHECK(tkx_encode_spans(t, "a", 1, NULL, 0, 2, ids, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_decode(t, NULL, 1, out, 4, &count) == TKX_E_ARGUMENT &&
          tkx_decode(t, ids, 1, NULL, 4, &count) == TKX_E_ARGUMENT);
    CHECK(tkx_decode(t, &bad, 1, out, 4, &count) == TKX_E_ID && count == 0);
    CHECK(tkx_decode_text(t, NULL, 1, out, 4, &count) == TKX_E_ARGUMENT &&
          tkx_decode_text(t, &bad, 1, out, 4, &count) == TKX_E_ID);
    CHECK(tkx_decode_ends(t, ids, 1, out, 4, &count, NULL) == TKX_E_ARGUMENT);
    CHECK(tkx_decoder_init(NULL, t, 0) == TKX_E_ARGUMENT && tkx_decoder_init(&d, t, 0) == TKX_OK);
    CHECK(tkx_decoder_step(&d, bad, out, sizeof out, &count) == TKX_E_ID);
    CHECK(tkx_token_bytes(t, 0, NULL, &count) == TKX_E_ARGUMENT &&
          tkx_token_flags(t, 0, NULL) == TKX_E_ARGUMENT);
    CHECK(tkx_check(NULL) == TKX_E_ARGUMENT && tkx_cut(t, NULL, 1) == 0 &&
          tkx_cut(NULL, "ab", 2) == 0);
    if (!has_encoder) {
        CHECK(tkx_encode(t, "a", 1, ids, 64, &count, &none) == TKX_E_NO_ENCODER);
        CHECK(tkx_encoder_init(&e, t, 0, memory, sizeof memory, &none) == TKX_E_NO_ENCODER);
        return;
    }
    CHECK(tkx_encode(t, "", 0, NULL, 0, &count, NULL) == TKX_OK && count == 0);
    CHECK(tkx_encode(t, NULL, 0, NULL, 0, &count, &none) == TKX_OK && count == 0);
    CHECK(tkx_encode(t, "abc\xC3", 4, ids, 64, &count, &none) == TKX_E_UTF8 && count == 3);
    CHECK(tkx_encode(t, "ab\xED\xA0\x80", 5, ids, 64, &count, &none) == TKX_E_UTF8 && count == 2);
    CHECK(tkx_encode(t, "\xF4\x90\x80\x80", 4, ids, 64, &count, &none) == TKX_E_UTF8 && count == 0);
    CHECK(tkx_encode(t, "0123456789\xC0\x80", 12, ids, 64, &count, &none) == TKX_E_UTF8 &&
          count == 10);
    CHECK(tkx_encoder_init(&e, t, 0, NULL, 4, &none) == TKX_E_ARGUMENT &&
          tkx_encoder_init(&e, t, 0, memory, 0, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encoder_init(&e, t, 0, memory, sizeof memory, &none) == TKX_OK);
    CHECK(tkx_encoder_feed(&e, "ab", 2, &taken, NULL, 24, &count) == TKX_E_ARGUMENT);
    CHECK(tkx_encoder_feed(&e, "\xE4\xBD\xA0\xE4\xBD\xA0\xE4\xBD", 8, &taken, ids, 24, &count) ==
              TKX_OK &&
          taken == 8 && count == 0);
    CHECK(tkx_encoder_feed(&e, "\xA0", 1, &taken, ids, 24, &count) == TKX_E_WINDOW && taken == 0);
    CHECK(tkx_encoder_finish(&e, ids, 64, &count) == TKX_E_UTF8 && count == 6);
    {
        /* one word of 2,000 bytes in many files, which needs at most a second retry */
        static char text[2000];
        static uint32_t many[8000];
        tkx_work work = {NULL, 0, NULL, 0};
        int retries = 0, code;
        memset(text, '-', sizeof text);
        while ((code = tkx_encode(t, text, sizeof text, many, 8000, &count, &work)) == TKX_E_WORK) {
            CHECK(++retries <= 2 && count > work.memory_size &&
                  count <= tkx_work_size(t, sizeof text));
            free(work.memory);
            work.memory_size = count;
            work.memory = exactly(count);
        }
        free(work.memory);
    }
}

static void self_tests_pass(const tkx *t, const uint8_t *data, size_t size) {
    static uint32_t ids[4096];
    const uint8_t *test;
    size_t count, test_size, memory_size = tkx_work_size(t, size);
    tkx_work work = {NULL, 0, NULL, 0};
    if (tkx_section(t, "TEST", &test, &test_size) != TKX_OK) {
        CHECK(tkx_selftest(t, ids, 4096, &count, &work) == TKX_E_NOT_FOUND);
        return;
    }
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    CHECK(tkx_selftest(t, ids, 4096, &count, &work) == TKX_OK && count > 0);
    CHECK(tkx_selftest(t, NULL, 0, &count, &work) == TKX_E_IDS);
    {
        /* With one expected id changed, its case fails. */
        uint8_t *changed = copy_of(data, size);
        tkx other;
        size_t first_id;
        CHECK(tkx_selftest(t, ids, 4096, &count, &work) == TKX_OK);
        first_id = (size_t)(test - data) + 16 + 20 * count; /* after the cases */
        changed[first_id] ^= 1;
        CHECK(tkx_open(&other, changed, size) == TKX_OK && tkx_check(&other) == TKX_E_CRC);
        CHECK(tkx_selftest(&other, ids, 4096, &count, &work) == TKX_E_SELF_TEST);
        free(changed);
    }
    free(work.memory);
}

static void the_file_works_at_any_address(const uint8_t *data, size_t size, uint64_t *state) {
    size_t shift;
    for (shift = 0; shift < 9; shift++) {
        uint8_t *memory = (uint8_t *)exactly(size + shift);
        tkx t;
        memcpy(memory + shift, data, size);
        CHECK(tkx_open(&t, memory + shift, size) == TKX_OK);
        CHECK(tkx_check(&t) == TKX_OK);
        lookups_succeed(&t);
        prefixes_are_found(&t);
        conversations_are_encoded(&t);
        if (t.splits.data) encode_random_texts(&t, state);
        a_decode_stream_produces_the_whole_text(&t, state);
        free(memory);
    }
}

static void every_shorter_file_is_refused(const uint8_t *data, size_t size) {
    size_t length;
    for (length = 0; length < size; length += length < 700 ? 1 : 97) {
        uint8_t *memory = copy_of(data, length);
        tkx t;
        int code = tkx_open(&t, memory, length);
        CHECK(code == (length == 0 ? TKX_E_EMPTY : TKX_E_TRUNCATED));
        free(memory);
    }
}

static void every_error_has_a_sentence(void) {
    int code;
    for (code = 0; code >= -40; code--) CHECK(strlen(tkx_error(code)) > 4);
    CHECK(strcmp(tkx_error(TKX_E_CORRUPT), tkx_error(1)) != 0);
}

int main(int argc, char **argv) {
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    int i, rounds = argc > 1 ? atoi(argv[1]) : 0, length = argc > 2 ? atoi(argv[2]) : 0;
    CHECK(argc > 3 && rounds > 0 && length > 0);
    every_error_has_a_sentence();
    for (i = 3; i < argc; i++) {
        size_t size;
        int round;
        uint8_t *data = read_file(argv[i], &size);
        tkx t;
        CHECK(tkx_open(&t, data, size) == TKX_OK);
        lookups_succeed(&t);
        wrong_calls_are_refused(&t, t.splits.data != NULL);
        a_held_back_character_needs_room_when_it_is_written(&t);
        self_tests_pass(&t, data, size);
        the_file_works_at_any_address(data, size, &state);
        every_shorter_file_is_refused(data, size);
        for (round = 0; round < rounds; round++) {
            if (t.splits.data) encode_random_texts(&t, &state);
            a_decode_stream_produces_the_whole_text(&t, &state);
        }
        if (t.splits.data) long_texts_end(&t, (size_t)length);
        free(data);
    }
    printf("%d files\n", argc - 3);
    return 0;
}
