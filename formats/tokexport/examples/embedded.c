/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A tokenizer in the program itself, or in flash: an array is a file, at any alignment. Prints the
   ids of its argument with those that the model wants around them (BOS, EOS).
       xxd -i < tokenizer.bin > tokenizer.inc
       cc -O2 -I.. embedded.c ../tokexport.c -o embedded
       ./embedded "Hello, world" */
#include <stdio.h>
#include <string.h>

#include "tokexport.h"

static const unsigned char tokenizer[] = {
#include "tokenizer.inc"
};

int main(int argc, char **argv) {
    static uint8_t memory[TKX_WORK_SIZE(256)];
    const tkx_work work = {memory, sizeof memory, NULL, 0};
    uint32_t ids[300];
    size_t count, i;
    tkx t;
    int code = tkx_open(&t, tokenizer, sizeof tokenizer);
    if (argc != 2 || strlen(argv[1]) > 256)
        return fputs("usage: embedded TEXT, of at most 256 bytes\n", stderr), 2;
    if (code == TKX_OK)
        code = tkx_encode_with_template(&t, argv[1], strlen(argv[1]), 0, ids, 300, &count, &work);
    if (code != TKX_OK) return fprintf(stderr, "embedded: %s\n", tkx_error(code)), 2;
    for (i = 0; i < count; i++) printf("%lu\n", (unsigned long)ids[i]);
    return 0;
}
