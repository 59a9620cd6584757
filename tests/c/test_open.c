/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* Opening reads only header, section table, SPLT and ADDT: test_open FILE.

   All pages within other sections are made unreadable; an access would end the program. So the time
   of tkx_open does not depend on the vocabulary. Needs POSIX. */

#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

static uintptr_t rounded(uintptr_t n, uintptr_t page) { return (n + page - 1) / page * page; }

int main(int argc, char **argv) {
    static const char *const tags[] = {"RECS", "BYTS", "SCOR", "RANK", "BIDS", "TIDX", "PIDX",
                                       "CUTS", "NORM", "ACLS", "POST", "CHAT", "PROV", "TEST"};
    size_t size, i, protected_pages = 0, section_size;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from, to;
    const uint8_t *section;
    uint8_t *data, *map;
    tkx t;
    CHECK(argc == 2);
    data = read_file(argv[1], &size);
    map = (uint8_t *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != (uint8_t *)MAP_FAILED);
    memcpy(map, data, size);
    CHECK(tkx_open(&t, map, size) == TKX_OK);
    for (i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (tkx_section(&t, tags[i], &section, &section_size) != TKX_OK) continue;
        /* The first page of a section stays readable, because its header has counts. */
        from = rounded((uintptr_t)section + 64, page);
        to = ((uintptr_t)section + section_size) / page * page;
        if (from >= to) continue;
        CHECK(mprotect((void *)from, to - from, PROT_NONE) == 0);
        protected_pages += (to - from) / page;
    }
    CHECK(tkx_open(&t, map, size) == TKX_OK);
    printf("%lu pages not read\n", (unsigned long)protected_pages);
    return 0;
}
