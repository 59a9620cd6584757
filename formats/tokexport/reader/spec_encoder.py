"""Encoding as ``formats/tokexport/SPEC.md`` describes it, slow and plain: the other half of
``spec_reader.py``.
"""

from __future__ import annotations

import struct

from spec_added import find_added
from spec_models import FUSE_UNKNOWN, encode_piece, is_unknown_word
from spec_normalizer import FIRST_SOURCE, rewrite
from spec_reader import REWRITE, WORDLEVEL, RefusalError, SpecFile, Stage, require
from spec_spans import locate
from spec_stages import split


def encode(file: SpecFile, text: bytes, special: bool = False) -> list[int]:
    """The ids of a text; ``special``: all special tokens in it are found."""
    require(b"SPLT" in file.sections, "TKX_E_NO_ENCODER")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise RefusalError("TKX_E_UTF8", error.start) from None
    if any(op.flags & FIRST_SOURCE for op in file.ops):
        return [token for token, *_ in locate(file, text, special)]
    ids: list[int] = []
    at = 0
    for raw in find_added(file, text, special, normalized=False):
        if isinstance(raw, int):
            ids.append(raw)
            at = -1
            continue
        first = at == 0 and text.startswith(raw)
        at = -1
        rewritten = rewrite(raw, file.ops[: file.normalizer_count], first)
        for part in find_added(file, rewritten, special, normalized=True):
            ids += [part] if isinstance(part, int) else encode_stretch(file, part, first)
            first = False
    return ids


def encode_stretch(file: SpecFile, text: bytes, first: bool) -> list[int]:
    """The ids of a text without added tokens; ``first``: it begins where the input begins."""
    pieces = [(text, first)]
    for stage in file.stages:
        pieces = [part for piece, first in pieces for part in run_stage(file, stage, piece, first)]
    encoded = [encode_piece(file, piece) for piece, _ in pieces]
    if file.model == WORDLEVEL and file.flags & FUSE_UNKNOWN:
        unknown = [is_unknown_word(file, piece) for piece, _ in pieces]
        encoded = [
            ids
            for at, ids in enumerate(encoded)
            if at == 0 or not (unknown[at] and unknown[at - 1])
        ]
    return [token for ids in encoded for token in ids]


def run_stage(file: SpecFile, stage: Stage, piece: bytes, first: bool) -> list[tuple[bytes, bool]]:
    """The pieces that a stage makes of a piece, and which of them begins where the input begins."""
    if stage.flags & REWRITE:
        rewritten = rewrite(
            piece, file.ops[stage.first_op : stage.first_op + stage.op_count], first
        )
        return [(rewritten, first)] if rewritten else []
    return [(piece[start:end], first and start == 0) for start, end in split(stage, piece)]


def templates(file: SpecFile) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The (kind, id) of each piece of the template for one text, and of that for two."""
    if b"POST" not in file.sections:
        return [(1, 0)], [(1, 0), (2, 0)]
    post = file.sections[b"POST"]
    single_count, pair_count = struct.unpack_from("<II", post)
    pieces = [
        struct.unpack_from("<II", post, 8 + 12 * index)
        for index in range(single_count + pair_count)
    ]
    for kind, token in pieces:
        require(kind in (1, 2) or (kind == 0 and token < file.id_count), "TKX_E_CORRUPT")
    return pieces[:single_count], pieces[single_count:]


def self_test(file: SpecFile) -> int:
    """Run the cases of the file; the number of them."""
    require(b"TEST" in file.sections, "TKX_E_NOT_FOUND")
    test = file.sections[b"TEST"]
    case_count, id_count, text_size, _ = struct.unpack_from("<4I", test)
    ids = struct.unpack_from(f"<{id_count}I", test, 16 + 20 * case_count)
    texts = test[16 + 20 * case_count + 4 * id_count :]
    for case in range(case_count):
        offset, length, first, count, flags = struct.unpack_from("<5I", test, 16 + 20 * case)
        require(offset + length <= text_size and first + count <= id_count, "TKX_E_CORRUPT")
        if encode(file, texts[offset : offset + length], bool(flags & 1)) != list(
            ids[first : first + count]
        ):
            raise RefusalError("TKX_E_SELF_TEST", case)
    return int(case_count)
