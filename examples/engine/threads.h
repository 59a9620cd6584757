/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Threads that share the rows of one task at a time. */
#ifndef THREADS_H
#define THREADS_H

#include <stdint.h>

/* Runs the parts of a task from begin up to, not including, end. */
typedef void (*task)(void *context, uint32_t begin, uint32_t end);

typedef struct threads threads;

/* NULL if there is not enough memory, or a thread cannot be started. */
threads *threads_start(uint32_t count);

/* Runs a task of `count` parts on all threads, including the caller's, and waits for them. */
void threads_run(threads *t, task run, void *context, uint32_t count);

void threads_stop(threads *t);

#endif
