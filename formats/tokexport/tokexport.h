/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport.h - run a tokenizer from one mapped file, with exactly the ids of the original library.

   A tokexport file is used in place: in a mapping, in flash, in an array, at any alignment. There
   is no parser, no regular expression engine, no heap, no writable global, and no loading step.
   C99, freestanding: it needs memcpy, memmove, memset and memcmp.

       tkx t;
       tkx_work work = { memory, sizeof memory, NULL, 0 };
       uint32_t ids[256];
       size_t count;
       if (tkx_open(&t, data, size) != TKX_OK) ...
       if (tkx_encode(&t, "Hello", 5, ids, 256, &count, &work) != TKX_OK) ...
       for (i = 0; i < count; i++) {
           tkx_token_bytes(&t, ids[i], &bytes, &length);
           fwrite(bytes, 1, length, stdout);
       }

   Limits: 2,097,151 ids, tokens of 65,535 bytes, texts of 2^31 - 1 bytes per call. Models: BPE,
   Unigram, WordPiece, WordLevel, greedy. Texts are UTF-8, with sizes in bytes; nothing is
   NUL-terminated. All functions may be called from many threads at once with one tkx, as long as
   each thread has its own work memory, cache and streams: a cache holds what one thread has found,
   and must not be shared.

   A call takes at most 14 KB of stack (gcc 12 -O2 and -Os, x86-64). The largest frames, in KB:
   tkx_encode_spans and encode_bits, which all others use, 5, tkx_check 4, split_in_stages 3 (a
   pre-tokenizer of several stages).

   These macros leave out parts that a device does not need, alone or together. Define the same ones
   for tokexport.c and for every file that includes this header: they change the size of a tkx
   (TKX_NO_NORMALIZER: 6,208 bytes become 2,368 on x86-64).

       macro              what is left out                                  a file that needs it
       TKX_NO_UNIGRAM     Unigram models, and with them all floating point  tkx_open: TKX_E_MODEL
       TKX_NO_WORDPIECE   WordPiece models                                  tkx_open: TKX_E_MODEL
       TKX_NO_WORDLEVEL   WordLevel models                                  tkx_open: TKX_E_MODEL
       TKX_NO_GREEDY      greedy models                                     tkx_open: TKX_E_MODEL
       TKX_NO_CHARACTERS  BPE over characters, or whose symbols depend on   tkx_open: TKX_E_UNKNOWN
                          their place in a word (CHRS)
       TKX_NO_NORMALIZER  everything that rewrites text before it is split  tkx_open: TKX_E_UNKNOWN
                          (NORM)
       TKX_NO_DECODER     decoding that is more than joining bytes (DECO)   tkx_open: TKX_E_UNKNOWN
       TKX_NO_OFFSETS     tkx_encode_spans, which is then not declared      is run
                          (TKX_E_UNKNOWN: one with FIRST_SOURCE in NORM)

   BPE over bytes, added tokens and the pre-tokenizer are not optional. All macros together leave 28
   KB of code of 48 (gcc 12 -Os, x86-64).

   The format is described in SPEC.md beside this file. The self test, ids by prefix and
   conversations, which few programs need, are in tokexport_extra.h. */

#ifndef TOKEXPORT_H
#define TOKEXPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this runtime; the version of the format follows. */
#define TKX_RUNTIME_VERSION "0.1.0"
#define TKX_VERSION_MAJOR 1
#define TKX_VERSION_MINOR 0
#define TKX_NONE UINT32_C(0xFFFFFFFF)

/* Attributes of every function. TKX_SHARED: it is in a shared library; TKX_BUILD: that library is
   being built. */
#ifndef TKX_API
#if defined(TKX_SHARED) && defined(_WIN32) && defined(TKX_BUILD)
#define TKX_API __declspec(dllexport)
#elif defined(TKX_SHARED) && defined(_WIN32)
#define TKX_API __declspec(dllimport)
#elif defined(TKX_SHARED) && defined(__GNUC__)
#define TKX_API __attribute__((visibility("default")))
#else
#define TKX_API
#endif
#endif

/* Every function that can fail returns one of these; TKX_OK is 0, all others are negative. */
enum {
    TKX_OK = 0,
    /* the call */
    TKX_E_ARGUMENT = -1,  /* a pointer is NULL that must not be, or a size exceeds the limit */
    TKX_E_ID = -2,        /* no such id: out of range, or a hole */
    TKX_E_NOT_FOUND = -3, /* no token with these bytes; no such section, role or score */
    /* the text is not UTF-8; *count is the offset of the first bad byte */
    TKX_E_UTF8 = -4,
    TKX_E_IDS = -5, /* the array of ids is too small; *count is the number needed */
    /* the output buffer is too small; *size is the number of bytes needed */
    TKX_E_BYTES = -6,
    /* the work memory is too small; *count is a number of bytes to retry with: at least twice the
       current size and at least 64 KB, but at most tkx_work_size (or tkx_spans_work_size), which is
       always enough. The first retry succeeds, unless the call stopped at a normalizer or at an
       unbounded lookahead: then the need of the following stages is a guess. It is too low if the
       normalizer makes a part of the text more than four times as long, or if there are more than
       1 KB without a break (in a pre-token, or between two boundaries that no merge crosses) */
    TKX_E_WORK = -7,
    TKX_E_WINDOW = -8,      /* a stream's window is full and has no cut */
    TKX_E_STATE = -9,       /* the stream has been finished */
    TKX_E_NO_ENCODER = -10, /* the file is decode-only */
    TKX_E_SELF_TEST = -11,  /* a self test produced other ids than the reference */
    /* a part of the text is not in the vocabulary, and there is no unknown token */
    TKX_E_UNKNOWN_TEXT = -12,
    /* the file cannot produce the offsets of the reference */
    TKX_E_NO_SPANS = -13,
    /* see tkx_chat_encode in tokexport_extra.h */
    TKX_E_ROLE = -14,    /* a message has a role that is not allowed at its position */
    TKX_E_MESSAGE = -15, /* a message is empty, or has a text that the frame does not support */
    /* the file */
    TKX_E_EMPTY = -20,      /* no bytes at all */
    TKX_E_MAGIC = -21,      /* not a tokexport file */
    TKX_E_MANGLED = -22,    /* a tokexport file that a text-mode transfer has changed */
    TKX_E_VERSION = -23,    /* made by another major version of the format */
    TKX_E_TRUNCATED = -24,  /* shorter than its header says */
    TKX_E_TRAILING = -25,   /* longer than its header says */
    TKX_E_HEADER_CRC = -26, /* header or section table changed since they were written */
    TKX_E_HEADER = -27,     /* a field of the header is out of its range */
    TKX_E_MODEL = -28,      /* a model type that this runtime does not support */
    /* a section is misplaced: order, alignment, gap, overlap, or reserved bits */
    TKX_E_SECTION = -29,
    TKX_E_DUPLICATE = -30,    /* two sections with the same tag */
    TKX_E_UNKNOWN = -31,      /* a required section that this runtime does not know */
    TKX_E_MISSING = -32,      /* a section is missing that others need */
    TKX_E_SECTION_SIZE = -33, /* a section's size does not fit its contents */
    /* a pre-tokenizer or normalizer table holds a value out of its range */
    TKX_E_SPLITS = -34,
    TKX_E_CRC = -35,     /* a section changed since it was written (tkx_check only) */
    TKX_E_PADDING = -36, /* a padding byte is not zero (tkx_check only) */
    TKX_E_CORRUPT = -37  /* a table entry in use is out of its range */
};

/* The result of tkx_token_flags. */
/* layout: RecordFlag */
enum {
    /* no token; offset, length and flags are 0 */
    TKX_KIND_HOLE = 0,
    /* a token of the model */
    TKX_KIND_MODEL = 1,
    /* a token that is only an added token */
    TKX_KIND_ADDED = 2,
    /* the model's unknown token */
    TKX_KIND_UNKNOWN = 3,
    /* all bits of these */
    TKX_KIND_MASK = 3,
    /* left out when decoding without special tokens */
    TKX_SPECIAL = 4,
    /* merging the token's key produces this token */
    TKX_WHOLE = 8,
    /* a byte of a character that is not in the vocabulary */
    TKX_FALLBACK = 16,
    /* five bits: number of bytes dropped at the start of the first token */
    TKX_FIRST_SKIP = 992,
    /* two bits: number of bytes before `offset` that the first token has */
    TKX_FIRST_MORE = 3072,
    /* two bits: number of bytes dropped at the end of the last token */
    TKX_LAST_SKIP = 12288
};
/* layout: end */

/* Roles of ids, for tkx_special_id. */
enum { TKX_BOS = 0, TKX_EOS = 1, TKX_PAD = 2, TKX_UNK = 3 };

/* A section of the file, or { NULL, 0 }. */
typedef struct tkx_span {
    const uint8_t *data;
    size_t size;
} tkx_span;

/* One pre-tokenizer stage. Internal: its tables, and what tkx_open derives from them. */
typedef struct tkx_stage {
    const uint8_t *classes;
    const uint8_t *middle;
    const uint8_t *leaves;
    const uint8_t *starts;
    const uint8_t *transitions;
    const uint8_t *labels; /* NULL: none */
    uint16_t class_count;
    uint16_t state_count;
    uint16_t memo_count;
    uint16_t start;
    uint8_t label_class_count;
    uint8_t start_varies;
    uint8_t row_shift;
    uint8_t behavior;
    uint8_t flags;
    uint8_t first_op, op_count;
    uint64_t letter_loops, letter_accepts, no_match[4];
} tkx_stage;

#ifndef TKX_NO_NORMALIZER

/* One operation of a rewrite program. Internal. */
typedef struct tkx_op {
    tkx_span table, content;
    uint32_t growth, extra;
    uint8_t kind, flags;
    tkx_stage program;
#ifdef TKX_BULK
    /* in the Python extension, for FORM and CHARSMAP; NULL: none */
    const struct tkx_bulk_stable *stable;
    const struct tkx_bulk_pairs *pairs;
#endif
} tkx_op;

#endif

#define TKX_MAX_STAGES 16
#define TKX_MAX_OPS 24

/* An open file. It points into the caller's bytes, which must stay valid and unchanged; it owns
   nothing and need not be closed. Its fields are internal: use the functions below. */
typedef struct tkx {
    const uint8_t *data;
    size_t size;
    uint32_t model, id_count, token_count, flags, max_token_bytes, unknown_id;
    uint32_t section_count;
    tkx_span records, bytes, decoder, edits, scores, double_scores, ranks, byte_ids, token_index,
        pair_index, trie, splits, labels, cuts;
    tkx_span normalizer, added, added_classes, special_ids, post, trims, alignment, self_test;
    tkx_span characters, keys, crossings, sorted;
    uint32_t place_count, crossing_shift, cuts_bytes;
    const uint8_t *ascii_symbols;
    uint32_t token_slots, token_buckets, pair_slots, pair_buckets, row_shift;
    const uint8_t *pair_rows, *pair_displacements;
    uint32_t trie_units, trie_depth, trie_root, trie_continuation, trie_characters, trie_flags,
        trie_reserved;
    uint32_t stage_count, op_count, normalizer_count;
    /* follows_sources: an operation depends on the source map; moves_spans: CHARSMAP or ALGN */
    uint8_t plain_raw, plain_normalized, words_first, follows_sources, moves_spans;
    tkx_stage stages[TKX_MAX_STAGES];
#ifndef TKX_NO_NORMALIZER
    tkx_op ops[TKX_MAX_OPS];
#endif
#ifdef TKX_BULK
    const struct tkx_bulk_starts *starts[2]; /* for the Python extension; NULL: none */
#endif
} tkx;

/* Memory provided by the caller, at any alignment. `memory` is scratch, without state between
   calls; see tkx_work_size. `cache` is optional (NULL, 0) and makes repeated words cheap; 1 to 4 MB
   are a good size. Zero it once, then pass it unchanged, always at the same address, with one open
   file only, and from one thread at a time. A NULL tkx_work means no memory and no cache. */
typedef struct tkx_work {
    void *memory;
    size_t memory_size;
    void *cache;
    size_t cache_size;
#ifdef TKX_BULK
    struct tkx_bulk *bulk; /* for the Python extension; NULL: none */
    int is_utf8;           /* the text is known to be UTF-8, and is not checked */
    double *carry;         /* as in tkx_encoder: before the text, then after it; NULL: none */
#endif
} tkx_work;

/* ---- Simple: open, look up, encode, decode --------------------------------------------------- */

/* Opens a file in memory: checks the header, the section table and the tables of the pre-tokenizer,
   in time that does not depend on the size of the vocabulary. After TKX_OK no function below reads
   outside `data`, whatever else the file contains. After an error *t must not be used. */
TKX_API int tkx_open(tkx *t, const void *data, size_t size);

/* A sentence for an error code; never NULL. */
TKX_API const char *tkx_error(int code);

/* Ids are 0 .. tkx_id_count - 1; some of them may be holes. */
TKX_API uint32_t tkx_id_count(const tkx *t);

/* The bytes that an id has between other ids, in place, before edits (EDIT) of the whole text. They
   may be empty, contain NUL, or be part of a character. TKX_E_ID for a hole. O(1). */
TKX_API int tkx_token_bytes(const tkx *t, uint32_t id, const uint8_t **bytes, size_t *size);

/* Encodes a text, taking special tokens in it as plain text. Writes at most `capacity` ids, and
   their number to *count. `ids` may be NULL if `capacity` is 0. On TKX_E_IDS *count is the number
   needed, on TKX_E_WORK a size of work memory to retry with, on TKX_E_UTF8 the offset of the first
   bad byte, and on other errors 0. */
TKX_API int tkx_encode(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
                       size_t *count, const tkx_work *work);

/* The same, but special tokens in the text become their ids. Do not use it for untrusted text in a
   prompt. */
TKX_API int tkx_encode_special(const tkx *t, const void *text, size_t size, uint32_t *ids,
                               size_t capacity, size_t *count, const tkx_work *work);

/* Encodes a text as a complete input of the model: with the ids that the template of the
   post-processor adds, such as BOS and EOS. If there is no template, none are added. `special`: 0
   like tkx_encode, 1 like tkx_encode_special. For a pair of texts, or a text in parts, use
   tkx_template. */
TKX_API int tkx_encode_with_template(const tkx *t, const void *text, size_t size, int special,
                                     uint32_t *ids, size_t capacity, size_t *count,
                                     const tkx_work *work);

/* Joins the bytes of ids by the rules of the file's decoder (which may strip the first space, or
   end each word with one). The result need not be UTF-8. On TKX_E_BYTES *size is the number of
   bytes needed; on TKX_E_ID it is the index of the bad id. To skip special tokens, pass only ids
   without TKX_SPECIAL. */
TKX_API int tkx_decode(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out,
                       size_t capacity, size_t *size);

/* The same as text: valid UTF-8, with U+FFFD where the reference puts it. (What a damaged EDIT
   inserts is not checked.) */
TKX_API int tkx_decode_text(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out,
                            size_t capacity, size_t *size);

/* The work memory that is enough to encode any text of `size` bytes; tkx_spans_work_size is the
   same for tkx_encode_spans. Almost all texts need far less: none; or 40 bytes for each byte of a
   word of more than 64 bytes; or a few times 8 KB for prose that has to be normalized. For 1 KB of
   text and T5 the bound is 206 KB, since U+FDFA (3 bytes) becomes 33 and each byte of a word may
   need 16; but 'ab' 512 times needs 17 KB, and of 1,647 parts of real texts half needed 1.3 KB and
   none over 3.3 KB. So start with little, and on TKX_E_WORK retry with *count bytes. The macro is a
   constant bound of both functions, for every file without a normalizer (NORM). */
TKX_API size_t tkx_work_size(const tkx *t, size_t size);
#define TKX_WORK_SIZE(size) ((size_t)2048 + (size_t)76 * (size_t)(size))

/* ---- Advanced -------------------------------------------------------------------------------- */

/* The kind and flags of an id (TKX_KIND_HOLE and TKX_OK for a hole). TKX_E_ID if out of range. */
TKX_API int tkx_token_flags(const tkx *t, uint32_t id, uint32_t *flags);

/* BPE: -ln(rank + 1) for a token that a merge produces, otherwise -1e6. Unigram: the score in the
   source. TKX_E_NOT_FOUND if the file has no scores. */
TKX_API int tkx_token_score(const tkx *t, uint32_t id, float *score);

/* The model token with exactly these bytes; TKX_E_NOT_FOUND if there is none. Added tokens are not
   searched. */
TKX_API int tkx_token_id(const tkx *t, const void *bytes, size_t size, uint32_t *id);

/* The id that has a role (TKX_BOS ...); TKX_E_NOT_FOUND if there is none. */
TKX_API int tkx_special_id(const tkx *t, int role, uint32_t *id);

/* The index-th id that ends a generation; TKX_E_NOT_FOUND after the last. */
TKX_API int tkx_stop_id(const tkx *t, uint32_t index, uint32_t *id);

/* A section by its tag ("CHAT", "PROV", ...), whether the runtime uses it or not; TKX_E_NOT_FOUND
   if there is none. */
TKX_API int tkx_section(const tkx *t, const char tag[4], const uint8_t **data, size_t *size);

/* Added tokens in the order of the file: their number, and the id, content and flags (TKX_ADDED_*)
   of the index-th one. */
/* layout: AddedFlag */
enum {
    /* found only where it is allowed */
    TKX_ADDED_SPECIAL = 1,
    /* found only if no word character is next to it */
    TKX_ADDED_SINGLE_WORD = 2,
    /* includes the white space before it */
    TKX_ADDED_LSTRIP = 4,
    /* includes the white space after it */
    TKX_ADDED_RSTRIP = 8,
    /* in the normalized trie, by normalized content; otherwise in the raw one */
    TKX_ADDED_NORMALIZED = 16
};
/* layout: end */
TKX_API uint32_t tkx_added_count(const tkx *t);
TKX_API int tkx_added_token(const tkx *t, uint32_t index, uint32_t *id, const uint8_t **content,
                            size_t *size, uint32_t *flags);

/* Like tkx_encode_special, but only with the special tokens that `allowed` selects: bit i (byte
   i / 8, bit i % 8) allows the i-th added token. */
TKX_API int tkx_encode_allowed(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                               size_t allowed_size, uint32_t *ids, size_t capacity, size_t *count,
                               const tkx_work *work);

/* Like tkx_encode_special, but special tokens are recognised only at marked positions: bit i of
   `marks` (byte i / 8, bit i % 8) allows one that begins at byte i of the text. `marks` has
   (size + 7) / 8 bytes; bits after the end of the text are 0. So the markup of a prompt becomes
   tokens, while the same characters in a user's message remain text. */
TKX_API int tkx_encode_marked(const tkx *t, const void *text, size_t size, const uint8_t *marks,
                              uint32_t *ids, size_t capacity, size_t *count, const tkx_work *work);

#ifndef TKX_NO_OFFSETS

/* Units of spans; and TKX_ALL, which allows every special token. */
enum { TKX_BYTES = 0, TKX_CHARACTERS = 1 };
#define TKX_ALL SIZE_MAX

/* Like tkx_encode_allowed (`allowed` may be NULL with `allowed_size` 0 or TKX_ALL), and also
   returns spans: id i covers the text from spans[2 * i] up to, not including, spans[2 * i + 1], in
   bytes or characters (code points), as the reference reports it: a part of a character has the
   span of the whole character, and white space may be left out. `spans` has room for 2 * capacity
   numbers. The word cache is not used, and the longest word needs 44 bytes of work memory for each
   of its bytes. */
TKX_API int tkx_encode_spans(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                             size_t allowed_size, int unit, uint32_t *ids, uint32_t *spans,
                             size_t capacity, size_t *count, const tkx_work *work);

/* The work memory that is enough for any text of `size` bytes and its spans. */
TKX_API size_t tkx_spans_work_size(const tkx *t, size_t size);

#endif

/* Like tkx_decode; also sets ends[i] to the offset in the output where the bytes of id i end. They
   begin where those of the previous id end. */
TKX_API int tkx_decode_ends(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out,
                            size_t capacity, size_t *size, size_t *ends);

/* The index-th item of the template of the post-processor, for one text (pair = 0) or two. Kind 0
   is an id, 1 the first text, 2 the second. TKX_E_NOT_FOUND after the last item, and always if the
   file has no template: then the input is just the texts. */
TKX_API int tkx_template(const tkx *t, int pair, uint32_t index, uint32_t *kind, uint32_t *id,
                         uint32_t *type_id);

/* The last offset, at most `size`, where the text may be cut: encoding both sides separately
   produces the ids of the whole, whatever follows after `size`. 0 if there is none, and for
   SentencePiece's Unigram and words, where something goes on after a cut: tkx_encoder.carry. */
TKX_API size_t tkx_cut(const tkx *t, const void *text, size_t size);

/* Reads the whole file: checks the checksum of every section (else TKX_E_CRC), the padding
   (TKX_E_PADDING), and that each key and each pair of the hash indexes is found where it is
   (TKX_E_CORRUPT). Without it a damaged section is noticed only if a number in use is out of its
   range: damage that leaves all numbers in range can produce wrong ids. This detects damage, not
   forgery: anyone can compute valid checksums for a file. */
TKX_API int tkx_check(const tkx *t);

/* ---- Streaming ------------------------------------------------------------------------------- */

/* Encodes a text that arrives in parts, divided anywhere, into the ids of the whole text. The
   window holds the text since the last cut (see tkx_cut). */
typedef struct tkx_encoder {
    const tkx *t;
    const tkx_work *work;
    uint8_t *window;
    size_t window_size, used;
    int special, finished;
    /* from the text before the window: SentencePiece's sum of scores, or 1 if that text ends with
       unknown words, which are one id with those that follow */
    double carry;
} tkx_encoder;

/* Starts an encoder. `special`: 0 like tkx_encode, 1 like tkx_encode_special. The window must hold
   the longest part of the text without a cut. */
TKX_API int tkx_encoder_init(tkx_encoder *e, const tkx *t, int special, void *window,
                             size_t window_size, const tkx_work *work);

/* Takes *taken bytes of the text, and writes the ids that can no longer change. While *taken <
   size, call again with the rest. `capacity` must be at least 3 * window_size, or more if
   compatibility characters (NFKC, NFKD) expand: otherwise TKX_E_IDS, and *count is the number
   needed. TKX_E_WINDOW: the window is full and has no cut; a caller may move its `used` bytes to a
   larger one, set `window` and `window_size`, and call again. TKX_E_UTF8: *count is an offset from
   the start of the window. On an error nothing is taken and the state is unchanged. */
TKX_API int tkx_encoder_feed(tkx_encoder *e, const void *text, size_t size, size_t *taken,
                             uint32_t *ids, size_t capacity, size_t *count);

/* Writes the last ids, after which the encoder is finished. On an error the state is unchanged. */
TKX_API int tkx_encoder_finish(tkx_encoder *e, uint32_t *ids, size_t capacity, size_t *count);

/* A run of byte tokens decodes as a whole if it is UTF-8, or else each byte becomes U+FFFD. A
   decoder holds back up to this many bytes of a run; of a longer run, whole characters are written
   before its end is known. */
#define TKX_MAX_RUN 256

/* Decodes ids one at a time without ever splitting a character: an incomplete character is held
   back until the next id, as is anything else that depends on later ids. The parts joined are the
   text of tkx_decode_text, except for runs of more than TKX_MAX_RUN bytes. */
typedef struct tkx_decoder {
    const tkx *t;
    uint8_t held[4]; /* an incomplete character */
    uint8_t held_size;
    uint8_t skip_special, as_bytes, rules;
    /* Only for a file with decoder rules: */
    uint8_t strip; /* the byte to drop if the text begins with it */
    uint8_t is_first, run_state;
    uint16_t run_size, run_good, edit_state;
    uint32_t pending;
    uint8_t run[TKX_MAX_RUN];
} tkx_decoder;

/* Starts a decoder. `skip_special`: leave out special tokens. */
TKX_API int tkx_decoder_init(tkx_decoder *d, const tkx *t, int skip_special);

/* Adds one id and writes the text that is complete: valid UTF-8, with U+FFFD where the reference
   puts it. On TKX_E_BYTES *size is the number of bytes needed. On an error the state is
   unchanged. */
TKX_API int tkx_decoder_step(tkx_decoder *d, uint32_t id, uint8_t *out, size_t capacity,
                             size_t *size);

/* Writes what is held back, as the end of the text, and starts a new text. On an error the state is
   unchanged. */
TKX_API int tkx_decoder_flush(tkx_decoder *d, uint8_t *out, size_t capacity, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
