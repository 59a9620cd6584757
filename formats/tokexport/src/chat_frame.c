/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- chat_frame.c: the frame of a conversation (FRAM) ---------------------------------------- */

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
