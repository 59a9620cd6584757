/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- open_stages.c: pre-tokenizer tables (I18) ----------------------------------------------- */

static int all_bytes_below(const uint8_t *p, size_t count, uint32_t bound) {
    uint32_t largest = 0;
    size_t i;
    for (i = 0; i < count; i++) largest = p[i] > largest ? p[i] : largest;
    return count == 0 || largest < bound;
}

static int all_u16_below(const uint8_t *p, size_t count, uint32_t mask, uint32_t bound) {
    uint32_t largest = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        uint32_t v = load_u16(p + 2 * i) & mask;
        largest = v > largest ? v : largest;
    }
    return count == 0 || largest < bound;
}

static int lies_within(tkx_span s, uint64_t offset, uint64_t size) {
    return offset % 4 == 0 && offset <= s.size && size <= s.size - offset;
}

static uint32_t transition(const tkx_stage *s, uint32_t state, uint32_t class_) {
    return load_u16(s->transitions + 2 * (((size_t)state << s->row_shift) + class_));
}

/* Whether a stage needs match_general. */
static int is_general(const tkx_stage *s) {
    return s->labels || (s->flags & (EMPTY_MATCHES | SEARCH_STARTS));
}

static int is_simple(const tkx_stage *s) {
    return !(s->flags & REWRITE) && !is_general(s) &&
           (s->behavior == ISOLATED || s->behavior == REMOVED);
}

/* Precomputes for inner loops: the start state if it is always the same, the bytes (or labels) that
   begin no match, and the states on which all lower-case ASCII letters loop. `leads`: the first
   bytes of non-ASCII characters that begin no match. */
static void study_stage(tkx_stage *s, uint64_t leads) {
    const uint8_t *searched = s->starts + (s->flags & SEARCH_STARTS ? 2 * (s->class_count + 1) : 0);
    const uint32_t search_start = load_u16(searched);
    uint32_t state, class_, letter;
    s->start = (uint16_t)load_u16(s->starts);
    for (class_ = 0; class_ <= s->class_count; class_++) {
        if (load_u16(s->starts + 2 * class_) != s->start ||
            load_u16(searched + 2 * class_) != search_start)
            s->start_varies = 1;
    }
    if (is_general(s)) {
        for (class_ = 0; class_ < s->class_count && class_ < 128 && !s->start_varies; class_++) {
            if (transition(s, s->start, class_) == 0 && transition(s, search_start, class_) == 0)
                s->no_match[class_ >> 6] |= UINT64_C(1) << (class_ & 63);
        }
        return;
    }
    for (letter = 0; letter < 128 && !s->start_varies; letter++) {
        if ((transition(s, s->start, s->classes[letter]) & ~(uint32_t)ACCEPT) == 0)
            s->no_match[letter >> 6] |= UINT64_C(1) << (letter & 63);
    }
    if (!s->start_varies && !(s->flags & ON_BYTES)) {
        /* for bytes inside characters, so that with any file a skip ends between characters */
        s->no_match[2] = UINT64_MAX;
        s->no_match[3] = leads;
    }
    for (state = 1; state < s->state_count && s->state_count <= 64; state++) {
        uint32_t t = transition(s, state, s->classes['a']);
        if ((t & ~(uint32_t)ACCEPT) != state) continue;
        for (letter = 'b'; letter <= 'z' && transition(s, state, s->classes[letter]) == t; letter++)
            continue;
        if (letter <= 'z') continue;
        s->letter_loops |= UINT64_C(1) << state;
        if (t & ACCEPT) s->letter_accepts |= UINT64_C(1) << state;
    }
}

/* Checks a LabelTable of LABL, and sets it in its stage. */
static int check_label_table(tkx_stage *s, tkx_span section, const uint8_t *entry) {
    const uint32_t classes = entry[1], states = load_u16(entry + 2), offset = load_u32(entry + 4);
    const size_t count = (size_t)states * classes;
    size_t i;
    if (classes < 1 || classes > MAX_CLASSES || states < 1 || states > MAX_STATES ||
        !lies_within(section, offset, 4 * (uint64_t)count))
        return 0;
    s->labels = section.data + offset;
    s->label_class_count = (uint8_t)classes;
    for (i = 0; i < count; i++) {
        const uint32_t label = load_u32(s->labels + 4 * i);
        if ((label & 0xFF) >= s->class_count || label >> 8 >= states) return 0;
    }
    return 1;
}

/* Checks a Stage with a program, and sets *s, which is all zeros. `labels`: as in check_entry. */
static int check_stage(tkx_stage *s, tkx_span section, const uint8_t *entry, tkx_span all_labels,
                       const uint8_t *labels) {
    const uint32_t middle_count = load_u16(entry + 8), leaf_count = load_u16(entry + 10),
                   classes = load_u32(entry + 12), starts = load_u32(entry + 16),
                   transitions = load_u32(entry + 20);
    uint32_t bound, start_count;
    size_t rows;
    s->behavior = entry[0];
    s->flags = entry[1];
    s->class_count = entry[2];
    s->state_count = (uint16_t)load_u16(entry + 4);
    s->memo_count = (uint16_t)load_u16(entry + 6);
    s->row_shift = entry[3];
    if (s->behavior > CONTIGUOUS || load_u32(entry + 24) ||
        (s->flags & ~(INVERT | ON_BYTES | EMPTY_MATCHES | SEARCH_STARTS)) ||
        ((s->flags & EMPTY_MATCHES) && (s->flags & SEARCH_STARTS)) || s->class_count < 1 ||
        s->class_count > MAX_CLASSES || s->state_count < 1 || s->state_count > MAX_STATES ||
        s->memo_count >= s->state_count || s->row_shift > 8 || 1u << s->row_shift <= s->class_count)
        return 0;
    rows = (size_t)s->state_count << s->row_shift;
    start_count = (s->class_count + 1u) * (s->flags & SEARCH_STARTS ? 2u : 1u);
    if (!lies_within(section, classes,
                     s->flags & ON_BYTES ? 256 : class_table_size(middle_count, leaf_count)) ||
        !lies_within(section, starts, 2 * (uint64_t)start_count) ||
        !lies_within(section, transitions, 2 * (uint64_t)rows) ||
        (labels && !check_label_table(s, all_labels, labels)))
        return 0;
    s->classes = section.data + classes;
    s->starts = section.data + starts;
    s->transitions = section.data + transitions;
    bound = labels ? s->label_class_count : s->class_count;
    if (s->flags & ON_BYTES) {
        if (middle_count || leaf_count || !all_bytes_below(s->classes, 256, bound)) return 0;
    } else {
        s->middle = s->classes + ASCII_SIZE + TOP_SIZE;
        s->leaves = s->middle + 128 * (size_t)middle_count;
        if (!all_bytes_below(s->classes, ASCII_SIZE, bound) ||
            !all_u16_below(s->classes + ASCII_SIZE, TOP_SIZE / 2, 0xFFFF, middle_count) ||
            !all_u16_below(s->middle, 64 * (size_t)middle_count, 0xFFFF, leaf_count) ||
            !all_bytes_below(s->leaves, 64 * (size_t)leaf_count, bound))
            return 0;
    }
    if (!all_u16_below(s->starts, start_count, 0xFFFF, s->state_count) ||
        !all_u16_below(s->transitions, rows, ~(uint32_t)ACCEPT, s->state_count))
        return 0;
    study_stage(s, load_u64(entry + 28));
    return 1;
}

#ifndef TKX_NO_NORMALIZER

/* Checks a program outside SPLT, without labels. */
static int check_program(tkx_stage *s, tkx_span table) {
    return check_stage(s, table, table.data, (tkx_span){NULL, 0}, NULL);
}

#endif
