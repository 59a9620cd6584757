/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "chat.h"

#include <stdlib.h>
#include <string.h>

/* A conversation; it owns copies of its texts. */
typedef struct conversation {
    tkx_message *messages;
    size_t count, room;
} conversation;

static int add(conversation *c, int role, const void *text, size_t size) {
    char *copy = (char *)malloc(size + 1);
    if (copy && c->count == c->room) {
        tkx_message *more =
            (tkx_message *)realloc(c->messages, (c->room = 2 * c->room + 8) * sizeof *more);
        if (more) c->messages = more;
        else free(copy), copy = NULL;
    }
    if (!copy) return fail("conversation", "there is not enough memory");
    memcpy(copy, text, size);
    c->messages[c->count++] = (tkx_message){role, copy, size};
    return 1;
}

/* Removes the last messages, leaving `count` of them. */
static void take_back(conversation *c, size_t count) {
    while (c->count > count) free((void *)(uintptr_t)c->messages[--c->count].text);
}

/* Adds the reply as the next prompt needs it: without the reasoning part. */
static int add_reply(conversation *c, const char *text, size_t size) {
    static const char thought[] = "</think>";
    const size_t length = sizeof thought - 1;
    size_t i = size;
    while (i && (i < length || memcmp(text + i - length, thought, length) != 0)) i--;
    while (i && i < size && text[i] == '\n') i++;
    return add(c, TKX_ASSISTANT, text + i, size - i);
}

int chat(session *s, const char *system) {
    conversation c = {NULL, 0, 0};
    tkx_work work = {NULL, 0, NULL, 0};
    uint32_t *ids = NULL;
    size_t capacity = 0, count, size;
    static char line[1 << 16];
    int ok = !system || add(&c, TKX_SYSTEM, system, strlen(system));
    while (ok && fgets(line, sizeof line, stdin)) {
        const size_t before = c.count;
        timing took;
        int code;
        size = strcspn(line, "\r\n");
        ok = add(&c, TKX_USER, line, size);
        if (!ok) break;
        while ((code = tkx_chat_encode(&s->tokenizer, c.messages, c.count, ids, capacity, &count,
                                       &work)) != TKX_OK &&
               make_room(code, count, &ids, &capacity, &work))
            continue;
        if (code == TKX_E_MESSAGE && count == before) { /* the user's message is not supported */
            fail("message", tkx_error(code));
            take_back(&c, before);
            continue;
        }
        ok = code == TKX_OK || fail("conversation", tkx_error(code));
        ok = ok && (count > 0 || fail("conversation", "it is empty")) &&
             reply(s, ids, count, 0, &took);
        ok = ok && add_reply(&c, s->text, s->text_size);
        if (ok) {
            fprintf(stderr, "%lu tokens, %.1f a second\n", (unsigned long)took.made,
                    took.seconds > 0 ? (double)took.made / took.seconds : 0.0);
        }
    }
    take_back(&c, 0);
    free(c.messages);
    free(work.memory);
    free(ids);
    return ok;
}
