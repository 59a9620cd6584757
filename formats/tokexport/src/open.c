/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- open.c: stages, added tokens, tkx_open, tkx_check --------------------------------------- */

/* Checks an entry of SPLT. `labels`: its LabelTable in LABL, or NULL. */
static int check_entry(tkx *t, tkx_stage *s, const uint8_t *entry, const uint8_t *labels) {
#ifndef TKX_NO_NORMALIZER
    if (entry[1] & REWRITE) return !labels && check_rewriting_stage(t, s, entry);
#endif
    return check_stage(s, t->splits, entry, t->labels, labels);
}

/* Whether to cache words of the first stage: other stages are costly, and depend on words only. */
static uint8_t finds_words_first(const tkx *t) {
    int has_work = 0;
    uint32_t i;
    if (t->stage_count < 2 || !is_simple(&t->stages[0]) || t->stages[0].memo_count) return 0;
    for (i = 1; i < t->stage_count; i++) has_work |= !is_simple(&t->stages[i]);
#ifndef TKX_NO_NORMALIZER
    for (i = t->normalizer_count; i < t->op_count; i++)
        has_work &= !(t->ops[i].flags & (ONLY_FIRST | FIRST_SOURCE));
#endif
    return has_work != 0;
}

static int check_splits(tkx *t) {
    /* models that read whole characters, and do not check for the end within one */
    const int of_characters = (t->characters.data && field(t->characters, 0) == UNIT_CHARACTER) ||
                              t->model == MODEL_UNIGRAM;
    uint32_t tables = (uint32_t)field(t->labels, 0), next = 0, work = 0, i;
    t->stage_count = load_u32(t->splits.data);
    if (t->stage_count > TKX_MAX_STAGES || load_u32(t->splits.data + 4) || field(t->labels, 4))
        return TKX_E_SPLITS;
    for (i = 0; i < t->stage_count; i++) {
        const uint8_t *entry = t->splits.data + 8 + i * (size_t)STAGE_SIZE, *labels = NULL;
        tkx_stage *s = &t->stages[i];
        if (next < tables && t->labels.data[LABELS_HEADER + LABEL_TABLE * (size_t)next] == i)
            labels = t->labels.data + LABELS_HEADER + LABEL_TABLE * (size_t)next++;
        if (!check_entry(t, s, entry, labels)) return TKX_E_SPLITS;
        /* after a stage on bytes, pre-tokens may begin and end within a character */
        if (s->flags & ON_BYTES ? of_characters : i && (s[-1].flags & ON_BYTES))
            return TKX_E_SPLITS;
        /* bits of work memory for 64 bytes of text: TKX_WORK_SIZE assumes 24 bytes for each byte */
        work += s->state_count + (s->labels ? 512u : 0u);
    }
    if (next != tables || work > 24 * 512) return TKX_E_SPLITS;
    t->words_first = finds_words_first(t);
    return TKX_OK;
}

/* Finds out whether a trie has tokens that need not be allowed. With more than 1,024 tokens, both
   tries are assumed to, so that tkx_open takes constant time; no id depends on that. */
static void study_added(tkx *t) {
    uint32_t count = (uint32_t)field(t->added, 0), i;
    if (count > 1024) t->plain_raw = t->plain_normalized = 1;
    for (i = 0; i < count && i < 1024; i++) {
        uint32_t flags = load_u32(t->added.data + ADDED_HEADER + ADDED_SIZE * (size_t)i + 12);
        if (flags & TKX_ADDED_SPECIAL) continue;
        if (flags & TKX_ADDED_NORMALIZED) t->plain_normalized = 1;
        else t->plain_raw = 1;
    }
}

#ifndef TKX_NO_CHARACTERS

/* The 128 symbols of ASCII in CHRS, in one row; NULL if a symbol depends on its place. */
static const uint8_t *find_ascii_symbols(const tkx *t) {
    const size_t middle_count = (size_t)field(t->characters, 8),
                 leaf_count = (size_t)field(t->characters, 12);
    const uint8_t *top, *middle;
    size_t leaf;
    if (!t->characters.data || field(t->characters, 0) != UNIT_CHARACTER || t->place_count != 1)
        return NULL;
    top = t->characters.data + CHARACTERS_HEADER;
    middle = top + TOP_SIZE;
    leaf = find_leaf(top, middle, middle_count, leaf_count, 0);
    if (leaf == SIZE_MAX || find_leaf(top, middle, middle_count, leaf_count, 64) != leaf + 64)
        return NULL;
    return middle + 128 * middle_count + 4 * leaf;
}

#endif

static void find_sections(tkx *t) {
    uint32_t i;
    for (i = 0; i < t->section_count; i++) {
        const size_t known = known_section(section_entry(t, i));
        const tkx_span span = section_span(t, i);
        if (known < KNOWN && SECTIONS[known].member != SIZE_MAX)
            memcpy((uint8_t *)t + SECTIONS[known].member, &span, sizeof span);
    }
    t->token_slots = (uint32_t)field(t->token_index, 0);
    t->token_buckets = (uint32_t)field(t->token_index, 4);
    t->pair_slots = (uint32_t)field(t->pair_index, 0);
    t->pair_buckets = (uint32_t)field(t->pair_index, 4);
    t->row_shift = (uint32_t)field(t->pair_index, 8);
    t->place_count = (uint32_t)field(t->characters, 4);
    t->crossing_shift = 64 - ((uint32_t)field(t->crossings, 4) & 63);
}

#ifndef TKX_NO_DECODER

/* Whether the values in EDIT (3.8) are within their ranges. */
static int check_edits(const tkx *t) {
    const uint8_t *table = t->edits.data, *edit = table + EDITS_HEADER + 256;
    const uint32_t states = load_u16(table), classes = load_u16(table + 2),
                   flags = load_u32(table + 4), text = load_u32(table + 8),
                   bytes = classes - (flags & READS_TOKENS);
    size_t left = (size_t)states * (classes + 1);
    if (!states || !classes || flags > READS_TOKENS || load_u32(table + 12) ||
        (flags && field(t->decoder, 0) != BYTE_FALLBACK) || field(t->decoder, 4) || bytes < 1 ||
        bytes > 256 || !all_bytes_below(edit - 256, 256, bytes))
        return 0;
    for (; left; left--, edit += EDIT_SIZE) {
        if (load_u16(edit) >= states ||
            (load_u16(edit + 2) & ~(uint32_t)EDIT_KEEPS) + (uint64_t)load_u32(edit + 4) > text)
            return 0;
    }
    return 1;
}

#endif

int tkx_open(tkx *t, const void *data, size_t size) {
    int code;
    if (!t || (!data && size)) return TKX_E_ARGUMENT;
    memset(t, 0, sizeof *t);
    code = check_magic((const uint8_t *)data, size);
    if (code != TKX_OK) return code;
    t->data = (const uint8_t *)data;
    t->size = size;
    code = check_header(t, t->data, size);
    if (code == TKX_OK) code = check_sections(t);
    if (code != TKX_OK) return code;
    find_sections(t);
    read_trie_header(t);
    code = check_present(t);
    if (code == TKX_OK) code = check_sizes(t);
#ifndef TKX_NO_NORMALIZER
    if (code == TKX_OK && t->normalizer.data) code = check_ops(t);
#endif
    if (code == TKX_OK && t->splits.data) code = check_splits(t);
#ifndef TKX_NO_DECODER
    if (code == TKX_OK && t->edits.data && !check_edits(t)) code = TKX_E_CORRUPT;
#endif
    if (code != TKX_OK) return code;
    study_added(t);
    /* XPRS with the rule BYTES applies without CHRS, otherwise to the characters of CHRS. */
    t->cuts_bytes = field(t->crossings, 0) == CROSSED_BYTES;
    if (t->model != MODEL_BPE || !t->cuts_bytes != (t->characters.data != NULL) ||
        field(t->characters, 0) == UNIT_BYTE)
        memset(&t->crossings, 0, sizeof t->crossings), t->cuts_bytes = 0;
    if (t->pair_index.data) {
        t->pair_rows = t->pair_index.data + PAIR_INDEX_HEADER + 8 * (size_t)t->pair_slots;
        t->pair_displacements = t->pair_rows + 4 * (size_t)((t->id_count - 1) >> t->row_shift) + 8;
    }
#ifndef TKX_NO_CHARACTERS
    t->ascii_symbols = find_ascii_symbols(t);
#endif
    return TKX_OK;
}

int tkx_check(const tkx *t) {
    uint32_t tables[4][256], i;
    const uint8_t *end;
    if (!t || !t->data) return TKX_E_ARGUMENT;
    crc_tables(tables);
    end = section_entry(t, t->section_count);
    for (i = 0; i < t->section_count; i++) {
        const tkx_span s = section_span(t, i);
        if (crc_large(tables, s.data, s.size) != load_u32(section_entry(t, i) + 24))
            return TKX_E_CRC;
        for (; end < s.data; end++) {
            if (*end) return TKX_E_PADDING;
        }
        end = s.data + s.size;
    }
    for (i = 0; i < t->token_slots; i++) {
        if (!token_leads_back(t, t->token_index.data + 8 + 4 * (size_t)i)) return TKX_E_CORRUPT;
    }
    for (i = 0; i < t->pair_slots; i++) {
        if (!pair_leads_back(t, i)) return TKX_E_CORRUPT;
    }
    return TKX_OK;
}

const char *tkx_error(int code) {
    switch (code) {
        case TKX_OK: return "No error.";
        case TKX_E_ARGUMENT: return "A required pointer is NULL, or a size exceeds the limit.";
        case TKX_E_ID: return "There is no such id: it is out of range, or a hole.";
        case TKX_E_NOT_FOUND: return "There is no such token, section, role or score in the file.";
        case TKX_E_UTF8: return "The text is not UTF-8.";
        case TKX_E_IDS: return "The array of ids is too small.";
        case TKX_E_BYTES: return "The output buffer is too small.";
        case TKX_E_WORK: return "The work memory is too small.";
        case TKX_E_WINDOW: return "The stream's window is full and cannot be cut.";
        case TKX_E_STATE: return "The stream is already finished.";
        case TKX_E_NO_ENCODER: return "The file is decode-only: it has no encoder sections.";
        case TKX_E_SELF_TEST: return "A self test produced other ids than the reference.";
        case TKX_E_UNKNOWN_TEXT:
            return "A part of the text is not in the vocabulary, and there is no unknown token.";
        case TKX_E_ROLE: return "A message has a role that is not allowed at its position.";
        case TKX_E_MESSAGE: return "The chat frame does not support a message with this text.";
        case TKX_E_NO_SPANS: return "The file cannot produce the offsets of the reference.";
        case TKX_E_EMPTY: return "The file is empty.";
        case TKX_E_MAGIC: return "This is not a tokexport file.";
        case TKX_E_MANGLED:
            return "The file was changed by a transfer in text mode: transfer it as binary.";
        case TKX_E_VERSION: return "The file was made by another major version of the format.";
        case TKX_E_TRUNCATED: return "The file is shorter than its header says.";
        case TKX_E_TRAILING: return "The file is longer than its header says.";
        case TKX_E_HEADER_CRC:
            return "The header or the section table has changed: its checksum is wrong.";
        case TKX_E_HEADER: return "A field of the header is out of range.";
        case TKX_E_MODEL: return "The file has a model type that this runtime does not support.";
        case TKX_E_SECTION: return "A section is misplaced.";
        case TKX_E_DUPLICATE: return "Two sections have the same tag.";
        case TKX_E_UNKNOWN: return "The file requires a section that this runtime does not know.";
        case TKX_E_MISSING: return "A section that others need is missing.";
        case TKX_E_SECTION_SIZE: return "A section's size does not fit its contents.";
        case TKX_E_SPLITS: return "A pre-tokenizer or normalizer table has a value out of range.";
        case TKX_E_CRC: return "A section has changed: its checksum is wrong.";
        case TKX_E_PADDING: return "A padding byte is not zero.";
        case TKX_E_CORRUPT: return "A table in the file has a value out of range.";
        default: return "Unknown error code.";
    }
}
