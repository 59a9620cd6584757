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
