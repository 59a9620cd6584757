/* Between the C core and the bulk engine, which encodes long texts for the Python extension.

   bridge.c holds the core (tokexport.c, whole) compiled with TKX_BULK: encode_plain then offers
   each segment to the engine, and the engine asks for what only the core knows by the functions
   here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tokexport.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tkx_context; /* a call of the core */
struct tkx_bulk;    /* the engine in a workspace (encoder.h) */

/* A segment between added tokens, after the normalizer. Up to `limit` bytes may be read. */
typedef struct tkx_bulk_segment {
    const uint8_t *text;
    size_t size;
    int is_spaced; /* a space comes before the text, which is not in it */
    const uint8_t *limit;
    uint32_t *ids; /* room for `capacity` ids; `count` is the number made, which may be larger */
    size_t capacity, count;
} tkx_bulk_segment;

/* Eight sets of bytes: b may be in set i if low[b % 16] and high[b / 16] have bit i. */
typedef struct tkx_bulk_byte_sets {
    uint8_t low[16], high[16];
} tkx_bulk_byte_sets;

/* The code points up to U+FFFF that a normal form leaves alone, and that have no part in what it
   makes of others. */
typedef struct tkx_bulk_stable {
    uint64_t points[1024]; /* bit c % 64 of points[c / 64] */
    /* any other is in some set by its first byte, and by its second and third, if there are */
    tkx_bulk_byte_sets first, second, third;
    const uint8_t *(*skip)(const struct tkx_bulk_stable *, const uint8_t *, const uint8_t *);
} tkx_bulk_stable;

/* Of the core: the same of an operation of a file; 0 if that is no normal form. */
int tkx_bulk_find_stable(tkx *t, uint32_t number, tkx_bulk_stable *stable);

/* The first two bytes of added tokens: an added token begins only where some set may have both. */
typedef struct tkx_bulk_starts {
    tkx_bulk_byte_sets first, second;
    /* skips places where none begins, with two bytes or more */
    const uint8_t *(*skip)(const struct tkx_bulk_starts *, const uint8_t *, const uint8_t *);
} tkx_bulk_starts;

/* Of the core: finds them for the raw added tokens of a file or for the normalized ones, which then
   are looked up with them. Nothing of it is if there are none. `starts` is zeroed, with `skip`. */
void tkx_bulk_find_starts(tkx *t, int normalized, tkx_bulk_starts *starts);

/* Of the engine: encodes a segment. TKX_E_NOT_FOUND: it does not, the core has to; nothing of
   `ids` counts then. */
int tkx_bulk_encode(struct tkx_bulk *bulk, struct tkx_context *ctx, tkx_bulk_segment *segment);

/* Of the engine: whether tkx_bulk_has_light_normalizer. */
int tkx_bulk_maps_marks_only(const struct tkx_bulk *bulk);

/* Of the engine: whether what it is given continues a text, of which it had to be a part that the
   engine alone can encode: nothing comes before it. */
int tkx_bulk_is_rest(const struct tkx_bulk *bulk);

/* Whether a file has added tokens that are found in every text. */
int tkx_bulk_has_plain_tokens(const tkx *t);

/* A pre-token that is looked up; the engine sets `bytes` and `size`. */
typedef struct tkx_bulk_word {
    const uint8_t *bytes;
    uint32_t size;
    uint32_t id; /* the result: the token that it is as a whole, or TKX_NONE */
    uint64_t hash;
    uint32_t slot;
    uint32_t listed; /* not of this word: the number of another one, whose slot fits */
} tkx_bulk_word;

/* Of the core: finds the tokens that pre-tokens are as a whole, together, so that their cache
   misses overlap. TKX_OK or TKX_E_CORRUPT. */
int tkx_bulk_find(const tkx *t, tkx_bulk_word *words, size_t count);

/* Of the core: merges a pre-token that is no token as a whole into `ids`, which has room for
   `size` ids and 4 more. */
int tkx_bulk_merge(struct tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                   size_t *count);

/* Of the core: the same for a pre-token of any length, with the token that it may be as a whole;
   ids beyond `capacity` are counted, not written. */
int tkx_bulk_encode_long(struct tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                         size_t capacity, size_t *count);

/* Of the core: whether it had too little memory for some pre-token of this call, or for a part of
   one: that has no ids then. The call will be made again. */
int tkx_bulk_lacks_memory(const struct tkx_context *ctx);

/* Whether a file has BPE over bytes. */
int tkx_bulk_is_byte_level(const tkx *t);

/* Whether a file has BPE over characters, no pre-tokenizer, and XPRS. */
int tkx_bulk_is_characters(const tkx *t);

/* Whether all that such a file makes of a text without U+2581 is a space before it, or nothing. */
int tkx_bulk_has_light_normalizer(const tkx *t);

/* The id of the first symbol of a character, in such a file, or TKX_NONE. */
uint32_t tkx_bulk_symbol(const tkx *t, uint32_t code_point);

#ifdef __cplusplus
}
#endif
