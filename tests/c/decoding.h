/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Checks the promises of tokexport.h about decoding on a good file: whole texts and streams,
   compared with slow, plain code. */

#ifndef DECODING_H
#define DECODING_H

#include "support.h"

/* Whether `count` bytes begin some character of `length` bytes: the code points that they can
   become must overlap those of that length. */
static int can_begin(const uint8_t *p, size_t count, size_t length) {
    static const uint32_t first[5] = {0, 0, 0x80, 0x800, 0x10000},
                          last[5] = {0, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
    static const uint8_t lead[5] = {0, 0x00, 0xC0, 0xE0, 0xF0},
                         mask[5] = {0, 0x80, 0xE0, 0xF0, 0xF8};
    uint32_t low, high;
    size_t i;
    if ((p[0] & mask[length]) != lead[length]) return 0;
    low = high = p[0] & (uint32_t)(uint8_t)~mask[length];
    for (i = 1; i < length; i++) {
        if (i < count && (p[i] & 0xC0) != 0x80) return 0;
        low = low << 6 | (i < count ? p[i] & 63u : 0u);
        high = high << 6 | (i < count ? p[i] & 63u : 63u);
    }
    if (low < first[length]) low = first[length];
    if (high > last[length]) high = last[length];
    return low <= high && !(low >= 0xD800 && high <= 0xDFFF);
}

/* Bytes as text: each longest beginning of a character, or else each byte, that is not a character
   becomes U+FFFD. */
static size_t lossy(const uint8_t *bytes, size_t size, uint8_t *out) {
    size_t i = 0, used = 0;
    while (i < size) {
        size_t best = 1, length, count;
        int whole = 0;
        for (length = 1; length <= 4 && !whole; length++) {
            for (count = 1; count <= length && count <= size - i; count++) {
                if (!can_begin(bytes + i, count, length)) continue;
                if (count > best) best = count;
                whole |= count == length;
            }
        }
        memcpy(out + used, whole ? bytes + i : (const uint8_t *)"\xEF\xBF\xBD", whole ? best : 3);
        used += whole ? best : 3;
        i += best;
    }
    return used;
}

/* The joined bytes of tokens; without special ones on request. */
static size_t joined(const tkx *t, const uint32_t *ids, size_t count, int skip_special,
                     uint8_t *out) {
    size_t used = 0, i, size;
    const uint8_t *bytes;
    uint32_t flags;
    for (i = 0; i < count; i++) {
        CHECK(tkx_token_flags(t, ids[i], &flags) == TKX_OK);
        if (skip_special && (flags & TKX_SPECIAL)) continue;
        CHECK(tkx_token_bytes(t, ids[i], &bytes, &size) == TKX_OK);
        memcpy(out + used, bytes, size);
        used += size;
    }
    return used;
}

/* Ids that are tokens. */
static void random_ids(const tkx *t, uint32_t *ids, size_t count, uint64_t *state) {
    uint32_t flags;
    size_t i;
    for (i = 0; i < count; i++) {
        do ids[i] = (uint32_t)below(state, tkx_id_count(t));
        while (tkx_token_flags(t, ids[i], &flags) != TKX_OK ||
               (flags & TKX_KIND_MASK) == TKX_KIND_HOLE);
    }
}

/* A stream with each buffer one byte too small at first, which must not change its state. */
static size_t streamed_tightly(const tkx *t, const uint32_t *ids, size_t count, int skip_special,
                               uint8_t *out) {
    tkx_decoder d;
    size_t used = 0, i, needed, written, text;
    CHECK(tkx_decoder_init(&d, t, skip_special) == TKX_OK);
    for (i = 0; i <= count; i++) {
        int code = i < count ? tkx_decoder_step(&d, ids[i], NULL, 0, &needed)
                             : tkx_decoder_flush(&d, NULL, 0, &needed);
        CHECK(code == (needed ? TKX_E_BYTES : TKX_OK));
        if (needed) {
            uint8_t *part = (uint8_t *)exactly(needed), *checked = (uint8_t *)exactly(3 * needed);
            code = i < count ? tkx_decoder_step(&d, ids[i], part, needed - 1, &written)
                             : tkx_decoder_flush(&d, part, needed - 1, &written);
            CHECK(code == TKX_E_BYTES && written == needed);
            code = i < count ? tkx_decoder_step(&d, ids[i], part, needed, &written)
                             : tkx_decoder_flush(&d, part, needed, &written);
            CHECK(code == TKX_OK && written <= needed);
            text = lossy(part, written, checked); /* never half a character */
            CHECK(text == written && memcmp(checked, part, written) == 0);
            memcpy(out + used, part, written);
            used += written;
            free(part);
            free(checked);
        }
    }
    return used;
}

/* All ways to decode agree, and report the size needed. */
static void all_ways_to_decode_agree(const tkx *t, uint64_t *state) {
    enum { COUNT = 40 };
    uint32_t ids[COUNT], ordinary[COUNT], flags;
    size_t ends[COUNT], count = below(state, COUNT + 1), i, left = 0, size, text_size, used,
                        begin = 0;
    uint8_t *out, *text, *stream;
    int skip;
    random_ids(t, ids, count, state);
    for (i = 0; i < count; i++) {
        CHECK(tkx_token_flags(t, ids[i], &flags) == TKX_OK);
        if (!(flags & TKX_SPECIAL)) ordinary[left++] = ids[i];
    }
    for (skip = 0; skip < 2; skip++) {
        const uint32_t *input = skip ? ordinary : ids;
        size_t n = skip ? left : count;
        CHECK(tkx_decode(t, input, n, NULL, 0, &size) == (size ? TKX_E_BYTES : TKX_OK));
        CHECK(tkx_decode_text(t, input, n, NULL, 0, &text_size) ==
              (text_size ? TKX_E_BYTES : TKX_OK));
        out = (uint8_t *)exactly(2 * size);
        text = (uint8_t *)exactly(text_size);
        stream = (uint8_t *)exactly(text_size);
        if (size)
            CHECK(tkx_decode(t, input, n, out, size - 1, &used) == TKX_E_BYTES && used == size);
        if (text_size)
            CHECK(tkx_decode_text(t, input, n, text, text_size - 1, &used) == TKX_E_BYTES &&
                  used == text_size);
        CHECK(tkx_decode(t, input, n, out, size, &used) == TKX_OK && used == size);
        CHECK(tkx_decode_ends(t, input, n, out + size, size, &used, ends) == TKX_OK &&
              used == size);
        CHECK(memcmp(out, out + size, size) == 0);
        for (i = 0, begin = 0; i < n; begin = ends[i++]) CHECK(ends[i] >= begin && ends[i] <= size);
        CHECK(begin == size);
        CHECK(tkx_decode_text(t, input, n, text, text_size, &used) == TKX_OK && used == text_size);
        CHECK(streamed_tightly(t, ids, count, skip, stream) == text_size &&
              memcmp(stream, text, text_size) == 0);
        free(out);
        free(text);
        free(stream);
    }
}

static void a_decode_stream_produces_the_whole_text(const tkx *t, uint64_t *state) {
    enum { COUNT = 60 };
    uint32_t ids[COUNT];
    size_t count = below(state, COUNT + 1), i, size, used, longest = 0, all;
    const uint8_t *bytes;
    uint8_t *out, *raw, *text, *stream;
    int skip;
    all_ways_to_decode_agree(t, state);
    if (t->decoder.data) return; /* not joined; see tests/sources/test_decoding_rules.py */
    random_ids(t, ids, count, state);
    for (i = 0; i < count; i++) {
        CHECK(tkx_token_bytes(t, ids[i], &bytes, &size) == TKX_OK);
        longest = size > longest ? size : longest;
    }
    for (skip = 0; skip < 2; skip++) {
        tkx_decoder d;
        raw = (uint8_t *)exactly(COUNT * longest);
        text = (uint8_t *)exactly(3 * COUNT * longest + 12);
        stream = (uint8_t *)exactly(3 * COUNT * longest + 12);
        size = joined(t, ids, count, skip, raw);
        all = lossy(raw, size, text);
        CHECK(tkx_decoder_init(&d, t, skip) == TKX_OK);
        for (i = 0, used = 0; i <= count; i++) {
            size_t room = 3 * longest + 12, written, valid;
            uint8_t *part = (uint8_t *)exactly(room), *checked;
            if (i < count) CHECK(tkx_decoder_step(&d, ids[i], part, room, &written) == TKX_OK);
            else CHECK(tkx_decoder_flush(&d, part, room, &written) == TKX_OK);
            checked = (uint8_t *)exactly(3 * written);
            valid = lossy(part, written, checked); /* never half a character */
            CHECK(valid == written && memcmp(checked, part, written) == 0);
            memcpy(stream + used, part, written);
            used += written;
            free(part);
            free(checked);
        }
        CHECK(used == all && memcmp(stream, text, all) == 0);
        if (!skip) {
            out = (uint8_t *)exactly(size);
            CHECK(tkx_decode(t, ids, count, out, size, &used) == TKX_OK);
            CHECK(used == size && memcmp(out, raw, size) == 0);
            if (size) {
                CHECK(tkx_decode(t, ids, count, out, size - 1, &used) == TKX_E_BYTES);
                CHECK(used == size);
            }
            free(out);
        }
        free(raw);
        free(text);
        free(stream);
    }
}

static void a_held_back_character_needs_room_when_it_is_written(const tkx *t) {
    tkx_decoder d;
    uint8_t out[64];
    size_t size, length, written;
    const uint8_t *bytes;
    uint32_t id, flags;
    for (id = 0; id < tkx_id_count(t); id++) {
        CHECK(tkx_token_flags(t, id, &flags) == TKX_OK);
        if (tkx_token_bytes(t, id, &bytes, &length) != TKX_OK || length != 1 || bytes[0] != 0xE4 ||
            t->decoder.data)
            continue;
        CHECK(tkx_decoder_init(&d, t, 0) == TKX_OK);
        CHECK(tkx_decoder_step(&d, id, out, 0, &written) == TKX_OK && written == 0);
        /* the first byte of a character again, so that the byte held back is written */
        CHECK(tkx_decoder_step(&d, id, out, 2, &written) == TKX_E_BYTES && written == 3);
        CHECK(tkx_decoder_step(&d, id, out, 3, &written) == TKX_OK && written == 3 &&
              memcmp(out, "\xEF\xBF\xBD", 3) == 0);
        CHECK(tkx_decoder_flush(&d, out, 2, &size) == TKX_E_BYTES && size == 3);
        CHECK(tkx_decoder_flush(&d, out, 3, &size) == TKX_OK && size == 3 &&
              memcmp(out, "\xEF\xBF\xBD", 3) == 0);
        CHECK(tkx_decoder_flush(&d, out, 0, &size) == TKX_OK && size == 0);
    }
}

#endif
