/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Measures what a tokexport file costs a C program: the time of tkx_open, and memory. Linux.

       open FILE       maps FILE, opens it, encodes a sentence; prints one line of numbers:
                       first open ns, median open ns, ids, private KiB of opening and encoding
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tokexport.h"

enum { OPENS = 1001, WORK = 1 << 16 };

static const char SENTENCE[] = "The quick brown fox jumps over the lazy dog; it's 10,000 times as "
                               "quick, na\xc3\xafve as that is.";

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* This process's private memory in KiB: stack, work memory and everything else that is not a page
   of a file. Exact to a page; the figures in /proc/self/status come in steps of many pages. */
static long private_memory(void) {
    static char text[4096];
    ssize_t size;
    const char *field;
    int file = open("/proc/self/smaps_rollup", O_RDONLY);
    if (file < 0) return -1;
    size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    field = strstr(text, "Anonymous:");
    return field ? atol(field + strlen("Anonymous:")) : -1;
}

static int ascending(const void *a, const void *b) {
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static unsigned char memory[WORK];
    static long long times[OPENS];
    uint32_t ids[128];
    size_t count = 0;
    struct stat info;
    tkx t;
    tkx_work work = {memory, sizeof memory, NULL, 0};
    int file, i, code;
    long before, used = 0;
    void *data;

    if (argc != 2 || (file = open(argv[1], O_RDONLY)) < 0 || fstat(file, &info) != 0) return 2;
    data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return 2;
    private_memory(); /* touches the pages that it needs itself */
    before = private_memory();
    for (i = 0; i < OPENS; i++) {
        long long begin = now();
        if ((code = tkx_open(&t, data, (size_t)info.st_size)) != TKX_OK)
            return fprintf(stderr, "%s\n", tkx_error(code)), 2;
        times[i] = now() - begin;
        if (i == 0) {
            code = tkx_encode(&t, SENTENCE, sizeof SENTENCE - 1, ids, 128, &count, &work);
            if (code != TKX_OK) return fprintf(stderr, "%s\n", tkx_error(code)), 2;
            used = private_memory() - before;
        }
    }
    printf("%lld ", times[0]);
    qsort(times, OPENS, sizeof *times, ascending);
    printf("%lld %zu %ld\n", times[OPENS / 2], count, used);
    return 0;
}
