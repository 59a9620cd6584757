/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Prints the ids of standard input, one a line, however long it is: the text goes through a window
   of 1 MB.
       cc -O2 -I.. encode_stdin.c ../tokexport.c -o encode_stdin
       ./encode_stdin tokenizer.bin < text.txt */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tokexport.h"

static uint8_t part[1 << 16], window[1 << 20], memory[1 << 20], cache[1 << 20];
static uint32_t ids[3 * sizeof window];

static void print(size_t count) {
    size_t i;
    for (i = 0; i < count; i++) printf("%lu\n", (unsigned long)ids[i]);
}

int main(int argc, char **argv) {
    const tkx_work work = {memory, sizeof memory, cache, sizeof cache};
    const size_t capacity = sizeof ids / sizeof *ids;
    tkx t;
    tkx_encoder e;
    struct stat info;
    size_t size, at, taken, count;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1, code;
    if (file < 0 || fstat(file, &info) != 0)
        return fputs("usage: encode_stdin tokenizer.bin < text\n", stderr), 2;
    const void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return perror(argv[1]), 2;
    code = tkx_open(&t, data, (size_t)info.st_size);
    if (code == TKX_OK) code = tkx_encoder_init(&e, &t, 0, window, sizeof window, &work);
    while (code == TKX_OK && (size = fread(part, 1, sizeof part, stdin)) > 0)
        for (at = 0; at < size && code == TKX_OK; at += taken) {
            code = tkx_encoder_feed(&e, part + at, size - at, &taken, ids, capacity, &count);
            if (code == TKX_OK) print(count);
        }
    if (code == TKX_OK) code = tkx_encoder_finish(&e, ids, capacity, &count);
    if (code != TKX_OK) return fprintf(stderr, "encode_stdin: %s\n", tkx_error(code)), 2;
    print(count);
    return 0;
}
