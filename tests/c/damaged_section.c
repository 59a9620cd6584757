/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* A damaged section: damaged_section FILE TAG STEP TEXT...

   Replaces every STEP-th byte of a section by other values, one at a time, and encodes the texts if
   tkx_open accepts the file. Results may be ids or TKX_E_CORRUPT; the work memory has exactly the
   size of tkx_spans_work_size. Prints how many files were refused on opening, and how many calls
   detected damage. */

#include "support.h"

enum { MAX_IDS = 4096 };

static size_t smaller_of(size_t a, size_t b) { return a < b ? a : b; }

int main(int argc, char **argv) {
    static uint32_t ids[MAX_IDS], spans[2 * MAX_IDS];
    unsigned long refused = 0, corrupt = 0;
    size_t size, section_size, at, step;
    const uint8_t *section;
    uint8_t *data;
    tkx t;
    CHECK(argc > 4);
    data = read_file(argv[1], &size);
    step = (size_t)strtoull(argv[3], NULL, 10);
    CHECK(step > 0 && tkx_open(&t, data, size) == TKX_OK);
    CHECK(tkx_section(&t, argv[2], &section, &section_size) == TKX_OK);
    for (at = (size_t)(section - data); section_size;
         at += smaller_of(step, section_size), section_size -= smaller_of(step, section_size)) {
        const uint8_t old = data[at];
        const uint8_t values[] = {0, 0xFF, (uint8_t)(old ^ 0x80), (uint8_t)(old ^ 1),
                                  (uint8_t)(old + 1)};
        size_t i;
        for (i = 0; i < sizeof values; i++) {
            int k;
            data[at] = values[i];
            if (tkx_open(&t, data, size) != TKX_OK) {
                refused++;
                continue;
            }
            for (k = 4; k < argc; k++) {
                const size_t length = strlen(argv[k]);
                size_t count, memory_size = tkx_spans_work_size(&t, length);
                uint8_t *text = copy_of(argv[k], length);
                tkx_work work = {NULL, 0, NULL, 0};
                int code;
                work.memory_size = memory_size < 100000 ? memory_size : 100000;
                work.memory = exactly(work.memory_size);
                code = tkx_encode(&t, text, length, ids, MAX_IDS, &count, &work);
                CHECK(code == TKX_OK || code == TKX_E_CORRUPT || code == TKX_E_WORK ||
                      code == TKX_E_IDS);
                corrupt += code == TKX_E_CORRUPT;
                code = tkx_encode_spans(&t, text, length, NULL, 0, TKX_CHARACTERS, ids, spans,
                                        MAX_IDS, &count, &work);
                CHECK(code == TKX_OK || code == TKX_E_CORRUPT || code == TKX_E_WORK ||
                      code == TKX_E_IDS);
                free(text);
                free(work.memory);
            }
        }
        data[at] = old;
    }
    printf("%lu %lu\n", refused, corrupt);
    free(data);
    return 0;
}
