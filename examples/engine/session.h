/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A model, its tokenizer, and the ids whose keys and values are in the cache. */
#ifndef SESSION_H
#define SESSION_H

#include "sampler.h"
#include "stops.h"
#include "tokexport_extra.h"
#include "transformer.h"

enum { MAX_STOP_IDS = 16 };

typedef struct session {
    tkx tokenizer;
    weights weights;
    transformer transformer;
    sampler sampler;
    stops stops;
    uint32_t stop_ids[MAX_STOP_IDS]; /* besides those of the tokenizer */
    size_t stop_id_count;
    size_t most;     /* tokens of a reply */
    uint32_t *ids;   /* for as many as the transformer has positions */
    size_t id_count; /* of them are in the cache */
    char *text;      /* the last reply */
    size_t text_size;
} session;

/* What a reply took. */
typedef struct timing {
    size_t made;
    double prompt_seconds, seconds;
} timing;

/* Says on stderr what went wrong, and gives 0. */
int fail(const char *what, const char *why);

/* Makes room for ids, or for the work of the tokenizer, as a code asks for it. Returns 0 for other
   codes, and where there is not enough memory. */
int make_room(int code, size_t wanted, uint32_t **ids, size_t *capacity, tkx_work *work);

/* Goes on after some ids, at least one: those that the cache begins with are not computed again.
   Writes the text to stdout as it comes, after that of the ids if `shows_prompt`, and keeps it in
   s->text. It ends before a stop text or at an id that ends it. Returns 0 on an error. */
int reply(session *s, const uint32_t *ids, size_t count, int shows_prompt, timing *took);

#endif
