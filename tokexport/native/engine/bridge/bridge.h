/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* The interface between the C core and the bulk engine, which encodes long texts for the Python
   extension.

   bridge.c compiles the core (tokexport.c, whole) with TKX_BULK: encode_plain then offers each
   segment to the engine, which calls back for what only the core knows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tokexport.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tkx_context; /* a call of the core */
struct tkx_bulk;    /* the engine in a workspace (encoder.h) */

/* A segment between added tokens, after the normalizer; TKX_BULK_SPACED: a space precedes it, and
   is not part of it. Or a text with added tokens (tkx_bulk_scan), TKX_BULK_SPECIAL: with special
   ones. Bytes up to `limit` may be read. */
enum { TKX_BULK_SEGMENT, TKX_BULK_SPACED, TKX_BULK_TOKENS, TKX_BULK_SPECIAL };
typedef struct tkx_bulk_segment {
    const uint8_t *text;
    size_t size;
    int kind, normalized; /* normalized: which added tokens */
    const uint8_t *limit;
    uint32_t *ids; /* room for `capacity` ids; `count` is the number made, which may be larger */
    size_t capacity, count;
} tkx_bulk_segment;

/* Eight sets of bytes: b may be in set i if low[b % 16] and high[b / 16] have bit i. */
typedef struct tkx_bulk_byte_sets {
    uint8_t low[16], high[16];
} tkx_bulk_byte_sets;

/* The code points up to U+FFFF that a normal form leaves unchanged, and that do not affect what it
   makes of other code points. */
typedef struct tkx_bulk_stable {
    uint64_t points[1024]; /* bit c % 64 of points[c / 64] */
    /* any other is in some set by its first byte, and by its second and third, if present */
    tkx_bulk_byte_sets first, second, third;
    const uint8_t *(*skip)(const struct tkx_bulk_stable *, const uint8_t *, const uint8_t *);
} tkx_bulk_stable;

/* Core: finds them for an operation of a file; 0 if the operation is not a normal form. */
int tkx_bulk_find_stable(tkx *t, uint32_t number, tkx_bulk_stable *stable);

/* Which two bytes, a and b, begin a sequence that a charsmap replaces, or a text that it protects:
   bit b % 64 of bits[4 * a + b / 64]. */
typedef struct tkx_bulk_pairs {
    uint64_t bits[1024];
} tkx_bulk_pairs;

/* Core: fills them for an operation, and uses them to skip text from then on; 0 if the operation is
   not a charsmap of longest sequences. `pairs` is zeroed. */
int tkx_bulk_find_pairs(tkx *t, uint32_t number, tkx_bulk_pairs *pairs);

/* The added tokens that begin with a byte, if each is a run of it: of a run of i bytes, the longest
   token has lengths[i] bytes, or 0 if none, and is tokens[i]. Of longer ones than `most` bytes too,
   it is that of `most`; 0: there are others that begin with the byte. */
typedef struct tkx_bulk_runs {
    uint32_t most;
    uint8_t lengths[64];
    uint32_t tokens[64];
} tkx_bulk_runs;

/* The first two bytes of added tokens: an added token begins only where some set may have both. */
typedef struct tkx_bulk_starts {
    tkx_bulk_byte_sets first, second;
    tkx_bulk_runs spaces, tabs;
    /* skips positions where none begins, and that have two bytes or more */
    const uint8_t *(*skip)(const struct tkx_bulk_starts *, const uint8_t *, const uint8_t *);
} tkx_bulk_starts;

/* Core: fills `starts` for the raw or the normalized added tokens of a file, and uses it to look
   them up from then on; unless there are none. `starts` is zeroed except for `skip`. */
void tkx_bulk_find_starts(tkx *t, int normalized, tkx_bulk_starts *starts);

/* Whether every added token is searched for as it is spelled: the normalizer changes none. */
int tkx_bulk_tokens_are_verbatim(const tkx *t);

/* Engine: encodes a segment. TKX_E_NOT_FOUND: the engine cannot, so the core has to; `ids` is to be
   ignored then. */
int tkx_bulk_encode(struct tkx_bulk *bulk, struct tkx_context *ctx, tkx_bulk_segment *segment);

/* Engine: whether it collects texts, to encode them together; and then: keeps a text that is one
   segment, or one with added tokens. Its bytes must not move before. 0: it does not. */
int tkx_bulk_collects(const struct tkx_bulk *bulk);
int tkx_bulk_collect(struct tkx_bulk *bulk, const tkx_bulk_segment *segment);

/* Core: makes a context in which the engine encodes the texts that it collected (the second
   function). `counts`: the number of ids of each. If it fails, the texts can be encoded one by one,
   as if they had not been collected. */
int tkx_bulk_encode_collected(const tkx *t, const tkx_work *work, uint32_t *ids, size_t capacity,
                              size_t *counts);
int tkx_bulk_run_collected(struct tkx_bulk *bulk, struct tkx_context *ctx, uint32_t *ids,
                           size_t capacity, size_t *counts);

/* Core: finds the added tokens of such a text or of a part of it, with special ones or without, and
   calls `take` for each, and with TKX_NONE for each segment between them; until it returns an
   error. */
int tkx_bulk_scan(struct tkx_context *ctx, int special, int normalized, const uint8_t *text,
                  size_t size, int (*take)(void *self, size_t from, size_t to, uint32_t id),
                  void *self);

/* Whether an added token is a run of spaces or line feeds, so that most segments are short. */
int tkx_bulk_has_space_tokens(const tkx *t, int normalized);

/* Engine: whether its file has such tokens, and it encodes texts with them. */
int tkx_bulk_takes_tokens(const struct tkx_bulk *bulk, int normalized);

/* Engine: whether the file satisfies tkx_bulk_has_light_normalizer. */
int tkx_bulk_maps_marks_only(const struct tkx_bulk *bulk);

/* Engine: whether the text is a rest: it continues an earlier text, so nothing is put before its
   first segment. The core cannot encode rests. */
int tkx_bulk_is_rest(const struct tkx_bulk *bulk);

/* Whether a text of a file with a light normalizer can be cut where no added token is: not if added
   tokens, the `special` ones included, are found in normalized text, and stages put a space before
   each segment between them. */
int tkx_bulk_can_cut(const tkx *t, int special);

/* Core: whether no added token can contain a cut of such a text, touch it or strip white space
   across it. The bytes may be a part of the text, which is valid. */
int tkx_bulk_is_outside_tokens(const tkx *t, const uint8_t *text, size_t cut);

/* A pre-token to look up; the engine sets `bytes` and `size`. */
typedef struct tkx_bulk_word {
    const uint8_t *bytes;
    uint32_t size;
    uint32_t id; /* the result: the token that equals the pre-token, or TKX_NONE */
    uint64_t hash;
    uint32_t slot;
    uint32_t listed; /* unrelated to this word: the index of another one, whose slot fits */
} tkx_bulk_word;

/* Core: finds the tokens that equal whole pre-tokens, for many at a time, so that their cache
   misses overlap. TKX_OK or TKX_E_CORRUPT. */
int tkx_bulk_find(const tkx *t, tkx_bulk_word *words, size_t count);

/* Core: merges a pre-token that is not itself a token into `ids`, which has room for `size` ids and
   4 more. */
int tkx_bulk_merge(struct tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                   size_t *count);

/* Core: the same for a pre-token of any length, which may itself be a token; ids beyond `capacity`
   are counted, not written. */
int tkx_bulk_encode_long(struct tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids,
                         size_t capacity, size_t *count);

/* Whether `next` stages of a file cut a segment into words whose ids depend on nothing else. */
int tkx_bulk_has_words(const tkx *t, uint32_t next);

/* Core: encodes a word by the stages from `next` on and the model; ids beyond `capacity` are
   counted, not written. */
int tkx_bulk_encode_word(struct tkx_context *ctx, uint32_t next, const uint8_t *bytes, size_t size,
                         uint32_t *ids, size_t capacity, size_t *count);

/* Whether a file has SentencePiece's Unigram: a text is cut into parts (CrossingSplitter::of_cuts),
   whose ids depend on other parts only by the sum of scores, which runs through the text and is
   rounded. Scores are at most TKX_BULK_LARGEST in absolute value. */
#define TKX_BULK_LARGEST 100
int tkx_bulk_has_sum(const tkx *t);

/* Engine: whether its file is such. */
int tkx_bulk_runs_sum(const struct tkx_bulk *bulk);

/* Engine: an id beyond those of its file for the unknown id of a run of unknown text that is in a
   stable part; TKX_NONE if there are too many. */
uint32_t tkx_bulk_name_unknown(struct tkx_bulk *bulk, const uint8_t *text, size_t size);

/* Core: whether the ids of a text depend on the text before it: tkx_encoder.carry. */
int tkx_bulk_has_carry(const tkx *t);

/* Core: tkx_cut, also for such files, whose carry must go on after the cut. */
size_t tkx_bulk_cut(const tkx *t, const void *text, size_t size);

/* Core: the sum so far. It is reset when its absolute value passes this number. */
#define TKX_BULK_RESET 100000
double *tkx_bulk_sum(struct tkx_context *ctx);

/* Single characters up to U+FFFF before such a file's normalizer, and the ones that they become. */
#define TKX_BULK_POINTS 0x10000
typedef struct tkx_bulk_points {
    /* sets, with a bit for each: a text can be normalized in two parts between one of `left` and
       one of `right` after it, and each becomes one character */
    uint64_t left[TKX_BULK_POINTS / 64], right[TKX_BULK_POINTS / 64];
    /* after the normalizer: the characters that are tokens, so that they are never unknown */
    uint64_t tokens[TKX_BULK_POINTS / 64];
    /* a text of these is not changed, except that something may be put before it; with keeps_space,
       nor is one of a space and some of these */
    uint64_t unchanged[TKX_BULK_POINTS / 64];
    int keeps_space;
    /* ASCII characters that become a space, which is a token: a text can be cut between one of
       `left` and them */
    uint64_t spaces[2];
    uint16_t images[TKX_BULK_POINTS];
} tkx_bulk_points;

/* Fills a zeroed object; 0: the normalizer is not supported. */
int tkx_bulk_find_points(const tkx *t, tkx_bulk_points *found);

/* Core: encodes a part, and goes on with the sum; ids beyond `capacity` are counted, not written.
   TKX_BULK_INNER: nothing is put before it; TKX_BULK_UNCHANGED: nor does it change otherwise.
   *is_stable: the ids are the same for any sum, and spell the normalized text. Runs of unknown text
   may have their own ids (tkx_bulk_name_unknown). */
enum { TKX_BULK_WHOLE, TKX_BULK_INNER, TKX_BULK_UNCHANGED };
int tkx_bulk_encode_part(struct tkx_context *ctx, const uint8_t *bytes, size_t size, int kind,
                         uint32_t *ids, size_t capacity, size_t *count, int *is_stable);

/* Core: goes on with the sum through a normalized text; no token crosses its ends. */
int tkx_bulk_add_text(struct tkx_context *ctx, const uint8_t *bytes, size_t size);

/* Core: whether the memory was too small for some pre-token of this call, or for a part of one,
   whose ids are missing then. The call will be repeated. */
int tkx_bulk_lacks_memory(const struct tkx_context *ctx);

/* Whether a file has BPE over bytes. */
int tkx_bulk_is_byte_level(const tkx *t);

/* Whether a file has BPE over characters, no pre-tokenizer, and XPRS. */
int tkx_bulk_is_characters(const tkx *t);

/* Whether such a file changes a text without U+2581 at most by a space before it. */
int tkx_bulk_has_light_normalizer(const tkx *t);

/* The id of the first symbol of a character, in such a file, or TKX_NONE. */
uint32_t tkx_bulk_symbol(const tkx *t, uint32_t code_point);

#ifdef __cplusplus
}
#endif
