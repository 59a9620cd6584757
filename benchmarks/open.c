/* Measures what a C program pays for a tokexport file: the time of tkx_open, and memory. Linux.

       open FILE       maps FILE, opens it, encodes a sentence; prints one line of numbers:
                       first open ns, median open ns, ids, private KiB used, file KiB touched, peak KiB over the file's
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

static const char SENTENCE[] = "The quick brown fox jumps over the lazy dog; it's 10,000 times as quick, na\xc3\xafve as that is.";

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A field of /proc/self/status in KiB. */
static long status(const char *name) {
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name) + 1);
    if (file) fclose(file);
    return value;
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
    long private_before, file_before, private_used, file_used;
    void *data;

    if (argc != 2 || (file = open(argv[1], O_RDONLY)) < 0 || fstat(file, &info) != 0) return 2;
    data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return 2;
    status("RssAnon"); /* the C library's own buffers come first */
    private_before = status("RssAnon");
    file_before = status("RssFile");
    for (i = 0; i < OPENS; i++) {
        long long begin = now();
        if ((code = tkx_open(&t, data, (size_t)info.st_size)) != TKX_OK) return fprintf(stderr, "%s\n", tkx_error(code)), 2;
        times[i] = now() - begin;
        if (i == 0) {
            code = tkx_encode(&t, SENTENCE, sizeof SENTENCE - 1, ids, 128, &count, &work);
            if (code != TKX_OK) return fprintf(stderr, "%s\n", tkx_error(code)), 2;
            private_used = status("RssAnon") - private_before;
            file_used = status("RssFile") - file_before;
        }
    }
    printf("%lld ", times[0]);
    qsort(times, OPENS, sizeof *times, ascending);
    printf("%lld %zu %ld %ld %ld\n", times[OPENS / 2], count, private_used, file_used, status("VmHWM") - file_used);
    return 0;
}
