/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Reads a file and opens it. A program would map the file, or have it in flash: see encode_stdin.c
   and embedded.c. */

#ifndef OPEN_FILE_H
#define OPEN_FILE_H

#include <stdio.h>
#include <stdlib.h>

#include "tokexport.h"

static int open_file(tkx *t, const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long size = -1;
    int code = TKX_E_EMPTY;
    if (!file) return perror(path), 0;
    if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size > 0) data = (unsigned char *)malloc((size_t)size);
    if (data) {
        rewind(file);
        if (fread(data, 1, (size_t)size, file) == (size_t)size)
            code = tkx_open(t, data, (size_t)size);
    }
    fclose(file);
    if (code != TKX_OK) fprintf(stderr, "%s: %s\n", path, tkx_error(code));
    return code == TKX_OK;
}

#endif
