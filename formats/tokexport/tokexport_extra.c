/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport_extra.c - the implementation of tokexport_extra.h; EXTRA.md describes the sections. It
   uses the functions of tokexport.h, and the fields of a tkx that tkx_open has checked. */

#include "tokexport_extra.h"

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* A number in the file, at any alignment. */
static uint32_t number_at(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- Texts with the ids of the reference library (TEST) -------------------------------------- */

enum { CASE_BYTES = 20, CASE_TAKES_SPECIAL = 1 };

/* Runs a case. TEST has `all` ids and `text_size` bytes of text, which the case must be within. */
static int run_case(const tkx *t, const uint8_t *entry, const uint8_t *expected, uint32_t all,
                    const uint8_t *texts, uint32_t text_size, uint32_t *ids, size_t capacity,
                    const tkx_work *work) {
    const uint32_t offset = number_at(entry), length = number_at(entry + 4),
                   first = number_at(entry + 8), id_count = number_at(entry + 12);
    size_t count, i;
    int code;
    if (offset > text_size || length > text_size - offset || first > all || id_count > all - first)
        return TKX_E_CORRUPT;
    if (id_count > capacity) return TKX_E_IDS;
    code = (number_at(entry + 16) & CASE_TAKES_SPECIAL ? tkx_encode_special : tkx_encode)(
        t, texts + offset, length, ids, capacity, &count, work);
    if (code == TKX_E_UTF8 || code == TKX_E_ARGUMENT) return TKX_E_CORRUPT;
    if (code == TKX_E_IDS) return TKX_E_SELF_TEST;
    if (code != TKX_OK) return code;
    for (i = 0; i < count && count == id_count; i++)
        if (ids[i] != number_at(expected + 4 * (first + i))) return TKX_E_SELF_TEST;
    return count == id_count ? TKX_OK : TKX_E_SELF_TEST;
}

int tkx_selftest(const tkx *t, uint32_t *ids, size_t capacity, size_t *count,
                 const tkx_work *work) {
    const uint8_t *head, *cases, *expected, *texts;
    uint32_t case_count, all;
    if (!t || !count || (!ids && capacity)) return TKX_E_ARGUMENT;
    *count = 0;
    if (!t->self_test.data) return TKX_E_NOT_FOUND;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    head = t->self_test.data;
    case_count = number_at(head);
    all = number_at(head + 4);
    cases = head + 16;
    expected = cases + CASE_BYTES * (size_t)case_count;
    texts = expected + 4 * (size_t)all;
    for (; *count < case_count; ++*count) {
        const int code = run_case(t, cases + CASE_BYTES * *count, expected, all, texts,
                                  number_at(head + 8), ids, capacity, work);
        if (code != TKX_OK) return code;
    }
    return TKX_OK;
}

/* ---- Ids by prefix (SORT) -------------------------------------------------------------------- */

/* The byte at a depth of the index-th id in SORT; -1 if the id is shorter, -2 if it is damaged. */
static int sorted_byte(const tkx *t, uint32_t index, uint32_t depth) {
    const uint8_t *bytes;
    size_t length;
    if (tkx_token_bytes(t, number_at(t->sorted.data + 4 * (size_t)index), &bytes, &length))
        return -2;
    return depth < length ? bytes[depth] : -1;
}

/* Moves r->begin to the first id in the range whose byte at its depth is not below `byte`, or to
   the end of the range. TKX_OK or TKX_E_CORRUPT. */
static int skip_below(const tkx *t, tkx_prefix *r, int byte) {
    uint32_t end = r->end;
    while (r->begin < end) {
        const uint32_t middle = r->begin + (end - r->begin) / 2;
        const int found = sorted_byte(t, middle, r->depth);
        if (found == -2) return TKX_E_CORRUPT;
        if (found < byte) r->begin = middle + 1;
        else end = middle;
    }
    return TKX_OK;
}

/* Checks that there is SORT, and that a range is within it. */
static int check_range(const tkx *t, const tkx_prefix *r) {
    if (!t || !r) return TKX_E_ARGUMENT;
    if (!t->sorted.data) return TKX_E_NOT_FOUND;
    return r->begin <= r->end && r->end <= t->token_count ? TKX_OK : TKX_E_ARGUMENT;
}

int tkx_prefix_step(const tkx *t, tkx_prefix *range, uint8_t byte) {
    tkx_prefix after;
    int code = check_range(t, range);
    if (code != TKX_OK) return code;
    code = skip_below(t, range, byte);
    after = *range;
    if (code == TKX_OK) code = skip_below(t, &after, byte + 1);
    range->end = code == TKX_OK ? after.begin : range->begin;
    range->depth++;
    return code;
}

int tkx_prefix_ids(const tkx *t, const void *prefix, size_t size, tkx_prefix *range) {
    size_t i;
    int code = TKX_OK;
    if (!t || !range || (!prefix && size)) return TKX_E_ARGUMENT;
    *range = (tkx_prefix){0, t->sorted.data ? t->token_count : 0, 0};
    if (!t->sorted.data) return TKX_E_NOT_FOUND;
    for (i = 0; i < size && code == TKX_OK && range->begin < range->end; i++)
        code = tkx_prefix_step(t, range, ((const uint8_t *)prefix)[i]);
    return code;
}

int tkx_prefix_next(const tkx *t, const tkx_prefix *range, uint32_t from, uint8_t *byte) {
    tkx_prefix rest;
    int code = check_range(t, range), found;
    if (!byte) return TKX_E_ARGUMENT;
    *byte = 0;
    if (code != TKX_OK) return code;
    rest = *range;
    code = from < 256 ? skip_below(t, &rest, (int)from) : TKX_E_NOT_FOUND;
    if (code != TKX_OK) return code;
    if (rest.begin == rest.end) return TKX_E_NOT_FOUND;
    found = sorted_byte(t, rest.begin, rest.depth);
    if (found < (int)from) return TKX_E_CORRUPT;
    *byte = (uint8_t)found;
    return TKX_OK;
}

int tkx_prefix_id(const tkx *t, uint32_t index, uint32_t *id) {
    if (!t || !id) return TKX_E_ARGUMENT;
    *id = TKX_NONE;
    if (!t->sorted.data || index >= t->token_count) return TKX_E_NOT_FOUND;
    *id = number_at(t->sorted.data + 4 * (size_t)index);
    if (*id < t->id_count) return TKX_OK;
    *id = TKX_NONE;
    return TKX_E_CORRUPT;
}

/* ---- The frame of a conversation (FRAM) ------------------------------------------------------ */

enum { TEXT_COUNT = 6, HEADER_BYTES = 40, MOST_MARKS = 255, MOST_RESERVED = 255, MOST_BYTES = 255 };
enum { START, BEFORE_SYSTEM, AFTER_SYSTEM, USER_TO_ASSISTANT, ASSISTANT_TO_USER, USER_TO_REPLY };
/* Flags. STRIP << role: white space at the ends of messages with that role is dropped;
   TRIMMED << role: they have none. */
enum { HAS_SYSTEM = 1, TAKES_EMPTY = 2, STRIP = 4, TRIMMED = 32, KNOWN_FLAGS = 255 };

/* FRAM, with checked sizes. `starts[i]`: the start of the i-th text, and the end of the last. */
typedef struct tkx_frame {
    uint32_t flags, mark_count, reserved_count;
    const uint8_t *marks, *reserved_sizes, *texts;
    size_t starts[TEXT_COUNT + 1];
} tkx_frame;

/* Finds FRAM. TKX_E_NOT_FOUND: there is none; TKX_E_CORRUPT: its numbers contradict each other. */
static int read_frame(const tkx *t, tkx_frame *f) {
    const uint8_t *head;
    size_t size, left;
    uint32_t i;
    const int code = tkx_section(t, "FRAM", &head, &size);
    if (code != TKX_OK) return code;
    if (size < HEADER_BYTES) return TKX_E_CORRUPT;
    f->flags = number_at(head);
    f->mark_count = number_at(head + 4);
    f->reserved_count = number_at(head + 8);
    if ((f->flags & ~(uint32_t)KNOWN_FLAGS) || f->mark_count > MOST_MARKS ||
        f->reserved_count > MOST_RESERVED ||
        size - HEADER_BYTES < 4 * ((size_t)f->mark_count + f->reserved_count))
        return TKX_E_CORRUPT;
    f->marks = head + HEADER_BYTES;
    f->reserved_sizes = f->marks + 4 * (size_t)f->mark_count;
    f->texts = f->reserved_sizes + 4 * (size_t)f->reserved_count;
    left = number_at(head + 12);
    if (left != size - (size_t)(f->texts - head)) return TKX_E_CORRUPT;
    f->starts[0] = 0;
    for (i = 0; i < TEXT_COUNT + f->reserved_count; i++) {
        const uint32_t length = number_at(
            i < TEXT_COUNT ? head + 16 + 4 * i : f->reserved_sizes + 4 * (i - TEXT_COUNT));
        if (length > left || (i >= TEXT_COUNT && (length == 0 || length > MOST_BYTES)))
            return TKX_E_CORRUPT;
        left -= length;
        if (i < TEXT_COUNT) f->starts[i + 1] = f->starts[i] + length;
    }
    return left == 0 ? TKX_OK : TKX_E_CORRUPT;
}

/* The length of the white space character (in the sense of Python's str.strip) at the start of a
   text, or 0. */
static size_t space_at(const uint8_t *p, size_t size) {
    const uint32_t a = size > 0 ? p[0] : 0, b = size > 1 ? p[1] : 0, c = size > 2 ? p[2] : 0;
    if ((a >= 9 && a <= 13) || (a >= 28 && a <= 32)) return 1;
    if (a == 0xC2) return b == 0x85 || b == 0xA0 ? 2 : 0;
    if (a == 0xE1) return b == 0x9A && c == 0x80 ? 3 : 0;
    if (a == 0xE3) return b == 0x80 && c == 0x80 ? 3 : 0;
    if (a != 0xE2) return 0;
    if (b == 0x81) return c == 0x9F ? 3 : 0;
    return b == 0x80 && ((c >= 0x80 && c <= 0x8A) || c == 0xA8 || c == 0xA9 || c == 0xAF) ? 3 : 0;
}

/* A text without the white space at its ends. */
static tkx_span stripped(tkx_span s) {
    size_t length, back;
    while ((length = space_at(s.data, s.size)) > 0) s.data += length, s.size -= length;
    for (back = 1; back <= 3 && back <= s.size;) {
        if (space_at(s.data + s.size - back, back) == back) s.size -= back, back = 1;
        else back++;
    }
    return s;
}

/* Whether a text contains another one, which is not empty. */
static int holds(tkx_span s, const uint8_t *part, size_t length) {
    size_t i;
    for (i = 0; i + length <= s.size; i++) {
        if (s.data[i] == part[0] && memcmp(s.data + i, part, length) == 0) return 1;
    }
    return 0;
}

/* Whether the frame supports this message. */
static int takes_message(const tkx_frame *f, const tkx_message *m) {
    const tkx_span s = {(const uint8_t *)m->text, m->size};
    const size_t size = stripped(s).size;
    const uint8_t *part = f->texts + f->starts[TEXT_COUNT];
    uint32_t i;
    if (!(f->flags & TAKES_EMPTY) && size == 0) return 0;
    if ((f->flags & (uint32_t)TRIMMED << m->role) && size < s.size) return 0;
    for (i = 0; i < f->reserved_count; i++) {
        const size_t length = number_at(f->reserved_sizes + 4 * (size_t)i);
        if (holds(s, part, length)) return 0;
        part += length;
    }
    return 1;
}

/* Whether the frame supports these messages: an optional system message, then user and assistant in
   turn, ending with the user. If not, *at is the index of the first message not supported. */
static int check_messages(const tkx_frame *f, const tkx_message *messages, size_t count,
                          size_t *at) {
    size_t i, first;
    *at = 0;
    if (!messages && count) return TKX_E_ARGUMENT;
    first = count && messages[0].role == TKX_SYSTEM && (f->flags & HAS_SYSTEM);
    for (i = 0; i < count; i++) {
        const tkx_message *m = messages + i;
        *at = i;
        if (!m->text && m->size) return TKX_E_ARGUMENT;
        if (i >= first && m->role != ((i - first) % 2 ? TKX_ASSISTANT : TKX_USER))
            return TKX_E_ROLE;
        if (!takes_message(f, m)) return TKX_E_MESSAGE;
    }
    *at = count;
    return (count - first) % 2 == 1 ? TKX_OK : TKX_E_ROLE;
}

/* The text of the frame before the i-th message, or after the last one (i = count). */
static uint32_t text_before(const tkx_message *messages, size_t count, size_t i) {
    if (i == 0) return messages[0].role == TKX_SYSTEM ? BEFORE_SYSTEM : START;
    if (messages[i - 1].role == TKX_SYSTEM) return AFTER_SYSTEM;
    if (messages[i - 1].role == TKX_ASSISTANT) return ASSISTANT_TO_USER;
    return i < count ? USER_TO_ASSISTANT : USER_TO_REPLY;
}

/* The text of a message as it is in the prompt. */
static tkx_span content_of(const tkx_frame *f, const tkx_message *m) {
    const tkx_span s = {(const uint8_t *)m->text, m->size};
    return f->flags & (uint32_t)STRIP << m->role ? stripped(s) : s;
}

/* ---- Conversations to prompts ---------------------------------------------------------------- */

enum { MOST_TEXT = 0x7FFFFFFF, FIRST_WORK = 1 << 16 };

/* A prompt in progress. Bytes that do not fit are only counted in `size`. */
typedef struct tkx_prompt {
    uint8_t *text, *marks; /* NULL: none */
    size_t capacity, size;
} tkx_prompt;

static int append(tkx_prompt *p, const uint8_t *bytes, size_t size) {
    if (size > MOST_TEXT - p->size) return TKX_E_ARGUMENT;
    if (size && p->size <= p->capacity && size <= p->capacity - p->size)
        memcpy(p->text + p->size, bytes, size);
    p->size += size;
    return TKX_OK;
}

/* Appends a text of the frame, and marks its special tokens. */
static int append_text(tkx_prompt *p, const tkx_frame *f, uint32_t text) {
    const size_t start = f->starts[text], end = f->starts[text + 1], at = p->size;
    const int code = append(p, f->texts + start, end - start);
    uint32_t i;
    for (i = 0; p->marks && code == TKX_OK && i < f->mark_count; i++) {
        const size_t mark = number_at(f->marks + 4 * (size_t)i), bit = at + mark - start;
        if (mark >= start && mark < end) p->marks[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    return code;
}

/* Writes the prompt of messages that check_messages has accepted. */
static int write_prompt(tkx_prompt *p, const tkx_frame *f, const tkx_message *messages,
                        size_t count) {
    size_t i;
    int code = TKX_OK;
    for (i = 0; i <= count && code == TKX_OK; i++) {
        code = append_text(p, f, text_before(messages, count, i));
        if (i < count && code == TKX_OK) {
            const tkx_span s = content_of(f, messages + i);
            code = append(p, s.data, s.size);
        }
    }
    return code;
}

/* The index of the message that a byte of the prompt belongs to. */
static size_t message_at(const tkx_frame *f, const tkx_message *messages, size_t count, size_t at) {
    tkx_prompt p = {NULL, NULL, 0, 0};
    size_t i;
    for (i = 0; i + 1 < count; i++) {
        const uint32_t text = text_before(messages, count, i);
        p.size += f->starts[text + 1] - f->starts[text] + content_of(f, messages + i).size;
        if (at < p.size) break;
    }
    return i;
}

int tkx_chat_text(const tkx *t, int which, const uint8_t **text, size_t *size) {
    tkx_frame f;
    int code;
    if (!text || !size) return TKX_E_ARGUMENT;
    *text = NULL;
    *size = 0;
    code = read_frame(t, &f);
    if (code != TKX_OK) return code;
    if (which < 0 || which >= TEXT_COUNT) return TKX_E_ARGUMENT;
    if (!(f.flags & HAS_SYSTEM) && (which == BEFORE_SYSTEM || which == AFTER_SYSTEM))
        return TKX_E_ROLE;
    *text = f.texts + f.starts[which];
    *size = f.starts[which + 1] - f.starts[which];
    return TKX_OK;
}

int tkx_chat_prompt(const tkx *t, const tkx_message *messages, size_t count, uint8_t *out,
                    size_t capacity, size_t *size) {
    tkx_prompt p = {out, NULL, capacity, 0};
    tkx_frame f;
    int code;
    if (!size) return TKX_E_ARGUMENT;
    *size = 0;
    if (!out && capacity) return TKX_E_ARGUMENT;
    code = read_frame(t, &f);
    if (code == TKX_OK) code = check_messages(&f, messages, count, size);
    if (code == TKX_OK) code = write_prompt(&p, &f, messages, count);
    if (code != TKX_OK) return code;
    *size = p.size;
    return p.size <= capacity ? TKX_OK : TKX_E_BYTES;
}

int tkx_chat_encode(const tkx *t, const tkx_message *messages, size_t count, uint32_t *ids,
                    size_t capacity, size_t *id_count, const tkx_work *work) {
    tkx_prompt p = {NULL, NULL, 0, 0};
    tkx_work rest = {0};
    tkx_frame f;
    size_t used;
    int code;
    if (!id_count) return TKX_E_ARGUMENT;
    *id_count = 0;
    code = read_frame(t, &f);
    if (code == TKX_OK) code = check_messages(&f, messages, count, id_count);
    if (code == TKX_OK) code = write_prompt(&p, &f, messages, count);
    if (code != TKX_OK) return code;
    /* the prompt and its marks are stored at the start of the work memory */
    used = p.size + p.size / 8 + 1;
    if (!work || !work->memory || work->memory_size < used)
        return *id_count = used + FIRST_WORK, TKX_E_WORK;
    rest = *work;
    rest.memory = (uint8_t *)work->memory + used;
    rest.memory_size = work->memory_size - used;
    p = (tkx_prompt){(uint8_t *)work->memory, (uint8_t *)work->memory + p.size, p.size, 0};
    memset(p.marks, 0, used - p.capacity);
    code = write_prompt(&p, &f, messages, count);
    if (code != TKX_OK) return code;
    code = tkx_encode_marked(t, p.text, p.size, p.marks, ids, capacity, id_count, &rest);
    if (code == TKX_E_WORK) *id_count += used;
    if (code == TKX_E_UTF8) *id_count = message_at(&f, messages, count, *id_count);
    return code;
}
