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

static size_t column(const tkx_stage *s, uint32_t state, uint32_t class_) {
    return ((size_t)state << s->row_shift) + class_;
}

static uint32_t transition(const tkx_stage *s, uint32_t state, uint32_t class_) {
    return load_u16(s->transitions + 2 * column(s, state, class_));
}

/* Whether a stage needs match_general: one that reads labels, or that may have empty matches. */
static int is_general(const tkx_stage *s) { return s->labels || (s->flags & EMPTY_MATCHES); }

static int is_simple(const tkx_stage *s) {
    return !(s->flags & REWRITE) && !is_general(s) &&
           (s->behavior == ISOLATED || s->behavior == REMOVED);
}

/* Precomputes what the inner loops use: a start state that does not depend on the symbol before,
   the bytes (with labels, the labels) that begin no match (skip_unmatched), and the states that all
   lower-case ASCII letters loop on (find_end). `leads`: which first bytes of other characters begin
   no match, from the file. */
static void study_stage(tkx_stage *s, uint64_t leads) {
    uint32_t state, class_, letter;
    s->start = (uint16_t)load_u16(s->starts);
    s->start_varies = 0;
    for (class_ = 0; class_ <= s->class_count; class_++) {
        if (load_u16(s->starts + 2 * class_) != s->start) s->start_varies = 1;
    }
    s->no_match[0] = s->no_match[1] = s->no_match[2] = s->no_match[3] = 0;
    s->letter_loops = s->letter_accepts = 0;
    if (is_general(s)) {
        for (class_ = 0; class_ < s->class_count && class_ < 128 && !s->start_varies; class_++) {
            if (transition(s, s->start, class_) == 0)
                s->no_match[class_ >> 6] |= UINT64_C(1) << (class_ & 63);
        }
        return;
    }
    for (letter = 0; letter < 128 && !s->start_varies; letter++) {
        if ((transition(s, s->start, s->classes[letter]) & ~(uint32_t)ACCEPT) == 0)
            s->no_match[letter >> 6] |= UINT64_C(1) << (letter & 63);
    }
    if (!s->start_varies && !(s->flags & ON_BYTES)) {
        /* bytes inside characters: a skip always ends between characters, whatever the file says */
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

/* Whether all entries of a label table have a state below `states` and a label below `bound`. */
static int good_labels(const uint8_t *entries, size_t count, uint32_t states, uint32_t bound) {
    size_t i;
    for (i = 0; i < count; i++) {
        uint32_t entry = load_u32(entries + 4 * i);
        if ((entry & 0xFF) >= bound || entry >> 8 >= states) return 0;
    }
    return 1;
}

static int check_stage(tkx_stage *s, tkx_span section, const uint8_t *entry) {
    uint32_t middle_count = load_u16(entry + 8), leaf_count = load_u16(entry + 10),
             shift = entry[12];
    uint32_t classes = load_u32(entry + 16), starts = load_u32(entry + 20),
             transitions = load_u32(entry + 24);
    uint64_t labels;
    uint32_t label_states = load_u16(entry + 14), second_states = load_u16(entry + 30), bound;
    size_t rows, label_count, second_count;
    s->behavior = entry[0];
    s->flags = entry[1];
    s->class_count = entry[2];
    s->state_count = (uint16_t)load_u16(entry + 4);
    s->memo_count = (uint16_t)load_u16(entry + 6);
    s->row_shift = (uint8_t)shift;
    s->first_op = s->op_count = 0;
    s->label_class_count = entry[13];
    s->second_label_class_count = entry[3];
    if (s->behavior > CONTIGUOUS ||
        (s->flags & ~(INVERT | ON_BYTES | EMPTY_MATCHES | FORWARD_LABELS | DOUBLES)))
        return 0;
    if (load_u16(entry + 28) || s->label_class_count > MAX_CLASSES || label_states > MAX_STATES)
        return 0;
    if (s->second_label_class_count > MAX_CLASSES || second_states > MAX_STATES) return 0;
    if (!s->label_class_count != !label_states || !s->second_label_class_count != !second_states)
        return 0;
    if (((s->flags & (FORWARD_LABELS | DOUBLES)) || second_states) && !label_states) return 0;
    if ((s->flags & DOUBLES) && s->label_class_count % 2) return 0;
    if (s->class_count < 1 || s->class_count > MAX_CLASSES || s->state_count < 1 ||
        s->state_count > MAX_STATES)
        return 0;
    if (s->memo_count >= s->state_count || shift > 8 || 1u << shift <= s->class_count) return 0;
    rows = (size_t)s->state_count << shift;
    if (!lies_within(section, classes,
                     s->flags & ON_BYTES ? 256 : class_table_size(middle_count, leaf_count)))
        return 0;
    labels = transitions + 2 * (uint64_t)rows;
    if (!lies_within(section, starts, 2 * (s->class_count + UINT64_C(1))) ||
        !lies_within(section, transitions, 2 * (uint64_t)rows))
        return 0;
    label_count = (size_t)label_states * s->label_class_count;
    second_count = (size_t)second_states * s->second_label_class_count;
    if (!lies_within(section, labels, 4 * ((uint64_t)label_count + second_count))) return 0;
    s->classes = section.data + classes;
    s->starts = section.data + starts;
    s->transitions = section.data + transitions;
    s->labels = label_states ? section.data + (size_t)labels : NULL;
    s->second_labels = second_states ? s->labels + 4 * label_count : NULL;
    s->middle = s->leaves = NULL;
    bound = label_states ? s->label_class_count : s->class_count;
    if (s->flags & DOUBLES) bound /= 2;
    if (s->flags & ON_BYTES) {
        if (middle_count || leaf_count || !all_bytes_below(s->classes, 256, bound)) return 0;
    } else {
        s->middle = s->classes + ASCII_SIZE + TOP_SIZE;
        s->leaves = s->middle + 128 * (size_t)middle_count;
        if (!all_bytes_below(s->classes, ASCII_SIZE, bound)) return 0;
        if (!all_u16_below(s->classes + ASCII_SIZE, TOP_SIZE / 2, 0xFFFF, middle_count)) return 0;
        if (!all_u16_below(s->middle, 64 * (size_t)middle_count, 0xFFFF, leaf_count)) return 0;
        if (!all_bytes_below(s->leaves, 64 * (size_t)leaf_count, bound)) return 0;
    }
    if (!all_u16_below(s->starts, s->class_count + (size_t)1, 0xFFFF, s->state_count)) return 0;
    if (!all_u16_below(s->transitions, rows, ~(uint32_t)ACCEPT, s->state_count)) return 0;
    if (!good_labels(s->labels, label_count, label_states,
                     second_states ? s->second_label_class_count : s->class_count))
        return 0;
    if (!good_labels(s->second_labels, second_count, second_states, s->class_count)) return 0;
    study_stage(s, load_u64(entry + 32));
    return 1;
}
