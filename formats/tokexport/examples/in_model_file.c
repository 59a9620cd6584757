/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A tokenizer within a model's file, as `tokexport embed` puts it there: the last 16 bytes of the
   file are its size, as a little-endian u64, and a mark. Prints the ids of its second argument.
       cc -O2 -I.. in_model_file.c ../tokexport.c -o in_model_file
       ./in_model_file model.safetensors "Hello, world" */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tokexport.h"

/* Where in a file the tokenizer begins; *size is 0 if there is none. */
static const uint8_t *find_tokenizer(const uint8_t *data, size_t file_size, size_t *size) {
    const uint8_t *tail = file_size < 16 ? NULL : data + file_size - 16;
    uint64_t stated = 0;
    int i;
    *size = 0;
    if (!tail || memcmp(tail + 8, "TKXTAIL", 8) != 0) return data;
    for (i = 8; i--;) stated = stated << 8 | tail[i];
    if (stated > file_size - 16) return data;
    *size = (size_t)stated;
    return tail - *size;
}

int main(int argc, char **argv) {
    static uint8_t memory[TKX_WORK_SIZE(256)];
    const tkx_work work = {memory, sizeof memory, NULL, 0};
    uint32_t ids[300];
    struct stat info;
    size_t size, count, i;
    tkx t;
    int file = argc == 3 ? open(argv[1], O_RDONLY) : -1, code;
    if (file < 0 || fstat(file, &info) != 0 || strlen(argv[2]) > 256)
        return fputs("usage: in_model_file model.safetensors text\n", stderr), 2;
    const void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return perror(argv[1]), 2;
    const uint8_t *tokenizer = find_tokenizer(data, (size_t)info.st_size, &size);
    code = tkx_open(&t, tokenizer, size);
    if (code == TKX_OK) code = tkx_encode(&t, argv[2], strlen(argv[2]), ids, 300, &count, &work);
    if (code != TKX_OK) return fprintf(stderr, "in_model_file: %s\n", tkx_error(code)), 2;
    for (i = 0; i < count; i++) printf("%lu\n", (unsigned long)ids[i]);
    return 0;
}
