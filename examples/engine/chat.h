/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A conversation using the frame of the chat template, with one turn per line of standard input. */
#ifndef CHAT_H
#define CHAT_H

#include "session.h"

/* Answers each line until the input ends. `system`: the system message, or NULL. Returns 0 on an
   error. */
int chat(session *s, const char *system);

#endif
