/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Prints a reply while it is generated: reads ids from standard input and writes the text that each
   of them completes, up to one that ends the generation. No character is ever split.
       cc -O2 -I.. stream_reply.c ../tokexport.c -o stream_reply
       my_model | ./stream_reply tokenizer.bin */
#include "open_file.h"

static int is_stop(const tkx *t, uint32_t id) {
    uint32_t stop, i;
    for (i = 0; tkx_stop_id(t, i, &stop) == TKX_OK; i++) {
        if (stop == id) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    static uint8_t text[1 << 18]; /* three bytes for each of the longest token, and what is held */
    unsigned long id;
    size_t size;
    int code = TKX_OK, read = 0;
    tkx_decoder d;
    tkx t;
    if (argc != 2) return fputs("usage: stream_reply tokenizer.bin < ids\n", stderr), 2;
    if (!open_file(&t, argv[1])) return 2;
    if (tkx_decoder_init(&d, &t, 1) != TKX_OK) return 2;
    while (code == TKX_OK && (read = scanf("%lu", &id)) == 1 && !is_stop(&t, (uint32_t)id)) {
        code = tkx_decoder_step(&d, (uint32_t)id, text, sizeof text, &size);
        if (code != TKX_OK) break;
        fwrite(text, 1, size, stdout);
        fflush(stdout);
    }
    if (code == TKX_OK) code = tkx_decoder_flush(&d, text, sizeof text, &size);
    if (code != TKX_OK) return fprintf(stderr, "stream_reply: %s\n", tkx_error(code)), 2;
    fwrite(text, 1, size, stdout);
    putchar('\n');
    if (read == 0) return fputs("stream_reply: the input has more than ids\n", stderr), 2;
    return 0;
}
