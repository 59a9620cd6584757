/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A chat with a model that echoes: for each line of standard input, prints the ids that a real
   model would be fed, then the reply. Markup that the program writes may become special tokens;
   what the user writes never does, whatever it looks like.
       cc -O2 -I.. chat_loop.c ../tokexport.c -o chat_loop
       ./chat_loop tokenizer.bin "<|user|>" "<|assistant|>" */
#include <string.h>

#include "open_file.h"

enum { MAX_IDS = 1 << 16, MAX_LINE = 1 << 12 };

static uint8_t memory[TKX_WORK_SIZE(MAX_LINE)], cache[1 << 16], text[1 << 18];
static const tkx_work work = {memory, sizeof memory, cache, sizeof cache};
static uint32_t ids[MAX_IDS];
static size_t used;

/* Appends text to the conversation; `special`: it is markup. */
static int say(const tkx *t, const char *what, int special) {
    size_t count;
    const int code = (special ? tkx_encode_special : tkx_encode)(t, what, strlen(what), ids + used,
                                                                 MAX_IDS - used, &count, &work);
    if (code != TKX_OK) fprintf(stderr, "chat_loop: %s\n", tkx_error(code));
    else used += count;
    return code == TKX_OK;
}

int main(int argc, char **argv) {
    char line[MAX_LINE];
    tkx_decoder d;
    tkx t;
    if (argc != 4) return fputs("usage: chat_loop tokenizer.bin USER ASSISTANT\n", stderr), 2;
    if (!open_file(&t, argv[1])) return 2;
    if (tkx_special_id(&t, TKX_BOS, &ids[0]) == TKX_OK) used = 1;
    while (fgets(line, sizeof line, stdin)) {
        size_t from, to, i, size;
        line[strcspn(line, "\n")] = 0;
        if (!say(&t, argv[2], 1)) return 2;
        from = used;
        if (!say(&t, line, 0)) return 2;
        to = used;
        if (!say(&t, argv[3], 1)) return 2;
        printf("fed:");
        for (i = 0; i < used; i++) printf(" %lu", (unsigned long)ids[i]);
        printf("\nreply: ");
        tkx_decoder_init(&d, &t, 1);
        for (i = from; i < to && used < MAX_IDS; i++) {
            ids[used++] = ids[i]; /* what a model would sample */
            if (tkx_decoder_step(&d, ids[i], text, sizeof text, &size) != TKX_OK) return 2;
            fwrite(text, 1, size, stdout);
        }
        if (tkx_decoder_flush(&d, text, sizeof text, &size) != TKX_OK) return 2;
        fwrite(text, 1, size, stdout);
        putchar('\n');
    }
    return 0;
}
