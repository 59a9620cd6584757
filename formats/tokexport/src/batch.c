/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- batch.c: pieces that wait --------------------------------------------------------------- */

#ifdef HAS_TRIE_MODELS

/* A piece that is not in the cache, where the model is not BPE. */
static void encode_by_trie(run *r, const waiting *w) {
    const size_t before = r->count;
    /* What an unknown word becomes may depend on the one before it. */
    const int is_alone = r->t->model != MODEL_WORDLEVEL || !(r->t->flags & FUSE_UNKNOWN);
    size_t count;
    if ((r->t->trie_flags & ~(uint32_t)TRIE_FLAGS) || r->t->trie_reserved) {
        fail(r, TKX_E_CORRUPT);
        return;
    }
    switch (r->t->model) {
#ifndef TKX_NO_UNIGRAM
        case MODEL_UNIGRAM: encode_unigram(r, w->p, w->size); break;
#endif
#ifndef TKX_NO_WORDPIECE
        case MODEL_WORDPIECE: encode_word_pieces(r, w->p, w->size); break;
#endif
#ifndef TKX_NO_WORDLEVEL
        case MODEL_WORDLEVEL: encode_word(r, w->p, w->size); break;
#endif
#ifndef TKX_NO_GREEDY
        case MODEL_GREEDY: encode_greedy(r, w->p, w->size); break;
#endif
        default: break;
    }
    count = r->count - before;
    if (w->set && is_alone && r->code == TKX_OK && count >= 1 && count <= LARGE_IDS &&
        r->count <= r->capacity)
        remember(w, r->ids + before, count);
}

#endif

/* A piece that is not in the cache. */
static NO_INLINE void encode_unseen(run *r, const waiting *w) {
    const tkx *t = r->t;
    uint32_t ids[SHORT_PIECE + SPARE], flags = 0;
    size_t count = 1, i;
    int found = TKX_E_NOT_FOUND;
#ifdef HAS_TRIE_MODELS
    if (t->model != MODEL_BPE) {
        encode_by_trie(r, w);
        return;
    }
#endif
    if (w->is_hashed) {
        found = token_in_slot(t, w->slot, w->hash, w->p, w->size, &ids[0], &flags);
    } else if (w->size <= t->max_token_bytes) {
        uint64_t h = hash_bytes(w->p, w->size);
        found = token_in_slot(t, load_u32(token_slot(t, h)), h, w->p, w->size, &ids[0], &flags);
    }
    if (found == TKX_E_CORRUPT) {
        fail(r, found);
        return;
    }
    if (found != TKX_OK ||
        !(((t->flags & WHOLE_PIECE_FIRST) && !w->is_part) || (flags & TKX_WHOLE))) {
        if (w->size > SHORT_PIECE || wants_spans(r)) {
            merge_long(r, w->p, w->size);
            return;
        }
        count = merge_short(r, w->p, w->size, ids);
        if (t->unused.data) count = take_apart(r, ids, count);
    }
    if (r->code != TKX_OK) return;
    if (wants_spans(r)) {
        emit_token(r, ids[0], w->p, w->p + w->size);
        return;
    }
    if (EXPECT(r->capacity >= SHORT_PIECE && r->count <= r->capacity - SHORT_PIECE)) {
        /* Four at a time, so that nobody has to guess how many there are; what is behind them means
           nothing. */
        for (i = 0; i < count; i += 4) COPY(r->ids + r->count + i, ids + i, 4 * sizeof *ids);
        r->count += count;
    } else {
        for (i = 0; i < count; i++) emit(r, ids[i]);
    }
    /* What is a token as a piece, and something else as a part of one, is not for the cache. */
    if (t->crossings.data && found == TKX_OK && !(flags & TKX_WHOLE)) return;
    if (w->set && count >= 1 && count <= LARGE_IDS) remember(w, ids, count);
}

/* Looks up those pieces of the batch, from `first` on, that are not in the cache, each step for all
   of them before the next, so that they wait for memory together and not one after the other:
   displacement, slot, record, bytes. Without a cache that is 1.3 times the speed. */
static void look_ahead(run *r, size_t first) {
    const tkx *t = r->t;
    waiting *unseen[BATCH];
    size_t count = 0, i;
    for (i = first; i < r->waiting_count; i++) {
        waiting *w = &r->batch[i];
        if (w->size > t->max_token_bytes || (w->set && cached(w))) continue;
        w->hash = hash_bytes(w->p, w->size);
        w->is_hashed = 1;
        PREFETCH(token_displacement(t, w->hash));
        unseen[count++] = w;
    }
    for (i = 0; i < count; i++) PREFETCH(token_slot(t, unseen[i]->hash));
    for (i = 0; i < count; i++) {
        waiting *w = unseen[i];
        w->slot = load_u32(token_slot(t, w->hash));
        if (slot_fits(w->slot, w->hash) && (w->slot & MAX_IDS) < t->id_count)
            PREFETCH(t->records.data + RECORD_SIZE * (size_t)(w->slot & MAX_IDS));
    }
    for (i = 0; i < count; i++) {
        waiting *w = unseen[i];
        const uint8_t *bytes;
        uint32_t length, flags;
        if (!slot_fits(w->slot, w->hash) || (w->slot & MAX_IDS) >= t->id_count) continue;
        if (read_key(t, w->slot & MAX_IDS, &bytes, &length, &flags)) PREFETCH(bytes);
    }
}

/* Encodes the pieces that wait. */
static NO_INLINE void encode_batch(run *r) {
    size_t i, count = r->waiting_count;
    int looked = 0;
    for (i = 0; i < count && r->code == TKX_OK; i++) {
        waiting *w = &r->batch[i];
        const uint8_t *entry = w->set ? cached(w) : NULL;
        if (EXPECT(entry != NULL)) {
            emit_cached(r, w, entry);
            continue;
        }
        if (!looked && r->t->model == MODEL_BPE) look_ahead(r, i);
        looked = 1;
        encode_unseen(r, w);
    }
    r->waiting_count = 0;
}

/* Takes what is to be encoded by itself, not empty: a piece or a part of one. Its bytes must stay
   until encode_batch. */
static FORCE_INLINE void add_waiting(run *r, const uint8_t *p, size_t size, int is_part) {
    waiting *w = &r->batch[r->waiting_count++];
    w->p = p;
    w->size = size;
    w->is_hashed = 0;
    w->is_part = is_part;
    w->set = NULL;
    if (EXPECT(size <= LARGE_BYTES && r->cache != NULL)) find_set(r, w, PIECE);
    /* A piece that waits does not know from which text it is. */
    if (r->waiting_count == BATCH || wants_spans(r)) encode_batch(r);
}

#ifndef TKX_NO_CHARACTERS

/* Whether a piece may be cut between two characters: no merge crosses them, and what an unknown one
   becomes does not depend on the other. */
static FORCE_INLINE int is_cut(run *r, uint32_t left, uint32_t right) {
    const tkx *t = r->t;
    const uint8_t *ascii = t->crossings.data + CROSSINGS_HEADER;
    uint32_t rule;
    uint64_t h;
    if (EXPECT((left | right) < 128)) return !bit_of(ascii, 128 * (size_t)left + right);
    h = (left * K0 ^ right) * K1;
    if (bit_of(ascii + CROSSINGS_ASCII, (size_t)(h >> t->crossing_shift))) return 0;
    rule = load_u32(t->crossings.data);
    if (rule == 0) return 1;
    return (unit_symbol(r, left, 0) != NONE) + (unit_symbol(r, right, 0) != NONE) >=
           (rule == BOTH_KNOWN ? 2 : 1);
}

/* Takes a piece, in parts that no merge joins. With WHOLE_PIECE_FIRST a piece that is a token stays
   whole. */
static NO_INLINE void add_parts(run *r, const uint8_t *p, size_t size) {
    const tkx *t = r->t;
    const uint8_t *at = p + utf8_length(*p), *end = p + size;
    uint32_t left = utf8_decode(p), found, flags;
    if ((t->flags & WHOLE_PIECE_FIRST) && size <= t->max_token_bytes) {
        uint64_t h = hash_bytes(p, size);
        int code = token_in_slot(t, load_u32(token_slot(t, h)), h, p, size, &found, &flags);
        if (code == TKX_E_CORRUPT) {
            fail(r, code);
            return;
        }
        if (code == TKX_OK) {
            add_waiting(r, p, size, 0);
            return;
        }
    }
    while (at < end && r->code == TKX_OK) {
        uint32_t right = utf8_decode(at);
        if (is_cut(r, left, right)) {
            add_waiting(r, p, (size_t)(at - p), 1);
            p = at;
        }
        left = right;
        at += utf8_length(*at);
    }
    if (r->code == TKX_OK) add_waiting(r, p, (size_t)(end - p), 1);
}

#endif

/* Takes a piece that is not empty. Its bytes must stay until encode_batch. */
static FORCE_INLINE void add_piece(run *r, const uint8_t *p, size_t size) {
#ifndef TKX_NO_CHARACTERS
    /* a part does not know the length of what is before it */
    if (r->t->crossings.data && !wants_spans(r)) {
        add_parts(r, p, size);
        return;
    }
#endif
    add_waiting(r, p, size, 0);
}
