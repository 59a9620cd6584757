"""A reader of tokexport files to read along with SPEC.md: slow, and as plain as possible.

It only needs the standard library, and nothing else of this project. The modules, in the order in
which a text passes through them:

    data            numbers in bytes, errors            SPEC 1.1
    container       header and section table            SPEC 1.3, 4.1
    tables          tables by code point, byte tries    SPEC 2.2, 2.3
    file            sections, checks on opening         SPEC 2.1, 4.1
    lookup          hashing, the two indexes            SPEC 2.4, 2.5
    check           the full check                      SPEC 4.3
    added_tokens    what is found before all else       SPEC 3.2
    operations      the normalizer, with normal_forms and charsmap: SPEC 3.3
    stages          the pre-tokenizer                   SPEC 3.4
    bpe             first symbols and merges            SPEC 3.5
    trie_models     Unigram, WordPiece, WordLevel, greedy: SPEC 3.6
    encode          all of that, in order               SPEC 3.1
    template        what is added around texts          SPEC 3.7
    decode          ids to bytes or text                SPEC 3.8
    self_test       the cases in a file                 SPEC 3.9
    prefixes        ids by the bytes they begin with    EXTRA, SORT
    chat            conversations to ids                EXTRA, FRAM
    spans, align    where ids are in the input          SPEC annex A
"""

from __future__ import annotations

from .added_tokens import ALL
from .chat import encode_chat
from .check import check_file
from .data import TokexportError
from .decode import decode_bytes, decode_text, decode_tokens
from .encode import encode
from .file import File, open_file
from .prefixes import prefix_ids
from .self_test import self_test
from .spans import encode_spans
from .template import encode_with_template

__all__ = [
    "ALL",
    "File",
    "TokexportError",
    "check_file",
    "decode_bytes",
    "decode_text",
    "decode_tokens",
    "encode",
    "encode_chat",
    "encode_spans",
    "encode_with_template",
    "open_file",
    "prefix_ids",
    "self_test",
]
