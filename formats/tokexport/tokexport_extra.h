/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport_extra.h - what a file may hold besides a tokenizer: texts with their ids (TEST), ids by
   prefix (SORT), and a chat template as a frame (FRAM). Programs that want them compile
   tokexport_extra.c beside tokexport.c, with the same macros. The same rules hold: C99,
   freestanding, no heap, no writable globals, and no file makes it read out of bounds.

   SORT and FRAM are described in EXTRA.md beside this file, TEST in SPEC.md. */

#ifndef TOKEXPORT_EXTRA_H
#define TOKEXPORT_EXTRA_H

#include "tokexport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Self test ------------------------------------------------------------------------------- */

/* Encodes the test cases of the file and compares with the ids of the reference library. *count:
   cases passed; on TKX_E_SELF_TEST that is the index of the case that failed. `ids` must hold the
   longest case. TKX_E_NOT_FOUND when the file has none. */
TKX_API int tkx_selftest(const tkx *t, uint32_t *ids, size_t capacity, size_t *count,
                         const tkx_work *work);

/* ---- Ids by prefix --------------------------------------------------------------------------- */

/* Tokens in the order of their bytes, for constrained decoding and token healing: the `begin`-th
   up to, not including, the `end`-th have the same first `depth` bytes. It is a node of the
   vocabulary as a trie: first come the ids that end here, then those of each next byte. The
   functions below need SORT (`tokexport convert --prefix-index`), or give TKX_E_NOT_FOUND. They
   take O(log n) steps a byte; in a damaged file the ids may be wrong. */
typedef struct tkx_prefix {
    uint32_t begin, end, depth;
} tkx_prefix;

/* The ids whose bytes (see tkx_token_bytes) begin with a prefix; begin = end if there is none. The
   empty prefix gives all tokens, the root of the trie. */
TKX_API int tkx_prefix_ids(const tkx *t, const void *prefix, size_t size, tkx_prefix *range);

/* The index-th id of that order. */
TKX_API int tkx_prefix_id(const tkx *t, uint32_t index, uint32_t *id);

/* Narrows a range to the ids whose byte at its depth is `byte`: the child of a node; begin = end if
   there is none. TKX_E_ARGUMENT: no range of this file. */
TKX_API int tkx_prefix_step(const tkx *t, tkx_prefix *range, uint8_t byte);

/* The smallest byte, at least `from` (0 to 256), that some id of a range has at its depth: the
   children of a node are those for from = 0, then from = *byte + 1 ... TKX_E_NOT_FOUND: no more. */
TKX_API int tkx_prefix_next(const tkx *t, const tkx_prefix *range, uint32_t from, uint8_t *byte);

/* ---- Chat ------------------------------------------------------------------------------------ */

/* A chat template as a frame: fixed texts that stand between messages. `tokexport convert` puts it
   into a file (FRAM) where the template is no more than that; without it the functions below give
   TKX_E_NOT_FOUND. A conversation is a system message or none, then user and assistant in turns,
   the user last. */
enum { TKX_SYSTEM = 0, TKX_USER = 1, TKX_ASSISTANT = 2 };

typedef struct tkx_message {
    int role;
    const void *text;
    size_t size;
} tkx_message;

/* The ids of a conversation, up to where the model goes on. Special tokens of the frame are ids;
   within messages they are text. White space at the ends of messages is dropped where the template
   drops it. The prompt stands in the work memory: 9 bytes of it for each 8 of the prompt, besides
   what tkx_encode needs.

   TKX_E_ROLE: *id_count is the index of the message that cannot stand there, or `count` if a
   message of the user is missing at the end. TKX_E_MESSAGE: that of a message that is empty, or has
   a text that the template changes (as </think>), and so is not for the frame. TKX_E_UTF8: that of
   a message that is not UTF-8. Otherwise as tkx_encode. */
TKX_API int tkx_chat_encode(const tkx *t, const tkx_message *messages, size_t count, uint32_t *ids,
                            size_t capacity, size_t *id_count, const tkx_work *work);

/* The same as text. On TKX_E_BYTES *size is the number of bytes needed, on TKX_E_ROLE and
   TKX_E_MESSAGE the index of the message. */
TKX_API int tkx_chat_prompt(const tkx *t, const tkx_message *messages, size_t count, uint8_t *out,
                            size_t capacity, size_t *size);

/* The texts of a frame: before the first message of the user where there is no system message;
   before a system message; after it; between two messages; and after the last one. */
enum {
    TKX_CHAT_START = 0,
    TKX_CHAT_BEFORE_SYSTEM = 1,
    TKX_CHAT_AFTER_SYSTEM = 2,
    TKX_CHAT_USER_TO_ASSISTANT = 3,
    TKX_CHAT_ASSISTANT_TO_USER = 4,
    TKX_CHAT_USER_TO_REPLY = 5
};

/* One of these texts, in place. TKX_E_ROLE: the frame takes no system message. */
TKX_API int tkx_chat_text(const tkx *t, int which, const uint8_t **text, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
