/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- open_sizes.c: sizes of sections (I16, I17) ---------------------------------------------- */

/* A field of a section's header; 0 if the section is too short, in which case its size is wrong. */
static uint64_t field(tkx_span s, size_t offset) {
    return offset + 4 <= s.size ? load_u32(s.data + offset) : 0;
}

static uint64_t token_index_size(tkx_span s) {
    uint64_t slots = field(s, 0), buckets = field(s, 4);
    return slots == 0 || buckets == 0 ? UINT64_MAX : 8 + 4 * slots + 2 * buckets;
}

static uint64_t pair_index_size(tkx_span s, uint32_t ids) {
    uint64_t slots = field(s, 0), buckets = field(s, 4), row_shift = field(s, 8);
    if (slots == 0 || buckets == 0 || row_shift > ID_BITS || field(s, 12)) return UINT64_MAX;
    return PAIR_INDEX_HEADER + 8 * slots + 4 * ((uint64_t)((ids - 1) >> row_shift) + 2) +
           2 * buckets;
}

#ifndef TKX_NO_NORMALIZER

static uint64_t form_size(tkx_span s) {
    return FORM_HEADER + TOP_SIZE + 128 * field(s, 4) + 128 * field(s, 8) + 8 * field(s, 12) +
           4 * field(s, 16) + 12 * field(s, 20);
}

static uint64_t map_size(tkx_span s) {
    return MAP_HEADER + ASCII_SIZE + TOP_SIZE + 128 * field(s, 0) + 128 * field(s, 4) +
           8 * field(s, 8) + field(s, 12);
}

static uint64_t charsmap_size(tkx_span s) {
    return CHARSMAP_HEADER + 4 * field(s, 0) + NODE_SIZE * (field(s, 4) + 1) + 4 * field(s, 8) +
           field(s, 12) + field(s, 16);
}

#endif

static uint64_t added_size(tkx_span s) {
    return ADDED_HEADER + ADDED_SIZE * field(s, 0) + NODE_SIZE * (field(s, 4) + field(s, 12) + 2) +
           4 * (field(s, 8) + field(s, 16)) + field(s, 20);
}

static uint64_t class_table_size(uint64_t middle_count, uint64_t leaf_count) {
    return ASCII_SIZE + TOP_SIZE + 128 * middle_count + 64 * leaf_count;
}

static uint64_t characters_size(tkx_span s) {
    uint64_t unit = field(s, 0), places = field(s, 4), middles = field(s, 8), leaves = field(s, 12);
    if (unit > UNIT_BYTE || (places != 1 && places != PLACES)) return UINT64_MAX;
    if (unit == UNIT_BYTE)
        return middles || leaves ? UINT64_MAX : CHARACTERS_HEADER + 1024 * places;
    return CHARACTERS_HEADER + TOP_SIZE * places + 128 * middles + 256 * leaves;
}

static uint64_t crossings_size(tkx_span s) {
    const uint64_t rule = field(s, 0), bits = field(s, 4);
    const size_t first = rule == CROSSED_BYTES ? CROSSINGS_BYTES : CROSSINGS_ASCII;
    return rule > CROSSED_BYTES || bits < 6 || bits > 26
               ? UINT64_MAX
               : CROSSINGS_HEADER + first + (UINT64_C(1) << bits) / 8;
}

static uint64_t alignment_size(tkx_span s) {
    return ALIGNMENT_HEADER + NODE_SIZE * (field(s, 4) + 1) + 4 * field(s, 8);
}

static uint64_t edits_size(tkx_span s) {
    const uint64_t states = field(s, 0) & 0xFFFF, classes = field(s, 0) >> 16;
    return EDITS_HEADER + 256 + EDIT_SIZE * states * (classes + 1) + field(s, 8);
}

static int check_present(const tkx *t) {
    const int splits = t->splits.data != NULL, trie = t->trie.data != NULL,
              tables = (t->byte_ids.data != NULL) + (t->token_index.data != NULL) +
                       (t->pair_index.data != NULL);
    const uint64_t wants_classes =
        field(t->added, 24) & (TKX_ADDED_SINGLE_WORD | TKX_ADDED_LSTRIP | TKX_ADDED_RSTRIP);
    if (!t->records.data || !t->bytes.data || (t->edits.data && !t->decoder.data) ||
        (t->model == MODEL_BPE ? tables != 3 * splits : trie != splits) ||
        (t->model == MODEL_UNIGRAM && trie && !t->scores.data && !t->double_scores.data))
        return TKX_E_MISSING;
    return wants_classes && !t->added_classes.data ? TKX_E_MISSING : TKX_OK;
}

static int is_sized(tkx_span s, uint64_t size) { return !s.data || s.size == size; }

/* Whether a section has room for `count` entries after its header; others may follow. */
static int has_entries(tkx_span s, uint64_t header, uint64_t entry, uint64_t count) {
    return !s.data || s.size >= header + entry * count;
}

static int check_sizes(const tkx *t) {
    const uint64_t ids = t->id_count, classes = field(t->added_classes, 0);
    return is_sized(t->records, RECORD_SIZE * ids) && is_sized(t->scores, 4 * ids) &&
                   is_sized(t->double_scores, 8 * ids) && is_sized(t->ranks, 4 * ids) &&
                   is_sized(t->trie, TRIE_HEADER + UNIT_SIZE * field(t->trie, 0)) &&
                   is_sized(t->decoder, DECODER_SIZE) && is_sized(t->edits, edits_size(t->edits)) &&
                   is_sized(t->byte_ids, 1024) &&
                   is_sized(t->token_index, token_index_size(t->token_index)) &&
                   is_sized(t->pair_index, pair_index_size(t->pair_index, t->id_count)) &&
                   is_sized(t->cuts, CUTS_SIZE) && is_sized(t->keys, 8 * ids) &&
                   is_sized(t->sorted, 4 * (uint64_t)t->token_count) &&
                   is_sized(t->characters, characters_size(t->characters)) &&
                   is_sized(t->crossings, crossings_size(t->crossings)) &&
                   is_sized(t->added, added_size(t->added)) &&
                   is_sized(t->added_classes,
                            8 + class_table_size(classes & 0xFFFF, classes >> 16)) &&
                   is_sized(t->post, 8 + ITEM_SIZE * (field(t->post, 0) + field(t->post, 4))) &&
                   is_sized(t->trims, TRIM_HEADER + TRIM_SIZE * field(t->trims, 4)) &&
                   is_sized(t->alignment, alignment_size(t->alignment)) &&
                   is_sized(t->special_ids, 20 + 4 * field(t->special_ids, 16)) &&
                   is_sized(t->self_test, 16 + CASE_SIZE * field(t->self_test, 0) +
                                              4 * field(t->self_test, 4) +
                                              field(t->self_test, 8)) &&
                   has_entries(t->normalizer, REWRITE_HEADER, OP_SIZE, field(t->normalizer, 0)) &&
                   has_entries(t->splits, 8, STAGE_SIZE, field(t->splits, 0)) &&
                   has_entries(t->labels, LABELS_HEADER, LABEL_TABLE, field(t->labels, 0))
               ? TKX_OK
               : TKX_E_SECTION_SIZE;
}

/* Reads the header of TRIE, which is checked on use, like the units. */
static void read_trie_header(tkx *t) {
    t->trie_units = (uint32_t)field(t->trie, 0);
    /* a path is no longer than the trie */
    t->trie_depth = (uint32_t)smaller(t->max_token_bytes, t->trie_units);
    t->trie_root = (uint32_t)field(t->trie, 4);
    t->trie_continuation = (uint32_t)field(t->trie, 8);
    t->trie_characters = (uint32_t)field(t->trie, 12);
    t->trie_flags = (uint32_t)field(t->trie, 24);
    t->trie_reserved = (uint32_t)field(t->trie, 28);
}
