/* Promises of tokexport.h, held against good files: test_runtime ROUNDS LENGTH FILE...

   What one call gives is what any other way gives: any address of the file, any work memory, any cache, any parts of a stream. Texts and
   buffers are as long as they need to be and no longer. What the ids are is held against the reference libraries elsewhere. */

#include "support.h"

enum { MAX_TEXT = 400, MAX_IDS = 12 * MAX_TEXT + 8 };

/* ---- Decoding, slow and plain ------------------------------------------------------------------------------------------------------- */

/* Whether `count` bytes begin some character of `length` bytes: the code points that they can become must meet those of that length. */
static int can_begin(const uint8_t *p, size_t count, size_t length) {
    static const uint32_t first[5] = {0, 0, 0x80, 0x800, 0x10000}, last[5] = {0, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
    static const uint8_t lead[5] = {0, 0x00, 0xC0, 0xE0, 0xF0}, mask[5] = {0, 0x80, 0xE0, 0xF0, 0xF8};
    uint32_t low, high;
    size_t i;
    if ((p[0] & mask[length]) != lead[length]) return 0;
    low = high = p[0] & (uint32_t)(uint8_t)~mask[length];
    for (i = 1; i < length; i++) {
        if (i < count && (p[i] & 0xC0) != 0x80) return 0;
        low = low << 6 | (i < count ? p[i] & 63u : 0u);
        high = high << 6 | (i < count ? p[i] & 63u : 63u);
    }
    if (low < first[length]) low = first[length];
    if (high > last[length]) high = last[length];
    return low <= high && !(low >= 0xD800 && high <= 0xDFFF);
}

/* Text of bytes: what is no character becomes U+FFFD, one for each longest beginning of a character, or for a byte. */
static size_t lossy(const uint8_t *bytes, size_t size, uint8_t *out) {
    size_t i = 0, used = 0;
    while (i < size) {
        size_t best = 1, length, count;
        int whole = 0;
        for (length = 1; length <= 4 && !whole; length++) {
            for (count = 1; count <= length && count <= size - i; count++) {
                if (!can_begin(bytes + i, count, length)) continue;
                if (count > best) best = count;
                whole |= count == length;
            }
        }
        memcpy(out + used, whole ? bytes + i : (const uint8_t *)"\xEF\xBF\xBD", whole ? best : 3);
        used += whole ? best : 3;
        i += best;
    }
    return used;
}

/* The tokens' bytes, one behind the other; without special ones on request. */
static size_t joined(const tkx *t, const uint32_t *ids, size_t count, int skip_special, uint8_t *out) {
    size_t used = 0, i, size;
    const uint8_t *bytes;
    uint32_t flags;
    for (i = 0; i < count; i++) {
        CHECK(tkx_token_flags(t, ids[i], &flags) == TKX_OK);
        if (skip_special && (flags & TKX_SPECIAL)) continue;
        CHECK(tkx_token_bytes(t, ids[i], &bytes, &size) == TKX_OK);
        memcpy(out + used, bytes, size);
        used += size;
    }
    return used;
}

/* Ids that are tokens. */
static void random_ids(const tkx *t, uint32_t *ids, size_t count, uint64_t *state) {
    uint32_t flags;
    size_t i;
    for (i = 0; i < count; i++) {
        do ids[i] = (uint32_t)below(state, tkx_id_count(t));
        while (tkx_token_flags(t, ids[i], &flags) != TKX_OK || (flags & TKX_KIND_MASK) == TKX_KIND_HOLE);
    }
}

/* A stream whose every buffer is first one byte too small: nothing changes by that. */
static size_t streamed_tightly(const tkx *t, const uint32_t *ids, size_t count, int skip_special, uint8_t *out) {
    tkx_decoder d;
    size_t used = 0, i, wanted, given, text;
    CHECK(tkx_decoder_init(&d, t, skip_special) == TKX_OK);
    for (i = 0; i <= count; i++) {
        int code = i < count ? tkx_decoder_step(&d, ids[i], NULL, 0, &wanted) : tkx_decoder_flush(&d, NULL, 0, &wanted);
        CHECK(code == (wanted ? TKX_E_BYTES : TKX_OK));
        if (wanted) {
            uint8_t *part = (uint8_t *)exactly(wanted), *checked = (uint8_t *)exactly(3 * wanted);
            code = i < count ? tkx_decoder_step(&d, ids[i], part, wanted - 1, &given) : tkx_decoder_flush(&d, part, wanted - 1, &given);
            CHECK(code == TKX_E_BYTES && given == wanted);
            code = i < count ? tkx_decoder_step(&d, ids[i], part, wanted, &given) : tkx_decoder_flush(&d, part, wanted, &given);
            CHECK(code == TKX_OK && given <= wanted);
            text = lossy(part, given, checked); /* never half a character */
            CHECK(text == given && memcmp(checked, part, given) == 0);
            memcpy(out + used, part, given);
            used += given;
            free(part);
            free(checked);
        }
    }
    return used;
}

/* All ways to decode agree, and say how much room they want. */
static void every_way_to_decode_gives_the_same(const tkx *t, uint64_t *state) {
    enum { COUNT = 40 };
    uint32_t ids[COUNT], wanted[COUNT], flags;
    size_t ends[COUNT], count = below(state, COUNT + 1), i, left = 0, size, text_size, used, begin = 0;
    uint8_t *out, *text, *stream;
    int skip;
    random_ids(t, ids, count, state);
    for (i = 0; i < count; i++) {
        CHECK(tkx_token_flags(t, ids[i], &flags) == TKX_OK);
        if (!(flags & TKX_SPECIAL)) wanted[left++] = ids[i];
    }
    for (skip = 0; skip < 2; skip++) {
        const uint32_t *given = skip ? wanted : ids;
        size_t n = skip ? left : count;
        CHECK(tkx_decode(t, given, n, NULL, 0, &size) == (size ? TKX_E_BYTES : TKX_OK));
        CHECK(tkx_decode_text(t, given, n, NULL, 0, &text_size) == (text_size ? TKX_E_BYTES : TKX_OK));
        out = (uint8_t *)exactly(2 * size);
        text = (uint8_t *)exactly(text_size);
        stream = (uint8_t *)exactly(text_size);
        if (size) CHECK(tkx_decode(t, given, n, out, size - 1, &used) == TKX_E_BYTES && used == size);
        if (text_size) CHECK(tkx_decode_text(t, given, n, text, text_size - 1, &used) == TKX_E_BYTES && used == text_size);
        CHECK(tkx_decode(t, given, n, out, size, &used) == TKX_OK && used == size);
        CHECK(tkx_decode_ends(t, given, n, out + size, size, &used, ends) == TKX_OK && used == size);
        CHECK(memcmp(out, out + size, size) == 0);
        for (i = 0, begin = 0; i < n; begin = ends[i++]) CHECK(ends[i] >= begin && ends[i] <= size);
        CHECK(begin == size);
        CHECK(tkx_decode_text(t, given, n, text, text_size, &used) == TKX_OK && used == text_size);
        CHECK(streamed_tightly(t, ids, count, skip, stream) == text_size && memcmp(stream, text, text_size) == 0);
        free(out);
        free(text);
        free(stream);
    }
}

static void decode_stream_gives_the_text_of_the_whole(const tkx *t, uint64_t *state) {
    enum { COUNT = 60 };
    uint32_t ids[COUNT];
    size_t count = below(state, COUNT + 1), i, size, used, longest = 0, all;
    const uint8_t *bytes;
    uint8_t *out, *raw, *text, *stream;
    int skip;
    every_way_to_decode_gives_the_same(t, state);
    if (t->decoder.data) return; /* not by joining: tests/test_decoding_rules.py */
    random_ids(t, ids, count, state);
    for (i = 0; i < count; i++) {
        CHECK(tkx_token_bytes(t, ids[i], &bytes, &size) == TKX_OK);
        longest = size > longest ? size : longest;
    }
    for (skip = 0; skip < 2; skip++) {
        tkx_decoder d;
        raw = (uint8_t *)exactly(COUNT * longest);
        text = (uint8_t *)exactly(3 * COUNT * longest + 12);
        stream = (uint8_t *)exactly(3 * COUNT * longest + 12);
        size = joined(t, ids, count, skip, raw);
        all = lossy(raw, size, text);
        CHECK(tkx_decoder_init(&d, t, skip) == TKX_OK);
        for (i = 0, used = 0; i <= count; i++) {
            size_t room = 3 * longest + 12, given, given_text;
            uint8_t *part = (uint8_t *)exactly(room), *checked;
            if (i < count) CHECK(tkx_decoder_step(&d, ids[i], part, room, &given) == TKX_OK);
            else CHECK(tkx_decoder_flush(&d, part, room, &given) == TKX_OK);
            checked = (uint8_t *)exactly(3 * given);
            given_text = lossy(part, given, checked); /* never half a character */
            CHECK(given_text == given && memcmp(checked, part, given) == 0);
            memcpy(stream + used, part, given);
            used += given;
            free(part);
            free(checked);
        }
        CHECK(used == all && memcmp(stream, text, all) == 0);
        if (!skip) {
            out = (uint8_t *)exactly(size);
            CHECK(tkx_decode(t, ids, count, out, size, &used) == TKX_OK);
            CHECK(used == size && memcmp(out, raw, size) == 0);
            if (size) {
                CHECK(tkx_decode(t, ids, count, out, size - 1, &used) == TKX_E_BYTES);
                CHECK(used == size);
            }
            free(out);
        }
        free(raw);
        free(text);
        free(stream);
    }
}

/* ---- Encoding ----------------------------------------------------------------------------------------------------------------------- */

static int encode(const tkx *t, int special, const uint8_t *text, size_t size, uint32_t *ids, size_t capacity, size_t *count,
                  const tkx_work *work) {
    return (special ? tkx_encode_special : tkx_encode)(t, text, size, ids, capacity, count, work);
}

/* Encodes with work memory that grows only as the error says. */
static int encode_growing(const tkx *t, int special, const uint8_t *text, size_t size, uint32_t *ids, size_t capacity, size_t *count) {
    tkx_work work = {NULL, 0, NULL, 0};
    int code = encode(t, special, text, size, ids, capacity, count, &work);
    while (code == TKX_E_WORK) {
        CHECK(*count > work.memory_size);
        free(work.memory);
        work.memory_size = *count;
        work.memory = exactly(work.memory_size);
        code = encode(t, special, text, size, ids, capacity, count, &work);
    }
    free(work.memory);
    return code;
}

static void every_way_gives_the_same_ids(const tkx *t, int special, const uint8_t *text, size_t size, const uint32_t *ids, size_t count,
                                         uint64_t *state) {
    static uint8_t cache[4096 + 8];
    static uint32_t other[MAX_IDS];
    static const size_t cache_sizes[] = {1, 63, 200, 1000, 4096};
    size_t got, i, memory_size = tkx_work_size(t, size), exact;
    uint32_t *room;
    int code;
    tkx_work work = {NULL, 0, NULL, 0};
    code = encode(t, special, text, size, NULL, 0, &got, &work);
    CHECK(code == TKX_E_WORK || (code == (count ? TKX_E_IDS : TKX_OK) && got == count));
    CHECK(encode_growing(t, special, text, size, other, MAX_IDS, &got) == TKX_OK);
    CHECK(got == count && memcmp(other, ids, 4 * count) == 0);
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    CHECK(t->normalizer.data || memory_size <= TKX_WORK_SIZE(size));
    for (i = 0; i < sizeof cache_sizes / sizeof *cache_sizes; i++) {
        int twice;
        memset(cache, 0, sizeof cache);
        work.cache = cache + below(state, 8);
        work.cache_size = cache_sizes[i];
        for (twice = 0; twice < 2; twice++) {
            memset(other, 0xAB, sizeof other);
            CHECK(encode(t, special, text, size, other, MAX_IDS, &got, &work) == TKX_OK);
            CHECK(got == count && memcmp(other, ids, 4 * count) == 0);
        }
        /* Only what there is room for is written: the array is exactly as long. */
        for (exact = count < 6 ? 0 : count - 6; exact <= count; exact++) {
            room = (uint32_t *)exactly(4 * exact);
            CHECK(encode(t, special, text, size, room, exact, &got, &work) == (exact < count ? TKX_E_IDS : TKX_OK));
            CHECK(got == count && memcmp(room, ids, 4 * exact) == 0);
            free(room);
        }
    }
    free(work.memory);
}

static void a_stream_gives_the_ids_of_the_whole(const tkx *t, int special, const uint8_t *text, size_t size, const uint32_t *ids,
                                                size_t count, size_t window_size, uint64_t *state) {
    tkx_encoder e;
    tkx_work work = {NULL, 0, NULL, 0};
    uint8_t *window = (uint8_t *)exactly(window_size);
    size_t capacity = 12 * window_size, at = 0, got, taken, all = 0;
    uint32_t *part = (uint32_t *)exactly(4 * capacity);
    int code = TKX_OK;
    work.memory_size = tkx_work_size(t, window_size);
    work.memory = exactly(work.memory_size);
    CHECK(tkx_encoder_init(&e, t, special, window, window_size, &work) == TKX_OK);
    CHECK(tkx_encoder_feed(&e, text, size, &taken, part, 3 * window_size - 1, &got) == TKX_E_IDS);
    while (at < size) {
        size_t offered = 1 + below(state, size - at < 40 ? size - at : 40);
        uint8_t *chunk = copy_of(text + at, offered);
        code = tkx_encoder_feed(&e, chunk, offered, &taken, part, capacity, &got);
        free(chunk);
        if (code != TKX_OK) break;
        CHECK(taken <= offered && all + got <= count && memcmp(part, ids + all, 4 * got) == 0);
        at += taken;
        all += got;
    }
    if (code != TKX_OK) {
        CHECK(code == TKX_E_WINDOW && window_size < size);
    } else {
        CHECK(tkx_encoder_finish(&e, part, capacity, &got) == TKX_OK);
        CHECK(all + got == count && memcmp(part, ids + all, 4 * got) == 0);
        CHECK(tkx_encoder_finish(&e, part, capacity, &got) == TKX_E_STATE);
        CHECK(tkx_encoder_feed(&e, "a", 1, &taken, part, capacity, &got) == TKX_E_STATE);
    }
    free(part);
    free(window);
    free(work.memory);
}

static void cutting_changes_nothing(const tkx *t, int special, const uint8_t *text, size_t size, const uint32_t *ids, size_t count) {
    static uint32_t left[MAX_IDS];
    size_t cut = tkx_cut(t, text, size), got;
    CHECK(cut < size || size == 0);
    if (cut == 0) return;
    CHECK(encode_growing(t, special, text, cut, left, MAX_IDS, &got) == TKX_OK);
    CHECK(got <= count && memcmp(left, ids, 4 * got) == 0);
    ids += got;
    count -= got;
    CHECK(encode_growing(t, special, text + cut, size - cut, left, MAX_IDS, &got) == TKX_OK);
    CHECK(got == count && memcmp(left, ids, 4 * got) == 0);
}

static void allowed_tokens_are_found_and_no_others(const tkx *t, const uint8_t *text, size_t size) {
    static uint32_t expected[MAX_IDS], ids[MAX_IDS];
    uint8_t all[64];
    size_t count, got, memory_size = tkx_work_size(t, size);
    tkx_work work = {NULL, 0, NULL, 0};
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    memset(all, 0xFF, sizeof all);
    CHECK(tkx_added_count(t) <= 8 * sizeof all);
    CHECK(tkx_encode(t, text, size, expected, MAX_IDS, &count, &work) == TKX_OK);
    CHECK(tkx_encode_allowed(t, text, size, NULL, 0, ids, MAX_IDS, &got, &work) == TKX_OK);
    CHECK(got == count && memcmp(ids, expected, 4 * count) == 0);
    CHECK(tkx_encode_special(t, text, size, expected, MAX_IDS, &count, &work) == TKX_OK);
    CHECK(tkx_encode_allowed(t, text, size, all, sizeof all, ids, MAX_IDS, &got, &work) == TKX_OK);
    CHECK(got == count && memcmp(ids, expected, 4 * count) == 0);
    free(work.memory);
}

static size_t characters_of(const uint8_t *text, size_t size) {
    size_t count = 0, i;
    for (i = 0; i < size; i++) count += (text[i] & 0xC0) != 0x80;
    return count;
}

/* With as much work memory as it asks for, and room for just the ids that there are. */
static void spans_lie_in_the_text(const tkx *t, int special, const uint8_t *text, size_t size, const uint32_t *expected, size_t count) {
    static uint32_t in_bytes[2 * MAX_IDS];
    const uint8_t *data;
    uint32_t *ids = (uint32_t *)exactly(4 * count), *spans = (uint32_t *)exactly(8 * count);
    size_t memory_size = 0, got, i, all = special ? TKX_ALL : 0, trim_size;
    int unit, trims = tkx_section(t, "TRIM", &data, &trim_size) == TKX_OK;
    for (unit = TKX_BYTES; unit <= TKX_CHARACTERS; unit++) {
        const size_t end = unit == TKX_BYTES ? size : characters_of(text, size);
        int code;
        for (;;) {
            tkx_work work = {NULL, 0, NULL, 0};
            work.memory = exactly(memory_size);
            work.memory_size = memory_size;
            code = tkx_encode_spans(t, text, size, NULL, all, unit, ids, spans, count, &got, &work);
            free(work.memory);
            if (code != TKX_E_WORK) break;
            CHECK(got > memory_size && got <= tkx_work_size(t, size));
            memory_size = got;
        }
        CHECK(code == TKX_OK && got == count && memcmp(ids, expected, 4 * count) == 0);
        for (i = 0; i < count; i++) {
            CHECK(spans[2 * i] <= spans[2 * i + 1] && spans[2 * i + 1] <= end);
            if (unit == TKX_BYTES || trims) continue;
            CHECK(characters_of(text, in_bytes[2 * i]) == spans[2 * i] && characters_of(text, in_bytes[2 * i + 1]) == spans[2 * i + 1]);
        }
        if (unit == TKX_BYTES && count) memcpy(in_bytes, spans, 8 * count);
    }
    if (count > 1) {
        tkx_work work = {NULL, 0, NULL, 0};
        uint32_t few[1], few_spans[2];
        work.memory = exactly(memory_size);
        work.memory_size = memory_size;
        CHECK(tkx_encode_spans(t, text, size, NULL, all, TKX_BYTES, few, few_spans, 1, &got, &work) == TKX_E_IDS && got == count);
        CHECK(few[0] == expected[0] && few_spans[0] == in_bytes[0] && few_spans[1] == in_bytes[1]);
        CHECK(tkx_encode_spans(t, text, size, NULL, all, TKX_BYTES, NULL, NULL, 0, &got, &work) == TKX_E_IDS && got == count);
        free(work.memory);
    }
    free(ids);
    free(spans);
}

/* Whether a text stops the encoder, in a file where an unknown character does that (UNKNOWN_STOPS). */
static int is_stopped(const tkx *t, int code, size_t count) {
    if (!(t->flags & 32) || code != TKX_E_UNKNOWN_TEXT) return 0;
    CHECK(count == 0);
    return 1;
}

static void encode_random_texts(const tkx *t, uint64_t *state) {
    static uint8_t buffer[MAX_TEXT];
    static uint32_t ids[MAX_IDS];
    size_t size = random_text(t, state, buffer, MAX_TEXT), count;
    uint8_t *text = copy_of(buffer, size);
    int special, stopped = 0;
    for (special = 0; special < 2; special++) {
        const int code = encode_growing(t, special, text, size, ids, MAX_IDS, &count);
        stopped = is_stopped(t, code, count);
        if (stopped) break;
        CHECK(code == TKX_OK);
        every_way_gives_the_same_ids(t, special, text, size, ids, count, state);
        spans_lie_in_the_text(t, special, text, size, ids, count);
        a_stream_gives_the_ids_of_the_whole(t, special, text, size, ids, count, size + 1, state);
        a_stream_gives_the_ids_of_the_whole(t, special, text, size, ids, count, 1 + below(state, 80), state);
        cutting_changes_nothing(t, special, text, size, ids, count);
    }
    if (!stopped) allowed_tokens_are_found_and_no_others(t, text, size);
    free(text);
}

/* ---- Long texts --------------------------------------------------------------------------------------------------------------------- */

/* One thing after the other, among them what is quadratic in many tokenizers. Time is not measured: at a megabyte, what is quadratic does
   not end. */
static void long_texts_end(const tkx *t, size_t size) {
    static const char *const pieces[] = {
        "a", "ab", " ",   "\n ", "0",   "\xCC\x81", "\xCC\xA3\xCC\x87", "\xE4\xBD\xA0", "<", "a\xCC\x81", ".,",
        "-", " -", "<s>", "\t ", "abc", "x"};
    size_t i, count, at;
    uint8_t *text = (uint8_t *)exactly(size);
    uint32_t *ids = (uint32_t *)exactly(4 * 12 * size);
    int code;
    for (i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = strlen(pieces[i]), used = size / length * length;
        for (at = 0; at < used; at += length) memcpy(text + at, pieces[i], length);
        code = encode_growing(t, 1, text, used, ids, 12 * size, &count);
        CHECK(code == TKX_OK || is_stopped(t, code, count));
    }
    free(text);
    free(ids);
}

/* ---- Errors of calls ---------------------------------------------------------------------------------------------------------------- */

static void look_ups_answer(const tkx *t) {
    uint32_t id, flags, holes = 0, stop, kind, type_id;
    const uint8_t *bytes;
    size_t size;
    float score;
    int code, has_encoder = tkx_section(t, "SPLT", &bytes, &size) == TKX_OK, has_scores = tkx_section(t, "SCOR", &bytes, &size) == TKX_OK;
    /* Otherwise a token is found by what the model sees, which is not what it decodes to. */
    int finds_bytes = tkx_section(t, "KEYS", &bytes, &size) != TKX_OK && tkx_section(t, "DECO", &bytes, &size) != TKX_OK &&
                      tkx_section(t, "CHRS", &bytes, &size) != TKX_OK;
    for (id = 0; id < tkx_id_count(t); id++) {
        CHECK(tkx_token_flags(t, id, &flags) == TKX_OK);
        code = tkx_token_bytes(t, id, &bytes, &size);
        CHECK(code == ((flags & TKX_KIND_MASK) == TKX_KIND_HOLE ? TKX_E_ID : TKX_OK));
        holes += code == TKX_E_ID;
        CHECK(tkx_token_score(t, id, &score) == (has_scores ? TKX_OK : TKX_E_NOT_FOUND));
        if (code == TKX_OK && has_encoder && finds_bytes && (flags & TKX_KIND_MASK) == TKX_KIND_MODEL) {
            uint32_t other;
            const uint8_t *other_bytes;
            size_t other_size;
            CHECK(tkx_token_id(t, bytes, size, &other) == TKX_OK);
            CHECK(tkx_token_bytes(t, other, &other_bytes, &other_size) == TKX_OK);
            CHECK(other_size == size && memcmp(other_bytes, bytes, size) == 0);
        }
    }
    CHECK(holes == tkx_id_count(t) - t->token_count);
    CHECK(tkx_token_bytes(t, tkx_id_count(t), &bytes, &size) == TKX_E_ID);
    CHECK(tkx_token_flags(t, UINT32_MAX, &flags) == TKX_E_ID);
    CHECK(tkx_token_score(t, UINT32_MAX, &score) == TKX_E_ID);
    CHECK(tkx_token_id(t, "no such token", 13, &id) == (has_encoder ? TKX_E_NOT_FOUND : TKX_E_NO_ENCODER));
    CHECK(tkx_special_id(t, 4, &id) == TKX_E_ARGUMENT && tkx_special_id(t, -1, &id) == TKX_E_ARGUMENT);
    for (stop = 0; tkx_stop_id(t, stop, &id) == TKX_OK; stop++) CHECK(id < tkx_id_count(t));
    CHECK(tkx_stop_id(t, stop, &id) == TKX_E_NOT_FOUND && tkx_stop_id(t, UINT32_MAX, &id) == TKX_E_NOT_FOUND);
    for (stop = 0; tkx_template(t, 1, stop, &kind, &id, &type_id) == TKX_OK; stop++) CHECK(kind <= 2);
    CHECK(tkx_template(t, 0, UINT32_MAX, &kind, &id, &type_id) == TKX_E_NOT_FOUND);
    CHECK(tkx_section(t, "RECS", &bytes, &size) == TKX_OK && size == 8 * (size_t)tkx_id_count(t));
    CHECK(tkx_section(t, "none", &bytes, &size) == TKX_E_NOT_FOUND && bytes == NULL && size == 0);
    CHECK(tkx_added_token(t, tkx_added_count(t), &id, &bytes, &size, &flags) == TKX_E_NOT_FOUND);
}

static void wrong_calls_are_refused(const tkx *t, int has_encoder) {
    tkx other;
    tkx_decoder d;
    tkx_encoder e;
    uint32_t ids[64], bad = tkx_id_count(t);
    uint8_t out[64], memory[8];
    size_t count, taken;
    tkx_work none = {NULL, 0, NULL, 0};
    CHECK(tkx_open(NULL, out, 1) == TKX_E_ARGUMENT && tkx_open(&other, NULL, 1) == TKX_E_ARGUMENT);
    CHECK(tkx_open(&other, NULL, 0) == TKX_E_EMPTY);
    CHECK(tkx_encode(t, "a", 1, NULL, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode(t, NULL, 1, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode(t, "a", 1, ids, 4, NULL, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode(t, "a", (size_t)UINT32_C(0x80000000), ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode_allowed(t, "a", 1, NULL, 1, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode_spans(t, "a", 1, NULL, 1, TKX_BYTES, ids, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode_spans(t, "a", 1, NULL, 0, TKX_BYTES, ids, NULL, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encode_spans(t, "a", 1, NULL, 0, 2, ids, ids, 4, &count, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_decode(t, NULL, 1, out, 4, &count) == TKX_E_ARGUMENT && tkx_decode(t, ids, 1, NULL, 4, &count) == TKX_E_ARGUMENT);
    CHECK(tkx_decode(t, &bad, 1, out, 4, &count) == TKX_E_ID && count == 0);
    CHECK(tkx_decode_text(t, NULL, 1, out, 4, &count) == TKX_E_ARGUMENT && tkx_decode_text(t, &bad, 1, out, 4, &count) == TKX_E_ID);
    CHECK(tkx_decode_ends(t, ids, 1, out, 4, &count, NULL) == TKX_E_ARGUMENT);
    CHECK(tkx_decoder_init(NULL, t, 0) == TKX_E_ARGUMENT && tkx_decoder_init(&d, t, 0) == TKX_OK);
    CHECK(tkx_decoder_step(&d, bad, out, sizeof out, &count) == TKX_E_ID);
    CHECK(tkx_token_bytes(t, 0, NULL, &count) == TKX_E_ARGUMENT && tkx_token_flags(t, 0, NULL) == TKX_E_ARGUMENT);
    CHECK(tkx_check(NULL) == TKX_E_ARGUMENT && tkx_cut(t, NULL, 1) == 0 && tkx_cut(NULL, "ab", 2) == 0);
    if (!has_encoder) {
        CHECK(tkx_encode(t, "a", 1, ids, 64, &count, &none) == TKX_E_NO_ENCODER);
        CHECK(tkx_encoder_init(&e, t, 0, memory, sizeof memory, &none) == TKX_E_NO_ENCODER);
        return;
    }
    CHECK(tkx_encode(t, "", 0, NULL, 0, &count, NULL) == TKX_OK && count == 0);
    CHECK(tkx_encode(t, NULL, 0, NULL, 0, &count, &none) == TKX_OK && count == 0);
    CHECK(tkx_encode(t, "abc\xC3", 4, ids, 64, &count, &none) == TKX_E_UTF8 && count == 3);
    CHECK(tkx_encode(t, "ab\xED\xA0\x80", 5, ids, 64, &count, &none) == TKX_E_UTF8 && count == 2);
    CHECK(tkx_encode(t, "\xF4\x90\x80\x80", 4, ids, 64, &count, &none) == TKX_E_UTF8 && count == 0);
    CHECK(tkx_encode(t, "0123456789\xC0\x80", 12, ids, 64, &count, &none) == TKX_E_UTF8 && count == 10);
    CHECK(tkx_encoder_init(&e, t, 0, NULL, 4, &none) == TKX_E_ARGUMENT && tkx_encoder_init(&e, t, 0, memory, 0, &none) == TKX_E_ARGUMENT);
    CHECK(tkx_encoder_init(&e, t, 0, memory, sizeof memory, &none) == TKX_OK);
    CHECK(tkx_encoder_feed(&e, "ab", 2, &taken, NULL, 24, &count) == TKX_E_ARGUMENT);
    CHECK(tkx_encoder_feed(&e, "\xE4\xBD\xA0\xE4\xBD\xA0\xE4\xBD", 8, &taken, ids, 24, &count) == TKX_OK && taken == 8 && count == 0);
    CHECK(tkx_encoder_feed(&e, "\xA0", 1, &taken, ids, 24, &count) == TKX_E_WINDOW && taken == 0);
    CHECK(tkx_encoder_finish(&e, ids, 64, &count) == TKX_E_UTF8 && count == 6);
    {
        static char text[2000];
        static uint32_t many[8000];
        size_t tight;
        memset(text, '-', sizeof text);
        if (tkx_encode(t, text, sizeof text, many, 8000, &count, &none) == TKX_E_WORK) {
            uint8_t *work_memory = (uint8_t *)exactly(count);
            tkx_work work = {NULL, 0, NULL, 0};
            work.memory = work_memory;
            work.memory_size = count - 1;
            CHECK(tkx_encode(t, text, sizeof text, many, 8000, &tight, &work) == TKX_E_WORK && tight >= count);
            free(work_memory);
        }
    }
}

static void a_held_back_character_needs_room(const tkx *t) {
    tkx_decoder d;
    uint8_t out[64];
    size_t size, length, given;
    const uint8_t *bytes;
    uint32_t id, flags;
    for (id = 0; id < tkx_id_count(t); id++) {
        CHECK(tkx_token_flags(t, id, &flags) == TKX_OK);
        if (tkx_token_bytes(t, id, &bytes, &length) != TKX_OK || length != 1 || bytes[0] != 0xE4 || t->decoder.data) continue;
        CHECK(tkx_decoder_init(&d, t, 0) == TKX_OK);
        CHECK(tkx_decoder_step(&d, id, out, 14, &size) == TKX_E_BYTES && size == 15);
        CHECK(tkx_decoder_step(&d, id, out, 15, &given) == TKX_OK && given == 0);
        CHECK(tkx_decoder_flush(&d, out, 2, &size) == TKX_E_BYTES && size == 3);
        CHECK(tkx_decoder_flush(&d, out, 3, &size) == TKX_OK && size == 3 && memcmp(out, "\xEF\xBF\xBD", 3) == 0);
        CHECK(tkx_decoder_flush(&d, out, 0, &size) == TKX_OK && size == 0);
    }
}

static void self_tests_pass(const tkx *t, const uint8_t *data, size_t size) {
    static uint32_t ids[4096];
    const uint8_t *test;
    size_t count, test_size, memory_size = tkx_work_size(t, size);
    tkx_work work = {NULL, 0, NULL, 0};
    if (tkx_section(t, "TEST", &test, &test_size) != TKX_OK) {
        CHECK(tkx_selftest(t, ids, 4096, &count, &work) == TKX_E_NOT_FOUND);
        return;
    }
    work.memory = exactly(memory_size);
    work.memory_size = memory_size;
    CHECK(tkx_selftest(t, ids, 4096, &count, &work) == TKX_OK && count > 0);
    CHECK(tkx_selftest(t, NULL, 0, &count, &work) == TKX_E_IDS);
    {
        /* One expected id changed: the case that has it fails. */
        uint8_t *changed = copy_of(data, size);
        tkx other;
        size_t first_id;
        CHECK(tkx_selftest(t, ids, 4096, &count, &work) == TKX_OK);
        first_id = (size_t)(test - data) + 16 + 20 * count; /* behind the cases */
        changed[first_id] ^= 1;
        CHECK(tkx_open(&other, changed, size) == TKX_OK && tkx_check(&other) == TKX_E_CRC);
        CHECK(tkx_selftest(&other, ids, 4096, &count, &work) == TKX_E_SELF_TEST);
        free(changed);
    }
    free(work.memory);
}

/* ---- The file at any address -------------------------------------------------------------------------------------------------------- */

static void the_file_works_at_any_address(const uint8_t *data, size_t size, uint64_t *state) {
    size_t shift;
    for (shift = 0; shift < 9; shift++) {
        uint8_t *memory = (uint8_t *)exactly(size + shift);
        tkx t;
        memcpy(memory + shift, data, size);
        CHECK(tkx_open(&t, memory + shift, size) == TKX_OK);
        CHECK(tkx_check(&t) == TKX_OK);
        look_ups_answer(&t);
        if (t.splits.data) encode_random_texts(&t, state);
        decode_stream_gives_the_text_of_the_whole(&t, state);
        free(memory);
    }
}

static void every_shorter_file_is_refused(const uint8_t *data, size_t size) {
    size_t length;
    for (length = 0; length < size; length += length < 700 ? 1 : 97) {
        uint8_t *memory = copy_of(data, length);
        tkx t;
        int code = tkx_open(&t, memory, length);
        CHECK(code == (length == 0 ? TKX_E_EMPTY : TKX_E_TRUNCATED));
        free(memory);
    }
}

static void every_error_has_a_sentence(void) {
    int code;
    for (code = 0; code >= -40; code--) CHECK(strlen(tkx_error(code)) > 4);
    CHECK(strcmp(tkx_error(TKX_E_CORRUPT), tkx_error(1)) != 0);
}

int main(int argc, char **argv) {
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    int i, rounds = argc > 1 ? atoi(argv[1]) : 0, length = argc > 2 ? atoi(argv[2]) : 0;
    CHECK(argc > 3 && rounds > 0 && length > 0);
    every_error_has_a_sentence();
    for (i = 3; i < argc; i++) {
        size_t size;
        int round;
        uint8_t *data = read_file(argv[i], &size);
        tkx t;
        CHECK(tkx_open(&t, data, size) == TKX_OK);
        look_ups_answer(&t);
        wrong_calls_are_refused(&t, t.splits.data != NULL);
        a_held_back_character_needs_room(&t);
        self_tests_pass(&t, data, size);
        the_file_works_at_any_address(data, size, &state);
        every_shorter_file_is_refused(data, size);
        for (round = 0; round < rounds; round++) {
            if (t.splits.data) encode_random_texts(&t, &state);
            decode_stream_gives_the_text_of_the_whole(&t, &state);
        }
        if (t.splits.data) long_texts_end(&t, (size_t)length);
        free(data);
    }
    printf("%d files\n", argc - 3);
    return 0;
}
