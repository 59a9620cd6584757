/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Shared by the C tests: files in memory of exactly their size, so that a sanitizer detects every
   access beyond it; reproducible random numbers; a check that reports its location. */

#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokexport_extra.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Memory of exactly `size` bytes; never NULL. */
static void *exactly(size_t size) {
    void *memory = malloc(size ? size : 1);
    CHECK(memory != NULL);
    return memory;
}

static uint8_t *copy_of(const void *bytes, size_t size) {
    uint8_t *copy = (uint8_t *)exactly(size);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *content;
    long length;
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    length = ftell(file);
    CHECK(length >= 0);
    rewind(file);
    *size = (size_t)length;
    content = (uint8_t *)exactly(*size);
    CHECK(fread(content, 1, *size, file) == *size);
    fclose(file);
    return content;
}

/* xorshift64*: state must not be 0. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static size_t below(uint64_t *state, size_t bound) {
    return (size_t)(next_random(state) >> 33) % bound;
}

/* A random text: runs of few characters, contents of added tokens, and any UTF-8. Returns its size,
   at most `capacity`. */
static size_t random_text(const tkx *t, uint64_t *state, uint8_t *text, size_t capacity) {
    static const char *const parts[] = {"a",
                                        "b",
                                        "ab",
                                        " ",
                                        "  ",
                                        "\n",
                                        "\t",
                                        "the",
                                        " the",
                                        "'s",
                                        "12",
                                        "1234567",
                                        "abab",
                                        ".,-",
                                        "caf\xC3\xA9",
                                        "e\xCC\x81",
                                        "\xCC\xA3\xCC\x87\xCC\x81",
                                        "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8",
                                        "\xEA\xB0\x81",
                                        "\xE4\xBD\xA0\xE5\xA5\xBD",
                                        "\xF0\x9F\x98\x80",
                                        "\xE3\x80\x80",
                                        "\xC2\xA0",
                                        "<s>",
                                        "</s>",
                                        "\xEF\xB7\xBA",
                                        "\xF0\x9D\x85\x9E",
                                        "A\xCC\x8A",
                                        "word",
                                        "0",
                                        "",
                                        "xx",
                                        "--"};
    size_t size = 0, target = below(state, capacity + 1);
    uint32_t added = tkx_added_count(t), id, flags;
    while (size < target) {
        const uint8_t *part;
        size_t length, repeats = below(state, 8) == 0 ? below(state, 60) : 1;
        char character[4];
        if (added && below(state, 4) == 0) {
            if (tkx_added_token(t, (uint32_t)below(state, added), &id, &part, &length, &flags) !=
                TKX_OK)
                length = 0;
        } else if (below(state, 8) == 0) {
            uint32_t c = (uint32_t)below(state, 0xD000);
            character[0] = (char)(0xE0 | c >> 12);
            character[1] = (char)(0x80 | (c >> 6 & 63));
            character[2] = (char)(0x80 | (c & 63));
            part = (const uint8_t *)character;
            length = 3;
            if (c < 0x800) length = 0;
        } else {
            part = (const uint8_t *)parts[below(state, sizeof parts / sizeof *parts)];
            length = strlen((const char *)part);
        }
        for (; repeats && length && length <= capacity - size; repeats--) {
            memcpy(text + size, part, length);
            size += length;
        }
        if (length > capacity - size) break;
    }
    return size;
}

#endif
