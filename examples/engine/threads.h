/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Threads that share the rows of one task after the other. */
#ifndef THREADS_H
#define THREADS_H

#include <stdint.h>

/* Does the part from begin to end, not including, of a task. */
typedef void (*task)(void *context, uint32_t begin, uint32_t end);

typedef struct threads threads;

/* NULL where there is not enough memory, or a thread cannot be started. */
threads *threads_start(uint32_t count);

/* Runs a task of `count` parts on all threads, the caller's among them, and waits for all. */
void threads_run(threads *t, task run, void *context, uint32_t count);

void threads_stop(threads *t);

#endif
