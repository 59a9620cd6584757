/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- base.h: compilers, and bytes ------------------------------------------------------------ */

/* Compilers need these functions, but freestanding C99 does not require <string.h>. */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* With -ffreestanding, GCC and Clang expand a small copy inline only if it is the built-in. */
#if defined(__GNUC__)
#define TKX_COPY __builtin_memcpy
#define TKX_LIKELY(condition) __builtin_expect(!!(condition), 1)
#if defined(__OPTIMIZE_SIZE__) /* 25 % less code, 10 to 25 % slower */
#define TKX_INLINE inline
#else
#define TKX_INLINE inline __attribute__((always_inline))
#endif
#define TKX_NOINLINE __attribute__((noinline))
#define TKX_PREFETCH(address) __builtin_prefetch(address)
#else
#define TKX_COPY memcpy
#define TKX_LIKELY(condition) (condition)
#define TKX_INLINE inline
#define TKX_NOINLINE
#define TKX_PREFETCH(address) ((void)0)
#endif

enum { MAX_TEXT = 0x7FFFFFFF, MAX_CONTENT = 0xFFFF };

/* ---- base.h: loading and storing ------------------------------------------------------------- */

/* Work memory is read and written in the byte order of the host. */
static TKX_INLINE uint32_t get_u32(const uint8_t *p) {
    uint32_t v;
    TKX_COPY(&v, p, 4);
    return v;
}

static TKX_INLINE uint64_t get_u64(const uint8_t *p) {
    uint64_t v;
    TKX_COPY(&v, p, 8);
    return v;
}

static TKX_INLINE void put_u32(uint8_t *p, uint32_t v) { TKX_COPY(p, &v, 4); }
static TKX_INLINE void put_u64(uint8_t *p, uint64_t v) { TKX_COPY(p, &v, 8); }

/* The file is little-endian. */
static TKX_INLINE uint32_t load_u16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) &&                                 \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static TKX_INLINE uint32_t load_u32(const uint8_t *p) { return get_u32(p); }
static TKX_INLINE uint64_t load_u64(const uint8_t *p) { return get_u64(p); }
#else
static TKX_INLINE uint32_t load_u32(const uint8_t *p) {
    return load_u16(p) | load_u16(p + 2) << 16;
}
static TKX_INLINE uint64_t load_u64(const uint8_t *p) {
    return (uint64_t)load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}
#endif

/* Number of zero bits below the lowest one; v is not 0. */
static TKX_INLINE unsigned lowest_bit(uint64_t v) {
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(v);
#else
    unsigned n = 0;
    while (!(v & 1)) v >>= 1, n++;
    return n;
#endif
}

static const uint64_t HIGH_BITS = UINT64_C(0x8080808080808080);
static const uint64_t LOW_BITS = UINT64_C(0x0101010101010101);

static int bit_of(const uint8_t *bits, size_t i) { return bits[i >> 3] >> (i & 7) & 1; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- base.h: hashing (2.4, 2.5) -------------------------------------------------------------- */

#define TKX_K0 UINT64_C(0x9E3779B97F4A7C15)
#define TKX_K1 UINT64_C(0xD6E8FEB86659FD93)
#define TKX_K2 UINT64_C(0xFF51AFD7ED558CCD)
#define TKX_K3 UINT64_C(0xC4CEB9FE1A85EC53)

static TKX_INLINE uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * TKX_K1;
    return h ^ h >> 32;
}

static TKX_INLINE uint64_t finish(uint64_t h) {
    h *= TKX_K2;
    return h ^ h >> 29;
}

static TKX_INLINE uint64_t hash_bytes(const uint8_t *b, size_t n) {
    uint64_t h = n * TKX_K0;
    size_t i;
    if (n >= 8) {
        for (i = 0; i < n - 8; i += 8) h = mix(h, load_u64(b + i)) * TKX_K2;
        h = mix(h, load_u64(b + n - 8));
    } else if (n >= 4) {
        h = mix(h, (uint64_t)load_u32(b) | (uint64_t)load_u32(b + n - 4) << 32);
    } else if (n > 0) {
        h = mix(h, (uint64_t)b[0] | (uint64_t)b[n >> 1] << 8 | (uint64_t)b[n - 1] << 16);
    }
    return finish(h);
}

/* The same; `has_word`: 8 bytes may be read at b, so that no branch depends on a small size. */
static TKX_INLINE uint64_t hash_near(const uint8_t *b, size_t n, int has_word) {
    uint64_t word, three, eight, is_three = 0 - (uint64_t)(n < 4);
    if (!TKX_LIKELY(has_word && n <= 8)) return hash_bytes(b, n);
    word = load_u64(b);
    three = (word & 255) | (word >> 8 * (n >> 1) & 255) << 8 | (word >> 8 * (n - 1) & 255) << 16;
    eight = (word & TKX_NONE) | word >> (8 * (n - 4) & 63) << 32;
    return finish(mix(n * TKX_K0, (three & is_three) | (eight & ~is_three)));
}

/* Whether two strings are equal; `has_word`: 8 bytes may be read at both. */
static TKX_INLINE int same_bytes(const uint8_t *a, const uint8_t *b, size_t n, int has_word) {
    if (TKX_LIKELY(has_word && n <= 8)) return !((load_u64(a) ^ load_u64(b)) << 8 * (8 - n));
    return memcmp(a, b, n) == 0;
}

static TKX_INLINE uint64_t hash_pair(uint32_t left, uint32_t right) {
    return finish(mix(0, (uint64_t)left << 21 | right));
}

/* The bucket, below `buckets`, of a key with hash h. */
static TKX_INLINE size_t bucket_of(uint64_t h, uint32_t buckets) {
    return (size_t)((h & TKX_NONE) * buckets >> 32);
}

/* The only slot, below `slots`, of a key with hash h, given the displacement of its bucket. */
static TKX_INLINE size_t slot_of(uint64_t h, uint64_t displacement, uint32_t slots) {
    return (size_t)(((h ^ displacement * TKX_K3) * TKX_K1 >> 32) * slots >> 32);
}

/* ---- base.h: checksums ----------------------------------------------------------------------- */

/* The CRC-32 of zlib, for a header: start with TKX_NONE, invert the result. */
static uint32_t crc_small(uint32_t crc, const uint8_t *p, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                       0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                       0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    size_t i;
    for (i = 0; i < size; i++) {
        crc = table[(crc ^ p[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ (uint32_t)p[i] >> 4) & 15] ^ crc >> 4;
    }
    return crc;
}

/* The same with tables on the stack, for whole sections: six times as fast (1.35 GB/s). */
static void crc_tables(uint32_t tables[4][256]) {
    uint32_t i;
    for (i = 0; i < 1024; i++) {
        const uint8_t bytes[4] = {(uint8_t)i, 0, 0, 0};
        tables[i >> 8][i & 255] = crc_small(0, bytes, 1 + (i >> 8));
    }
}

static uint32_t crc_large(uint32_t tables[4][256], const uint8_t *p, size_t size) {
    uint32_t crc = TKX_NONE;
    for (; size >= 4; size -= 4, p += 4) {
        crc ^= load_u32(p);
        crc = tables[3][crc & 255] ^ tables[2][crc >> 8 & 255] ^ tables[1][crc >> 16 & 255] ^
              tables[0][crc >> 24];
    }
    for (; size; size--, p++) crc = tables[0][(crc ^ *p) & 255] ^ crc >> 8;
    return ~crc;
}

/* ---- base.h: UTF-8 --------------------------------------------------------------------------- */

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
