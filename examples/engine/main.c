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
#include <unistd.h>

#include "chat.h"

enum { MAX_CHAT = 4096 }; /* tokens of a conversation */

static const char usage[] =
    "Usage: engine [OPTION]... WEIGHTS TOKENIZER [PROMPT]\n"
    "\n"
    "Continues PROMPT, or standard input if there is none; writes text as it is generated.\n"
    "\n"
    "  -n COUNT     at most COUNT tokens (default: until one that ends the text)\n"
    "  -t NUMBER    temperature; 0 takes the most likely token (default: 0.8)\n"
    "  -k COUNT     choose among the COUNT most likely tokens; 0: all (default: 40)\n"
    "  -p NUMBER    choose among the fewest tokens whose probabilities sum to it (default: 0.95)\n"
    "  -s NUMBER    seed; the same seed gives the same text (default: 1)\n"
    "  -j COUNT     threads (default: 1)\n"
    "  -x TEXT      stop before this text; may be given up to 16 times\n"
    "  -i ID, --stop-id ID     stop at this id, too; may be given up to 16 times\n"
    "  -c, --chat              answer each line of standard input, using the chat frame\n"
    "  -y TEXT, --system TEXT  begin the chat with this system message\n"
    "  -P           write the perplexity of the input instead of continuing it\n"
    "  -h           print this help\n"
    "\n"
    "  tokexport model export MODEL -o model.weights\n"
    "  tokexport convert MODEL -o tokenizer.bin\n"
    "  engine model.weights tokenizer.bin \"Once upon a time\"\n";

typedef struct options {
    const char *weights, *tokenizer, *prompt, *system;
    long threads;
    int wants_perplexity, chats;
} options;

/* Replaces long options by their letters, since getopt of POSIX does not support long ones. */
static void shorten(char **argv) {
    static const char *const names[][2] = {
        {"--chat", "-c"}, {"--system", "-y"}, {"--stop-id", "-i"}, {"--help", "-h"}};
    size_t i;
    for (; *argv && strcmp(*argv, "--") != 0; argv++) {
        for (i = 0; i < sizeof names / sizeof *names; i++) {
            if (strcmp(*argv, names[i][0]) == 0) strcpy(*argv, names[i][1]);
        }
    }
}

static int parse(int argc, char **argv, options *o, session *s) {
    int letter;
    while ((letter = getopt(argc, argv, "n:t:k:p:s:j:x:i:y:cPh")) != -1) {
        char *end = NULL;
        const double number = optarg && letter != 'x' && letter != 'y' ? strtod(optarg, &end) : 0;
        if (end && (*end || end == optarg || !(number >= 0 && number <= 4294967295.0)))
            return fail(optarg, "this is not a usable number; see engine -h");
        switch (letter) {
            case 'n': s->most = (size_t)number; break;
            case 't': s->sampler.temperature = (float)number; break;
            case 'k': s->sampler.top_k = (uint32_t)number; break;
            case 'p': s->sampler.top_p = (float)number; break;
            case 's': s->sampler.seed = (uint64_t)number * 2 + 1; break; /* not 0 */
            case 'j': o->threads = (long)number; break;
            case 'c': o->chats = 1; break;
            case 'y': o->system = optarg; break;
            case 'i':
                if (s->stop_id_count == MAX_STOP_IDS)
                    return fail(optarg, "at most 16 can be given");
                s->stop_ids[s->stop_id_count++] = (uint32_t)number;
                break;
            case 'P': o->wants_perplexity = 1; break;
            case 'x':
                if (!*optarg || strlen(optarg) > MAX_STOP_SIZE || s->stops.count == MAX_STOPS)
                    return fail(optarg, "at most 16 stop texts of 1 to 256 bytes can be given");
                s->stops.strings[s->stops.count++] = optarg;
                break;
            case 'h': fputs(usage, stdout); exit(0);
            default: fputs(usage, stderr); return 0;
        }
    }
    if (argc - optind < 2 || argc - optind > 3) return fputs(usage, stderr), 0;
    if (o->threads < 1 || o->threads > 256) return fail("-j", "give 1 to 256 threads");
    o->weights = argv[optind];
    o->tokenizer = argv[optind + 1];
    o->prompt = argv[optind + 2]; /* NULL if there is none */
    return 1;
}

/* Maps a file; it stays mapped until the process exits. */
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

/* Reads all of standard input; NULL if there is not enough memory. */
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

/* Encodes the prompt as a complete input of the model; an input without any id becomes BOS. */
static int encode(session *s, const char *text, size_t size, uint32_t **ids, size_t *count) {
    tkx_work work = {NULL, 0, NULL, 0};
    size_t capacity = 0;
    int code;
    while ((code = tkx_encode_with_template(&s->tokenizer, text, size, 0, *ids, capacity, count,
                                            &work)) != TKX_OK &&
           make_room(code, *count, ids, &capacity, &work))
        continue;
    free(work.memory);
    if (code != TKX_OK) return fail("prompt", tkx_error(code));
    if (*count) return 1;
    *count = 1;
    *ids = (uint32_t *)malloc(sizeof **ids);
    if (!*ids || tkx_special_id(&s->tokenizer, TKX_BOS, *ids) != TKX_OK)
        return fail("prompt", "it is empty, and the tokenizer has no token that begins a text");
    return 1;
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

/* exp of the mean of -ln p(next id), over as many positions as there is room for. */
static void write_perplexity(session *s, const uint32_t *ids, size_t count) {
    double sum = 0;
    size_t i, j;
    for (i = 0; i + 1 < count && i < s->transformer.positions; i++) {
        const float *logits = transformer_step(&s->transformer, ids[i], (uint32_t)i, 1);
        double largest = logits[0], total = 0;
        for (j = 1; j < s->weights.vocabulary; j++) largest = fmax(largest, (double)logits[j]);
        for (j = 0; j < s->weights.vocabulary; j++) total += exp((double)logits[j] - largest);
        sum += log(total) + largest - (double)logits[ids[i + 1]];
    }
    printf("perplexity %.4f over %lu tokens\n", i ? exp(sum / (double)i) : 1.0, (unsigned long)i);
}

/* Writes the prompt and its continuation. */
static int go_on(session *s, const uint32_t *ids, size_t count) {
    timing took;
    if (!reply(s, ids, count, 1, &took)) return 0;
    fprintf(stderr, "prompt: %lu tokens, %.1f a second; text: %lu tokens, %.1f a second\n",
            (unsigned long)count, (double)count / took.prompt_seconds, (unsigned long)took.made,
            took.seconds > 0 ? (double)took.made / took.seconds : 0.0);
    return 1;
}

/* Makes room for the positions wanted, up to the maximum of the model. */
static int start(session *s, threads *pool, size_t wanted) {
    const uint32_t most = s->weights.context;
    const uint32_t positions = wanted < most ? (uint32_t)wanted : most;
    s->sampler.room = (candidate *)malloc(s->weights.vocabulary * sizeof(candidate));
    s->ids = (uint32_t *)malloc((positions + (size_t)1) * sizeof *s->ids);
    return (pool && s->sampler.room && s->ids &&
            transformer_start(&s->transformer, &s->weights, pool, positions)) ||
           fail("memory", "there is not enough of it");
}

int main(int argc, char **argv) {
    static session s;
    options o = {NULL, NULL, NULL, NULL, 1, 0, 0};
    threads *pool = NULL;
    uint32_t *ids = NULL;
    size_t count = 0, size = 0, wanted = MAX_CHAT;
    char *input = NULL;
    int ok;
    s.sampler = (sampler){0.8f, 40, 0.95f, 3, NULL};
    s.most = 0x7FFFFFFF;
    shorten(argv);
    if (!parse(argc, argv, &o, &s) || !open_session(&s, &o)) return 2;
    if (!o.chats) {
        if (!o.prompt) input = read_input(&size);
        if (!o.prompt && !input) return fail("standard input", "there is not enough memory"), 2;
        if (o.prompt) size = strlen(o.prompt);
        if (!encode(&s, o.prompt ? o.prompt : input, size, &ids, &count)) return 2;
        wanted = o.wants_perplexity ? count : count + s.most;
    }
    pool = threads_start((uint32_t)o.threads);
    ok = start(&s, pool, wanted);
    if (ok && o.chats) ok = chat(&s, o.system);
    else if (ok && o.wants_perplexity) write_perplexity(&s, ids, count);
    else if (ok) ok = go_on(&s, ids, count);
    transformer_stop(&s.transformer);
    threads_stop(pool);
    free(s.sampler.room);
    free(s.ids);
    free(s.text);
    free(ids);
    free(input);
    weights_close(&s.weights);
    return ok ? 0 : 2;
}
