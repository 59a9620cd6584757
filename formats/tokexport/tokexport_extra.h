/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport_extra.h - what a file may hold besides a tokenizer: test cases (TEST), an index of ids
   by prefix (SORT), and a chat template as a frame (FRAM). To use them, compile tokexport_extra.c
   beside tokexport.c, with the same macros. The same rules apply: C99, freestanding, no heap, no
   writable globals, and no file can make it read out of bounds.

   SORT and FRAM are described in EXTRA.md beside this file, TEST in SPEC.md. */

#ifndef TOKEXPORT_EXTRA_H
#define TOKEXPORT_EXTRA_H

#include "tokexport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Self test ------------------------------------------------------------------------------- */

/* Encodes the test cases of the file and compares with the ids of the reference. *count: the number
   of cases passed, which on TKX_E_SELF_TEST is the index of the case that failed. `ids` must hold
   the longest case. TKX_E_NOT_FOUND if the file has none. */
TKX_API int tkx_selftest(const tkx *t, uint32_t *ids, size_t capacity, size_t *count,
                         const tkx_work *work);

/* ---- Ids by prefix --------------------------------------------------------------------------- */

/* A range of tokens in the order of their bytes, for constrained decoding and token healing: the
   tokens from `begin` up to, not including, `end` have the same first `depth` bytes. This is a node
   of the vocabulary as a trie: first come the ids that end here, then those of each next byte. The
   functions below need SORT (`tokexport convert --prefix-index`), and return TKX_E_NOT_FOUND
   without it. They take O(log n) steps per byte; in a damaged file the ids may be wrong. */
typedef struct tkx_prefix {
    uint32_t begin, end, depth;
} tkx_prefix;

/* The ids whose bytes (see tkx_token_bytes) begin with a prefix; begin = end if there is none. The
   empty prefix selects all tokens, the root of the trie. */
TKX_API int tkx_prefix_ids(const tkx *t, const void *prefix, size_t size, tkx_prefix *range);

/* The index-th id in that order. */
TKX_API int tkx_prefix_id(const tkx *t, uint32_t index, uint32_t *id);

/* Narrows a range to the ids whose byte at its depth is `byte`, a child of the node; begin = end if
   there is none. TKX_E_ARGUMENT: not a range of this file. */
TKX_API int tkx_prefix_step(const tkx *t, tkx_prefix *range, uint8_t byte);

/* The smallest byte, at least `from` (0 to 256), that some id of a range has at its depth; to visit
   the children of a node, start with from = 0, then use *byte + 1. TKX_E_NOT_FOUND: no more. */
TKX_API int tkx_prefix_next(const tkx *t, const tkx_prefix *range, uint32_t from, uint8_t *byte);

/* ---- Chat ------------------------------------------------------------------------------------ */

/* A chat template as a frame: the fixed texts between messages. `tokexport convert` adds it to a
   file (FRAM) if the template does no more than that; otherwise the functions below return
   TKX_E_NOT_FOUND. A conversation is an optional system message, then user and assistant in turn,
   ending with the user. */
enum { TKX_SYSTEM = 0, TKX_USER = 1, TKX_ASSISTANT = 2 };

typedef struct tkx_message {
    int role;
    const void *text;
    size_t size;
} tkx_message;

/* The ids of a conversation, up to where the model continues. Special tokens of the frame become
   ids; within messages they are text. White space at the ends of messages is dropped if the
   template drops it. The prompt is built in the work memory: 9 bytes for each 8 bytes of the
   prompt, besides what tkx_encode needs.

   TKX_E_ROLE: *id_count is the index of the message that is not allowed there, or `count` if a
   final message of the user is missing. TKX_E_MESSAGE: the index of a message that is empty, or has
   a text that the template would change (such as </think>), which the frame does not support.
   TKX_E_UTF8: the index of a message that is not UTF-8. Otherwise like tkx_encode. */
TKX_API int tkx_chat_encode(const tkx *t, const tkx_message *messages, size_t count, uint32_t *ids,
                            size_t capacity, size_t *id_count, const tkx_work *work);

/* The same as text. On TKX_E_BYTES *size is the number of bytes needed, on TKX_E_ROLE and
   TKX_E_MESSAGE the index of the message. */
TKX_API int tkx_chat_prompt(const tkx *t, const tkx_message *messages, size_t count, uint8_t *out,
                            size_t capacity, size_t *size);

/* The texts of a frame: before the first message of the user if there is no system message; before
   a system message; after it; between two messages, in both orders; and after the last one. */
enum {
    TKX_CHAT_START = 0,
    TKX_CHAT_BEFORE_SYSTEM = 1,
    TKX_CHAT_AFTER_SYSTEM = 2,
    TKX_CHAT_USER_TO_ASSISTANT = 3,
    TKX_CHAT_ASSISTANT_TO_USER = 4,
    TKX_CHAT_USER_TO_REPLY = 5
};

/* One of these texts, in place. TKX_E_ROLE: the frame does not support a system message. */
TKX_API int tkx_chat_text(const tkx *t, int which, const uint8_t **text, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
