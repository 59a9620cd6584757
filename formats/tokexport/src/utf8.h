/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- utf8.h: UTF-8 --------------------------------------------------------------------------- */

enum { UTF8_BAD, UTF8_CUT, UTF8_GOOD };

static int utf8_inside(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Examines the character at p; size > 0. *length: its length; if the text ends inside it, the bytes
   that there are; if it is bad, the length of the part that one U+FFFD replaces. */
static int utf8_look(const uint8_t *p, size_t size, size_t *length) {
    uint8_t lead = p[0], low = 0x80, high = 0xBF;
    size_t need, i;
    *length = 1;
    if (lead < 0x80) return UTF8_GOOD;
    if (lead < 0xC2 || lead > 0xF4) return UTF8_BAD;
    need = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    for (i = 1; i < need; i++, low = 0x80, high = 0xBF) {
        *length = i;
        if (i == size) return UTF8_CUT;
        if (p[i] < low || p[i] > high) return UTF8_BAD;
    }
    *length = need;
    return UTF8_GOOD;
}

static TKX_INLINE const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p < 0x80) {
        p++;
        while (end - p >= 8 && !(load_u64(p) & HIGH_BITS)) p += 8;
    }
    return p;
}

/* The offset of the first byte that is not part of a valid character, or size. English: 13 GB/s. */
static size_t utf8_valid(const uint8_t *p, size_t size) {
    size_t i = 0, length;
    while (i < size && (i = (size_t)(skip_ascii(p + i, p + size) - p)) < size) {
        /* most characters of three bytes: after E1 to EC, any continuation bytes are valid */
        if (size - i >= 3 && (uint8_t)(p[i] - 0xE1) < 12 && utf8_inside(p[i + 1]) &&
            utf8_inside(p[i + 2]))
            length = 3;
        else if (utf8_look(p + i, size - i, &length) != UTF8_GOOD) break;
        i += length;
    }
    return i;
}

/* The length of the character with this first byte, in valid UTF-8. */
static TKX_INLINE size_t utf8_length(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* The code point at p, in valid UTF-8. */
static TKX_INLINE uint32_t utf8_decode(const uint8_t *p) {
    uint32_t a = p[0];
    if (a < 0x80) return a;
    if (a < 0xE0) return (a & 31) << 6 | (p[1] & 63u);
    if (a < 0xF0) return (a & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    return (a & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
}

#ifndef TKX_NO_NORMALIZER

/* Writes a code point (no surrogate, at most 0x10FFFF) as 1 to 4 bytes. */
static size_t utf8_encode(uint8_t *p, uint32_t c) {
    static const uint8_t leads[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    size_t i;
    for (i = size - 1; i; i--, c >>= 6) p[i] = (uint8_t)(0x80 | (c & 63));
    p[0] = (uint8_t)(leads[size] | c);
    return size;
}

#endif
