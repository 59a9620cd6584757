/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Damaged files: fuzz_runtime SEED COUNT FILE...

   Each file is changed at random, its checksums are corrected, and every function is called if
   tkx_open accepts the file. Results are not checked: the test is to find sanitizer errors and
   calls that do not return. */

#include "support.h"

enum { MAX_TEXT = 300, MAX_IDS = 12 * MAX_TEXT + 8 };

static uint32_t crc32(uint32_t crc, const uint8_t *p, size_t size) {
    int bit;
    for (crc = ~crc; size; size--, p++) {
        for (crc ^= *p, bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xEDB88320 & (0 - (crc & 1)));
    }
    return ~crc;
}

static uint64_t number(const uint8_t *p, int bytes) {
    uint64_t v = 0;
    while (bytes--) v = v << 8 | p[bytes];
    return v;
}

static void set_number(uint8_t *p, int bytes, uint64_t v) {
    for (; bytes; bytes--, v >>= 8) *p++ = (uint8_t)v;
}

/* Corrects all checksums, so that tkx_check reads on. */
static void seal(uint8_t *data, size_t size) {
    size_t sections = size >= 64 ? (size_t)number(data + 12, 4) : 0, i;
    if (sections > 64 || size < 64 + 32 * sections) return;
    for (i = 0; i < sections; i++) {
        uint8_t *entry = data + 64 + 32 * i;
        const uint64_t offset = number(entry + 8, 8), length = number(entry + 16, 8);
        if (offset <= size && length <= size - offset)
            set_number(entry + 24, 4, crc32(0, data + offset, (size_t)length));
    }
    set_number(data + 60, 4, crc32(crc32(0, data, 60), data + 64, 32 * sections));
}

/* An offset to change: often in the first bytes of a section, rarely in the header. */
static size_t some_place(const uint8_t *data, size_t size, uint64_t *state) {
    size_t sections = (size_t)number(data + 12, 4), offset, length;
    const uint8_t *entry = data + 64 + 32 * below(state, sections);
    if (below(state, 40) == 0) return below(state, 64 + 32 * sections);
    offset = (size_t)number(entry + 8, 8);
    length = (size_t)number(entry + 16, 8);
    if (length == 0) return below(state, size);
    if (length > 200 && below(state, 3) == 0) length = 200;
    return offset + below(state, length);
}

static void change(uint8_t *data, const uint8_t *original, size_t size, uint64_t *state) {
    static const uint32_t favourites[] = {0,          1,          2,         0x7F,   0x80,
                                          0xFF,       0x7FFF,     0x8000,    0xFFFF, 0x1FFFFF,
                                          0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    size_t count = 1 + below(state, 6), at;
    for (; count; count--) {
        at = some_place(original, size, state);
        switch (below(state, 5)) {
            case 0: data[at] ^= (uint8_t)(1u << below(state, 8)); break;
            case 1: data[at] = (uint8_t)next_random(state); break;
            case 2: data[at] = (uint8_t)(data[at] + (below(state, 2) ? 1 : 255)); break;
            case 3: /* a u32 */
                at &= ~(size_t)3;
                if (size - at >= 4)
                    set_number(data + at, 4,
                               favourites[below(state, sizeof favourites / sizeof *favourites)]);
                break;
            default: { /* a part of the file at another offset */
                size_t from = below(state, size), length = below(state, 32);
                if (length <= size - at && length <= size - from)
                    memmove(data + at, data + from, length);
            }
        }
    }
}

/* A conversation of parts of a text, mostly with alternating roles. */
static void call_chat(const tkx *t, uint64_t *state, const uint8_t *text, size_t size,
                      uint32_t *ids, const tkx_work *work) {
    tkx_message messages[6];
    const size_t count = below(state, 7), first = below(state, 2);
    size_t i, length, room = below(state, 600);
    uint8_t *out = (uint8_t *)exactly(room);
    const uint8_t *part;
    int which;
    for (i = 0; i < count; i++) {
        const size_t from = below(state, size + 1);
        messages[i].role = i < first ? TKX_SYSTEM : (i - first) % 2 ? TKX_ASSISTANT : TKX_USER;
        if (below(state, 30) == 0) messages[i].role = (int)below(state, 40) - 20;
        messages[i].text = text + from;
        messages[i].size = below(state, size - from + 1);
    }
    tkx_chat_encode(t, messages, count, ids, below(state, MAX_IDS), &length, work);
    tkx_chat_prompt(t, messages, count, out, room, &length);
    for (which = -1; which < 8; which++) {
        if (tkx_chat_text(t, which, &part, &length) == TKX_OK) free(copy_of(part, length));
    }
    free(out);
}

static void call_everything(const tkx *t, uint64_t *state) {
    static uint8_t buffer[MAX_TEXT], cache[4096];
    size_t ends[20],
        size = random_text(t, state, buffer, MAX_TEXT), count, taken, length,
        memory_size = below(state, 3) ? tkx_spans_work_size(t, size) : below(state, 4000);
    uint8_t *text = copy_of(buffer, size), *out = (uint8_t *)exactly(200),
            *window = (uint8_t *)exactly(64), allowed = (uint8_t)next_random(state);
    uint32_t *ids = (uint32_t *)exactly(4 * MAX_IDS), *spans = (uint32_t *)exactly(8 * MAX_IDS), id,
             flags, kind, i;
    const uint8_t *bytes;
    float score;
    tkx_work work = {NULL, 0, NULL, 0};
    tkx_decoder d;
    tkx_encoder e;
    int code;
    if (memory_size > 1000000) memory_size = 1000000;
    memset(cache, 0, sizeof cache);
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    work.cache = cache;
    work.cache_size = below(state, 2) ? sizeof cache : 0;
    tkx_encode(t, text, size, ids, below(state, MAX_IDS), &count, &work);
    tkx_encode_special(t, text, size, ids, MAX_IDS, &count, &work);
    tkx_encode_allowed(t, text, size, &allowed, 1, ids, MAX_IDS, &count, &work);
    tkx_encode_spans(t, text, size, &allowed, 1, TKX_BYTES, ids, spans, below(state, MAX_IDS),
                     &count, &work);
    tkx_encode_spans(t, text, size, NULL, TKX_ALL, TKX_CHARACTERS, ids, spans, MAX_IDS, &count,
                     &work);
    tkx_encode(t, text, size, NULL, 0, &count, NULL);
    tkx_encode_marked(t, text, size < 8 ? size : 8, &allowed, ids, MAX_IDS, &count, &work);
    call_chat(t, state, text, size, ids, &work);
    if (tkx_encoder_init(&e, t, 1, window, 64, &work) == TKX_OK) {
        for (taken = count = 0, length = 0; length < size; length += taken) {
            if (tkx_encoder_feed(&e, text + length, size - length, &taken, ids, MAX_IDS, &count) !=
                TKX_OK)
                break;
        }
        tkx_encoder_finish(&e, ids, MAX_IDS, &count);
    }
    tkx_cut(t, text, size);
    tkx_selftest(t, ids, MAX_IDS, &count, &work);
    tkx_decoder_init(&d, t, (int)below(state, 2));
    for (i = 0; i < 20; i++) {
        id = (uint32_t)below(state, tkx_id_count(t) + (size_t)1);
        ids[i] = id;
        tkx_decoder_step(&d, id, out, 200, &length);
        tkx_token_flags(t, id, &flags);
        tkx_token_score(t, id, &score);
        code = tkx_token_bytes(t, id, &bytes, &length);
        if (code == TKX_OK) {
            uint8_t *copy = copy_of(bytes, length); /* reads them all */
            tkx_token_id(t, copy, length, &id);
            free(copy);
        }
    }
    for (i = 0; i < 4; i++) {
        tkx_prefix range;
        uint8_t byte;
        if (tkx_prefix_ids(t, text, below(state, size + 1), &range) == TKX_OK && range.begin)
            range.begin -= (uint32_t)below(state, 2) * range.begin;
        if (i == 3) range.end = (uint32_t)below(state, (size_t)t->token_count + 2);
        if (i == 2) range.depth = (uint32_t)next_random(state);
        tkx_prefix_next(t, &range, (uint32_t)below(state, 300), &byte);
        tkx_prefix_step(t, &range, byte);
        tkx_prefix_id(t, (uint32_t)below(state, (size_t)t->token_count + 2), &id);
    }
    tkx_decoder_flush(&d, out, 200, &length);
    tkx_decode(t, ids, 1 + below(state, 20), out, below(state, 200), &length);
    tkx_decode_text(t, ids, 1 + below(state, 20), out, below(state, 200), &length);
    tkx_decode_ends(t, ids, 1 + below(state, 20), out, below(state, 200), &length, ends);
    for (i = 0; i < 12; i++) {
        tkx_special_id(t, (int)i, &id);
        tkx_stop_id(t, i, &id);
        tkx_template(t, (int)(i & 1), i / 2, &kind, &id, &flags);
        if (tkx_added_token(t, i, &id, &bytes, &length, &flags) == TKX_OK)
            free(copy_of(bytes, length));
    }
    if (tkx_section(t, "PROV", &bytes, &length) == TKX_OK) free(copy_of(bytes, length));
    free(text);
    free(out);
    free(window);
    free(ids);
    free(spans);
    free(work.memory);
}

int main(int argc, char **argv) {
    uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2 + 1 : 0;
    int count = argc > 2 ? atoi(argv[2]) : 0, i, round;
    unsigned long taken = 0, refused = 0, corrupt = 0;
    CHECK(argc > 3 && count > 0);
    for (i = 3; i < argc; i++) {
        size_t size;
        uint8_t *data = read_file(argv[i], &size);
        for (round = 0; round < count; round++) {
            uint8_t *changed = copy_of(data, size), *exact;
            size_t length = below(&state, 50) ? size : below(&state, size);
            tkx t;
            if (round) change(changed, data, size, &state);
            if (length < size) set_number(changed + 16, 8, length);
            exact = copy_of(changed, length);
            seal(exact, length);
            if (tkx_open(&t, exact, length) == TKX_OK) {
                taken++;
                corrupt += tkx_check(&t) == TKX_E_CORRUPT;
                call_everything(&t, &state);
            } else {
                refused++;
            }
            free(changed);
            free(exact);
        }
        free(data);
    }
    printf("%lu taken, %lu of them corrupt, %lu refused\n", taken, corrupt, refused);
    return 0;
}
