/* Prints the ids of standard input, one a line.
       cc -O2 -I.. encode_stdin.c ../tokexport.c -o encode_stdin
       ./encode_stdin tokenizer.bin < text.txt */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tokexport.h"

static char text[1 << 20];
static uint32_t ids[sizeof text];
static unsigned char memory[1 << 20], cache[1 << 20];

int main(int argc, char **argv) {
    tkx t;
    tkx_work work = {memory, sizeof memory, cache, sizeof cache};
    struct stat info;
    size_t size, count, i;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1, code;
    if (file < 0 || fstat(file, &info) != 0) return fputs("usage: encode_stdin tokenizer.bin < text\n", stderr), 2;
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return perror(argv[1]), 2;
    code = tkx_open(&t, data, (size_t)info.st_size);
    if (code == TKX_OK) {
        size = fread(text, 1, sizeof text, stdin);
        code = tkx_encode(&t, text, size, ids, sizeof ids / sizeof *ids, &count, &work);
    }
    if (code != TKX_OK) return fprintf(stderr, "%s\n", tkx_error(code)), 2;
    for (i = 0; i < count; i++) printf("%lu\n", (unsigned long)ids[i]);
    return 0;
}
