/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- chat.c: conversations to prompts -------------------------------------------------------- */

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
