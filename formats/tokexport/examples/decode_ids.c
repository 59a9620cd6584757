/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Prints the text of ids, which are its arguments.
       cc -O2 -I.. decode_ids.c ../tokexport.c -o decode_ids
       ./decode_ids tokenizer.bin 15496 11 995 */
#include "open_file.h"

enum { MAX_IDS = 1024 };

int main(int argc, char **argv) {
    static uint32_t ids[MAX_IDS];
    uint8_t *text;
    char *end;
    size_t count = 0, size = 0;
    int i, code;
    tkx t;
    if (argc < 2 || argc - 2 > MAX_IDS)
        return fputs("usage: decode_ids tokenizer.bin ID...\n", stderr), 2;
    if (!open_file(&t, argv[1])) return 2;
    for (i = 2; i < argc; i++) {
        ids[count++] = (uint32_t)strtoul(argv[i], &end, 10);
        if (end == argv[i] || *end)
            return fprintf(stderr, "decode_ids: %s is not an id\n", argv[i]), 2;
    }
    tkx_decode_text(&t, ids, count, NULL, 0, &size); /* how many bytes? */
    text = (uint8_t *)malloc(size + 1);
    if (!text) return 2;
    code = tkx_decode_text(&t, ids, count, text, size, &size);
    if (code == TKX_E_ID) fprintf(stderr, "decode_ids: there is no id %s\n", argv[2 + size]);
    if (code == TKX_OK) {
        fwrite(text, 1, size, stdout);
        putchar('\n');
    }
    free(text);
    return code == TKX_OK ? 0 : 2;
}
