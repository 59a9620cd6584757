/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A conversation by the frame of the chat template, a line of standard input for each turn. */
#ifndef CHAT_H
#define CHAT_H

#include "session.h"

/* Answers each line, until there is none. `system`: what the system message says, or NULL. Returns
   0 on an error. */
int chat(session *s, const char *system);

#endif
