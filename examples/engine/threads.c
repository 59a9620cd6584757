/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct worker {
    threads *pool;
    pthread_t thread;
    uint32_t index;
} worker;

struct threads {
    pthread_mutex_t mutex;
    pthread_cond_t has_task, is_done;
    worker *workers; /* all threads except the caller's */
    uint32_t count, running;
    unsigned long turn; /* the number of tasks started */
    int ends;
    task run;
    void *context;
    uint32_t parts;
};

/* Runs the share of a task that belongs to thread `index`. */
static void run_share(const threads *t, uint32_t index) {
    const uint32_t begin = (uint32_t)((uint64_t)t->parts * index / t->count);
    const uint32_t end = (uint32_t)((uint64_t)t->parts * (index + 1) / t->count);
    if (begin < end) t->run(t->context, begin, end);
}

static void *work(void *argument) {
    const worker *self = (const worker *)argument;
    threads *t = self->pool;
    unsigned long turn = 0;
    pthread_mutex_lock(&t->mutex);
    for (;;) {
        while (t->turn == turn && !t->ends) pthread_cond_wait(&t->has_task, &t->mutex);
        if (t->ends) break;
        turn = t->turn;
        pthread_mutex_unlock(&t->mutex);
        run_share(t, self->index);
        pthread_mutex_lock(&t->mutex);
        if (--t->running == 0) pthread_cond_signal(&t->is_done);
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

threads *threads_start(uint32_t count) {
    threads *t = (threads *)calloc(1, sizeof *t);
    uint32_t i;
    if (!t) return NULL;
    t->workers = (worker *)calloc(count, sizeof *t->workers);
    if (!t->workers) return free(t), NULL;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->has_task, NULL);
    pthread_cond_init(&t->is_done, NULL);
    t->count = 1;
    for (i = 1; i < count; i++) {
        worker *next = &t->workers[i - 1];
        next->pool = t;
        next->index = i;
        if (pthread_create(&next->thread, NULL, work, next)) return threads_stop(t), NULL;
        t->count++;
    }
    return t;
}

void threads_run(threads *t, task run, void *context, uint32_t count) {
    t->run = run;
    t->context = context;
    t->parts = count;
    if (t->count > 1) {
        pthread_mutex_lock(&t->mutex);
        t->running = t->count - 1;
        t->turn++;
        pthread_cond_broadcast(&t->has_task);
        pthread_mutex_unlock(&t->mutex);
    }
    run_share(t, 0);
    if (t->count > 1) {
        pthread_mutex_lock(&t->mutex);
        while (t->running) pthread_cond_wait(&t->is_done, &t->mutex);
        pthread_mutex_unlock(&t->mutex);
    }
}

void threads_stop(threads *t) {
    uint32_t i;
    if (!t) return;
    pthread_mutex_lock(&t->mutex);
    t->ends = 1;
    pthread_cond_broadcast(&t->has_task);
    pthread_mutex_unlock(&t->mutex);
    for (i = 1; i < t->count; i++) pthread_join(t->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&t->is_done);
    pthread_cond_destroy(&t->has_task);
    pthread_mutex_destroy(&t->mutex);
    free(t->workers);
    free(t);
}
