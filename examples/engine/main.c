/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Runs a language model from two mapped files: the weights and the tokenizer. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sampler.h"
#include "stops.h"
#include "tokexport.h"
#include "transformer.h"

static const char usage[] =
    "Usage: engine [OPTION]... WEIGHTS TOKENIZER [PROMPT]\n"
    "\n"
    "Continues PROMPT, or standard input where there is none, and writes the text as it comes.\n"
    "\n"
    "  -n COUNT     at most so many tokens (default: until one that ends the text)\n"
    "  -t NUMBER    temperature; 0 takes the most likely token (default: 0.8)\n"
    "  -k COUNT     choose among the COUNT most likely tokens; 0: all (default: 40)\n"
    "  -p NUMBER    choose among the fewest tokens of this probability together (default: 0.95)\n"
    "  -s NUMBER    seed; the same seed gives the same text (default: 1)\n"
    "  -j COUNT     threads (default: 1)\n"
    "  -x TEXT      stop before this text; may be given up to 16 times\n"
    "  -P           write the perplexity of the input instead of continuing it\n"
    "  -h           this text\n"
    "\n"
    "  tokexport model export MODEL -o model.weights\n"
    "  tokexport convert MODEL -o tokenizer.bin\n"
    "  engine model.weights tokenizer.bin \"Once upon a time\"\n";

typedef struct options {
    const char *weights, *tokenizer, *prompt;
    long count, threads;
    int wants_perplexity;
    sampler sampler;
    stops stops;
} options;

typedef struct session {
    tkx tokenizer;
    weights weights;
    transformer transformer;
    uint32_t *ids;
    size_t size;
} session;

static int fail(const char *what, const char *why) {
    fprintf(stderr, "engine: %s: %s\n", what, why);
    return 0;
}

static int parse(int argc, char **argv, options *o) {
    int letter;
    while ((letter = getopt(argc, argv, "n:t:k:p:s:j:x:Ph")) != -1) {
        char *end = NULL;
        const double number = optarg && letter != 'x' ? strtod(optarg, &end) : 0;
        if (end && (*end || end == optarg || !(number >= 0 && number <= 4294967295.0)))
            return fail(optarg, "this is no number that can be used here; see engine -h");
        switch (letter) {
            case 'n': o->count = (long)number; break;
            case 't': o->sampler.temperature = (float)number; break;
            case 'k': o->sampler.top_k = (uint32_t)number; break;
            case 'p': o->sampler.top_p = (float)number; break;
            case 's': o->sampler.seed = (uint64_t)number * 2 + 1; break; /* not 0 */
            case 'j': o->threads = (long)number; break;
            case 'P': o->wants_perplexity = 1; break;
            case 'x':
                if (!*optarg || strlen(optarg) > MAX_STOP_SIZE || o->stops.count == MAX_STOPS)
                    return fail(optarg, "at most 16 stop texts of 1 to 256 bytes can be given");
                o->stops.strings[o->stops.count++] = optarg;
                break;
            case 'h': fputs(usage, stdout); exit(0);
            default: fputs(usage, stderr); return 0;
        }
    }
    if (argc - optind < 2 || argc - optind > 3) return fputs(usage, stderr), 0;
    if (o->threads < 1 || o->threads > 256) return fail("-j", "give 1 to 256 threads");
    o->weights = argv[optind];
    o->tokenizer = argv[optind + 1];
    o->prompt = argv[optind + 2]; /* NULL at the end */
    return 1;
}

/* Maps a file; it stays mapped until the process ends. */
static const void *map_file(const char *path, size_t *size) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    void *data = MAP_FAILED;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        *size = (size_t)status.st_size;
        data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    } else if (file >= 0) {
        errno = EINVAL;
    }
    if (data == MAP_FAILED) fail(path, strerror(errno));
    if (file >= 0) close(file);
    return data == MAP_FAILED ? NULL : data;
}

/* All of standard input; NULL where there is not enough memory. */
static char *read_input(size_t *size) {
    size_t room = 1 << 16;
    char *text = (char *)malloc(room), *more;
    *size = 0;
    while (text) {
        *size += fread(text + *size, 1, room - *size, stdin);
        if (*size < room) return text;
        room *= 2;
        more = (char *)realloc(text, room);
        if (!more) free(text);
        text = more;
    }
    return NULL;
}

/* Encodes the prompt as a whole input of the model; what it needs it says, and is tried again. */
static int encode(session *s, const char *text, size_t size) {
    size_t capacity = size + 16, count;
    tkx_work work = {NULL, 0, NULL, 0};
    int code = TKX_E_IDS;
    s->ids = NULL;
    while (code == TKX_E_IDS || code == TKX_E_WORK) {
        free(s->ids);
        s->ids = (uint32_t *)malloc(capacity * sizeof *s->ids);
        if (!s->ids || (work.memory_size && !work.memory))
            return fail("prompt", "there is not enough memory");
        code = tkx_encode_with_template(&s->tokenizer, text, size, 0, s->ids, capacity, &count,
                                        &work);
        if (code == TKX_E_IDS) capacity = count;
        if (code == TKX_E_WORK) {
            free(work.memory);
            work.memory_size = count;
            work.memory = malloc(count);
        }
    }
    free(work.memory);
    s->size = count;
    return code == TKX_OK ? 1 : fail("prompt", tkx_error(code));
}

static int open_session(session *s, const options *o) {
    size_t size;
    const char *problem;
    int code;
    const void *data = map_file(o->weights, &size);
    if (!data) return 0;
    problem = weights_open(&s->weights, data, size);
    if (problem) return fail(o->weights, problem);
    data = map_file(o->tokenizer, &size);
    if (!data) return 0;
    code = tkx_open(&s->tokenizer, data, size);
    if (code != TKX_OK) return fail(o->tokenizer, tkx_error(code));
    if (tkx_id_count(&s->tokenizer) > s->weights.vocabulary)
        return fail(o->tokenizer, "it has more ids than the weights; these two do not belong"
                                  " together");
    return 1;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int is_stop_id(const tkx *t, uint32_t id) {
    uint32_t stop, i;
    for (i = 0; tkx_stop_id(t, i, &stop) == TKX_OK; i++) {
        if (stop == id) return 1;
    }
    return tkx_special_id(t, TKX_EOS, &stop) == TKX_OK && stop == id;
}

/* Writes the text that an id completes; 1 where it ends the text, -1 on an error. */
static int write_id(tkx_decoder *d, uint32_t id, stops *ends) {
    static uint8_t text[1 << 18]; /* three bytes for each of the longest token, and what is held */
    size_t size;
    int code, ended;
    if (id >= tkx_id_count(d->t)) return 0; /* a row of the weights that is no token */
    code = tkx_decoder_step(d, id, text, sizeof text, &size);
    if (code == TKX_E_ID) return 0; /* a hole */
    if (code != TKX_OK) return fail("output", tkx_error(code)), -1;
    ended = stops_write(ends, (const char *)text, size, stdout);
    fflush(stdout);
    return ended;
}

static int generate(session *s, options *o) {
    const size_t room = s->transformer.positions;
    static uint8_t text[4096];
    tkx_decoder decoder;
    size_t size, made = 0, i;
    double begin = seconds(), prompt_end = begin, end;
    int ended = 0;
    uint32_t id = s->ids[s->size - 1];
    stops none = {{NULL}, 0, {0}, 0};
    tkx_decoder_init(&decoder, &s->tokenizer, 1);
    for (i = 0; i < s->size; i++) {
        if (write_id(&decoder, s->ids[i], &none) < 0) return 0;
        if (i + 1 < s->size)
            transformer_step(&s->transformer, s->ids[i], (uint32_t)i, 0);
    }
    for (i = s->size - 1; !ended && i < room && made < (size_t)o->count; i++) {
        const float *logits = transformer_step(&s->transformer, id, (uint32_t)i, 1);
        id = sample(&o->sampler, logits, s->weights.vocabulary);
        if (!made) prompt_end = seconds();
        made++;
        if (is_stop_id(&s->tokenizer, id)) break;
        ended = write_id(&decoder, id, &o->stops);
        if (ended < 0) return 0;
    }
    end = seconds();
    if (!ended) {
        if (tkx_decoder_flush(&decoder, text, sizeof text, &size) == TKX_OK)
            ended = stops_write(&o->stops, (const char *)text, size, stdout);
        if (!ended) stops_flush(&o->stops, stdout);
    }
    putchar('\n');
    fprintf(stderr, "prompt: %lu tokens, %.1f a second; text: %lu tokens, %.1f a second\n",
            (unsigned long)s->size, (double)s->size / (prompt_end - begin), (unsigned long)made,
            made > 1 ? (double)(made - 1) / (end - prompt_end) : 0.0);
    return 1;
}

/* exp of the mean of -ln p(next id), over the positions that there is room for. */
static void write_perplexity(session *s) {
    double sum = 0;
    size_t i, j;
    for (i = 0; i + 1 < s->size && i < s->transformer.positions; i++) {
        const float *logits = transformer_step(&s->transformer, s->ids[i], (uint32_t)i, 1);
        double largest = logits[0], total = 0;
        for (j = 1; j < s->weights.vocabulary; j++) largest = fmax(largest, (double)logits[j]);
        for (j = 0; j < s->weights.vocabulary; j++) total += exp((double)logits[j] - largest);
        sum += log(total) + largest - (double)logits[s->ids[i + 1]];
    }
    printf("perplexity %.4f over %lu tokens\n", i ? exp(sum / (double)i) : 1.0, (unsigned long)i);
}

int main(int argc, char **argv) {
    static session s;
    options o = {NULL, NULL, NULL, 0x7FFFFFFF, 1, 0, {0.8f, 40, 0.95f, 3, NULL}, {{NULL}, 0, {0}, 0}};
    threads *pool = NULL;
    char *input = NULL;
    size_t size = 0, wanted;
    uint32_t positions;
    int ok = 0;
    if (!parse(argc, argv, &o)) return 2;
    if (!open_session(&s, &o)) return 2;
    if (!o.prompt) input = read_input(&size);
    if (!o.prompt && !input) return fail("standard input", "there is not enough memory"), 2;
    if (!encode(&s, o.prompt ? o.prompt : input, o.prompt ? strlen(o.prompt) : size)) return 2;
    free(input);
    if (!s.size && tkx_special_id(&s.tokenizer, TKX_BOS, &s.ids[0]) == TKX_OK) s.size = 1;
    wanted = o.wants_perplexity ? s.size : s.size + (size_t)o.count;
    positions = wanted < s.weights.context ? (uint32_t)wanted : s.weights.context;
    o.sampler.room = (candidate *)malloc(s.weights.vocabulary * sizeof(candidate));
    pool = threads_start((uint32_t)o.threads);
    if (!s.size)
        fail("prompt", "it is empty, and the tokenizer has no token that begins a text");
    else if (!o.wants_perplexity && s.size > positions)
        fail("prompt", "it is longer than what the model can see");
    else if (!pool || !o.sampler.room ||
             !transformer_start(&s.transformer, &s.weights, pool, positions))
        fail("memory", "there is not enough of it");
    else if (o.wants_perplexity)
        write_perplexity(&s), ok = 1;
    else
        ok = generate(&s, &o);
    transformer_stop(&s.transformer);
    threads_stop(pool);
    free(o.sampler.room);
    free(s.ids);
    weights_close(&s.weights);
    return ok ? 0 : 2;
}
