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
    uint32_t stop_ids[MAX_STOP_IDS]; /* in addition to those of the tokenizer */
    size_t stop_id_count;
    size_t most;     /* tokens of a reply */
    uint32_t *ids;   /* room for all positions of the transformer */
    size_t id_count; /* ids whose keys and values are in the cache */
    char *text;      /* the last reply */
    size_t text_size;
} session;

/* What generating a reply took. */
typedef struct timing {
    size_t made;
    double prompt_seconds, seconds;
} timing;

/* Reports an error on stderr, and returns 0. */
int fail(const char *what, const char *why);

/* Makes room for ids, or for the work of the tokenizer, as an error code requires. Returns 0 for
   other codes, and if there is not enough memory. */
int make_room(int code, size_t wanted, uint32_t **ids, size_t *capacity, tkx_work *work);

/* Continues a text of at least one id: ids that the cache begins with are not computed again.
   Writes the reply to stdout as it is generated, after the text of the ids if `shows_prompt`, and
   to s->text. It ends before a stop string, or at an id that ends it. Returns 0 on an error. */
int reply(session *s, const uint32_t *ids, size_t count, int shows_prompt, timing *took);

#endif
