/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport.c - the implementation of tokexport.h. Numbers such as I1 and 3.1 refer to SPEC.md,
   which describes the format and the algorithms. Edit the units in src/, from which amalgamate.py
   generates this file. A unit uses only units before it in src/all.c.

   Two rules hold everywhere. A number from the file is compared with its bound before it is used as
   an index: on opening for tables that inner loops read (SPLT), otherwise on use. And the file and
   the work memory are read and written only by load_, get_ and put_ functions, because they may
   have any alignment, and the host any byte order. */

#include "tokexport.h"

#include "base.h"
#include "layout.h"
#include "open_header.c"
#include "open_sizes.c"
#include "open_stages.c"
#include "open_rewriting.c"
#include "lookup.c"
#include "open.c"
#include "decode_bytes.c"
#include "decode_rules.c"
#include "decode.c"
#include "context.h"
#include "offsets.c"
#include "added.c"
#include "normalize.c"
#include "match.c"
#include "rewrite_map.c"
#include "rewrite_charsmap.c"
#include "rewrite.c"
#include "align.c"
#include "bpe_symbols.c"
#include "bpe_long.c"
#include "bpe_short.c"
#include "trie_models.c"
#include "cache.c"
#include "batch.c"
#include "stages.c"
#include "encode.c"
