/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport_extra.c - the implementation of tokexport_extra.h; EXTRA.md describes the sections.
   Edit the units in src/ that src/extra.c names, from which amalgamate.py generates this file. It
   uses the functions of tokexport.h, and the fields of a tkx that tkx_open has checked. */

#include "tokexport_extra.h"

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* A number in the file, at any alignment. */
static uint32_t number_at(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#include "selftest.c"
#include "prefix.c"
#include "chat_frame.c"
#include "chat.c"
