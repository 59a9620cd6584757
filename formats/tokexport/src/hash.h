/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- hash.h: hashing (2.4, 2.5) -------------------------------------------------------------- */

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

/* hash_bytes; `has_word`: 8 bytes may be read at b, so that no branch depends on a small size. */
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

/* ---- hash.h: checksums ----------------------------------------------------------------------- */

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
