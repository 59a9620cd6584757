/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int fail(const char *what, const char *why) {
    fprintf(stderr, "engine: %s: %s\n", what, why);
    return 0;
}

int make_room(int code, size_t wanted, uint32_t **ids, size_t *capacity, tkx_work *work) {
    if (code == TKX_E_IDS) {
        free(*ids);
        *capacity = wanted;
        *ids = (uint32_t *)malloc(wanted * sizeof **ids);
        return *ids ? 1 : fail("ids", "there is not enough memory");
    }
    if (code != TKX_E_WORK) return 0;
    free(work->memory);
    work->memory_size = wanted;
    work->memory = malloc(wanted);
    return work->memory ? 1 : fail("prompt", "there is not enough memory");
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int is_stop_id(const session *s, uint32_t id) {
    const tkx *t = &s->tokenizer;
    uint32_t stop, i;
    for (i = 0; i < s->stop_id_count; i++) {
        if (s->stop_ids[i] == id) return 1;
    }
    for (i = 0; tkx_stop_id(t, i, &stop) == TKX_OK; i++) {
        if (stop == id) return 1;
    }
    return tkx_special_id(t, TKX_EOS, &stop) == TKX_OK && stop == id;
}

/* Writes the text that an id completes; returns 1 if it ends the text, -1 on an error. */
static int write_id(tkx_decoder *d, uint32_t id, stops *ends, FILE *out) {
    static uint8_t text[1 << 18]; /* three bytes per byte of the longest token, and what is held */
    size_t size;
    int code;
    if (id >= tkx_id_count(d->t)) return 0; /* the weights have more rows than there are tokens */
    code = tkx_decoder_step(d, id, text, sizeof text, &size);
    if (code == TKX_E_ID) return 0; /* a hole */
    if (code != TKX_OK) return fail("output", tkx_error(code)), -1;
    return stops_write(ends, (const char *)text, size, out);
}

/* Prints what was added to the text since the last call. */
static void show(const session *s, FILE *decoded, size_t *shown) {
    fflush(decoded);
    fwrite(s->text + *shown, 1, s->text_size - *shown, stdout);
    fflush(stdout);
    *shown = s->text_size;
}

/* Feeds ids to the model, from the first one that is not in the cache. Returns the last logits. */
static const float *feed(session *s, const uint32_t *ids, size_t count) {
    const float *logits = NULL;
    size_t at = 0;
    while (at < s->id_count && at + 1 < count && s->ids[at] == ids[at]) at++;
    for (; at < count; at++) {
        s->ids[at] = ids[at];
        logits = transformer_step(&s->transformer, ids[at], (uint32_t)at, at + 1 == count);
    }
    s->id_count = count;
    return logits;
}

/* Samples until the reply ends. Returns -1 on an error, 1 if a stop string ended it. */
static int generate(session *s, const float *logits, tkx_decoder *decoder, FILE *decoded,
                    timing *took) {
    size_t shown = 0;
    int ended = 0;
    show(s, decoded, &shown);
    for (took->made = 0; !ended && took->made < s->most;) {
        const uint32_t id = sample(&s->sampler, logits, s->weights.vocabulary);
        took->made++;
        if (is_stop_id(s, id)) break;
        ended = write_id(decoder, id, &s->stops, decoded);
        show(s, decoded, &shown);
        if (ended < 0 || s->id_count == s->transformer.positions) break;
        s->ids[s->id_count] = id;
        logits = transformer_step(&s->transformer, id, (uint32_t)s->id_count++, 1);
    }
    if (!ended) {
        static uint8_t text[4096];
        size_t size;
        if (tkx_decoder_flush(decoder, text, sizeof text, &size) == TKX_OK)
            ended = stops_write(&s->stops, (const char *)text, size, decoded);
        if (!ended) stops_flush(&s->stops, decoded);
        show(s, decoded, &shown);
    }
    return ended;
}

int reply(session *s, const uint32_t *ids, size_t count, int shows_prompt, timing *took) {
    stops none = {{NULL}, 0, {0}, 0};
    double begin = seconds(), prompt_end;
    tkx_decoder decoder;
    const float *logits;
    FILE *decoded;
    int ended = 0;
    size_t i;
    if (count > s->transformer.positions)
        return fail("prompt", "it is longer than what the model can see");
    /* the decoder is given the prompt, too, so that the reply is decoded as its continuation */
    free(s->text);
    s->text = NULL;
    decoded = open_memstream(&s->text, &s->text_size);
    if (!decoded) return fail("reply", "there is not enough memory");
    tkx_decoder_init(&decoder, &s->tokenizer, 1);
    for (i = 0; i < count && ended == 0; i++) ended = write_id(&decoder, ids[i], &none, decoded);
    if (!shows_prompt) rewind(decoded);
    logits = feed(s, ids, count);
    prompt_end = seconds();
    s->stops.held_size = 0;
    if (ended == 0) ended = generate(s, logits, &decoder, decoded, took);
    took->prompt_seconds = prompt_end - begin;
    took->seconds = seconds() - prompt_end;
    fclose(decoded);
    putchar('\n');
    fflush(stdout);
    return ended >= 0;
}
