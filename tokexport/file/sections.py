"""The contents of each section, from tables to bytes (layout: :mod:`tokexport.file.layout`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.added.trie import Trie, build_trie
from tokexport.compiler.compile import AddedTables, Tables
from tokexport.compiler.merges.byte_pair import BytePairTables, PairIndex, Parts, TokenIndex
from tokexport.compiler.merges.canonical import CanonicalMerges
from tokexport.compiler.merges.crossings import Crossings
from tokexport.compiler.merges.first_symbols import FirstSymbols
from tokexport.compiler.merges.pair_grid import PairGrid
from tokexport.compiler.normalizer.rewriting import CharsmapOp, Op
from tokexport.compiler.splits.class_table import CODE_POINTS, class_table
from tokexport.compiler.splits.cuts import Pairs, pack_cuts
from tokexport.file.decoding import store
from tokexport.file.layout import NONE, AddedFlag, RecordFlag
from tokexport.file.split_program import program_stage, rewriting_stage
from tokexport.limits import MAX_TRIMMING_PASSES
from tokexport.model import (
    AddedToken,
    Alignment,
    SelfTestCase,
    SpecialIds,
    Split,
    Template,
    TemplateItem,
    Token,
    TokenizerModel,
    TokenKind,
    Trimming,
)
from tokexport.patterns import SplitProgram
from tokexport.version import VERSION

DEFAULT_SCORE = (
    -1e6
)  # what the exporters of small C and Rust runtimes give a token that no merge makes

KINDS = {
    TokenKind.MODEL: RecordFlag.KIND_MODEL,
    TokenKind.ADDED: RecordFlag.KIND_ADDED,
    TokenKind.UNKNOWN: RecordFlag.KIND_UNKNOWN,
}


def records_and_bytes(model: TokenizerModel, tables: Tables | None) -> tuple[bytes, bytes]:
    """RECS and BYTS. What is equal is stored once."""
    whole = (
        tables.encoder.tokens.whole
        if tables and isinstance(tables.encoder, BytePairTables)
        else frozenset()
    )
    records = np.zeros(len(model.tokens), layout.RECORD)
    blob = bytearray()
    offsets: dict[bytes, int] = {}
    for token_id, token in enumerate(model.tokens):
        if token is None:
            continue
        stored = store(token)
        if stored.data not in offsets:
            offsets[stored.data] = len(blob)
            blob += stored.data
        flags = _record_flags(token, token_id in whole) | stored.flags
        records[token_id] = (offsets[stored.data] + stored.start, len(token.content), flags)
    return records.tobytes(), bytes(blob)


def keys(
    model: TokenizerModel, tokens: TokenIndex, written: bytes, blob: bytes
) -> tuple[bytes | None, bytes]:
    """KEYS, or None where the token index needs nothing but the tokens' bytes; and BYTS with what
    it needs after them.

    ``written`` and ``blob`` are RECS and BYTS.
    """
    contents = {
        number: token.content for number, token in enumerate(model.tokens) if token is not None
    }
    others = {number: key for number, key in tokens.keys.items() if contents[number] != key}
    if not others:
        return None, blob
    records = np.frombuffer(written, layout.RECORD)
    entries = np.zeros(len(model.tokens), layout.KEY)
    entries["offset"], entries["length"] = records["offset"], records["length"]
    more = bytearray(blob)
    offsets: dict[bytes, int] = {}
    for number, key in others.items():
        at = contents[number].find(key)
        if (
            at >= 0
        ):  # a part of what it decodes to, as in CLIP, where an end of word decodes to a space
            entries[number] = (records[number]["offset"] + at, len(key), 0)
            continue
        if key not in offsets:
            offsets[key] = len(more)
            more += key
        entries[number] = (offsets[key], len(key), 0)
    return entries.tobytes(), bytes(more)


def characters(first: FirstSymbols | None) -> bytes | None:
    """CHRS, or None where the first symbols are those of single bytes wherever they stand."""
    if first is None:
        return None
    places = len(first.tables)
    if not first.of_characters:
        header = layout.CharactersHeader.build(
            {
                "unit": layout.SymbolUnit.BYTE,
                "place_count": places,
                "middle_count": 0,
                "leaf_count": 0,
            }
        )
        ids = [table.get(byte, NONE) for table in first.tables for byte in range(256)]
        return bytes(header) + np.array(ids, layout.SYMBOL).tobytes()
    values = np.full((places, CODE_POINTS), NONE, layout.SYMBOL)
    for place, table in enumerate(first.tables):
        values[place, [ord(str(unit)) for unit in table]] = list(table.values())
    packed = class_table(values)
    header = layout.CharactersHeader.build(
        {
            "unit": layout.SymbolUnit.CHARACTER,
            "place_count": places,
            "middle_count": len(packed.middle),
            "leaf_count": len(packed.leaves),
        }
    )
    levels = (
        packed.top.astype("<u2"),
        packed.middle.astype("<u2"),
        packed.leaves.astype(layout.SYMBOL),
    )
    return bytes(header) + b"".join(level.tobytes() for level in levels)


def crossings(value: Crossings | None) -> bytes | None:
    """XPRS, or None where the boundaries that merges cross are not known by characters."""
    if value is None:
        return None
    bits = len(value.hashed).bit_length() - 1
    header: bytes = layout.CrossingsHeader.build({"rule": value.rule, "bits": bits})
    maps = (
        np.packbits(bitmap, axis=-1, bitorder="little") for bitmap in (value.ascii, value.hashed)
    )
    return header + b"".join(bitmap.tobytes() for bitmap in maps)


def unused(parts: Mapping[int, Parts]) -> bytes | None:
    """UNUS, or None where every id that merges make is one that encoding gives."""
    if not parts:
        return None
    counts = [len(parts[number]) for number in sorted(parts)]
    firsts = np.concatenate([[0], np.cumsum(counts)])
    entries = np.array(
        [*zip([*sorted(parts), NONE], firsts.tolist(), strict=True)], layout.UNUSED_ENTRY
    )
    rows = np.array(
        [part for number in sorted(parts) for part in parts[number]], layout.UNUSED_PART
    )
    header: bytes = layout.UnusedHeader.build({"unused_count": len(parts), "part_count": len(rows)})
    return header + entries.tobytes() + rows.tobytes()


def _record_flags(token: Token, whole: bool) -> int:
    flags = KINDS[token.kind]
    if token.special:
        flags |= RecordFlag.SPECIAL
    if whole:
        flags |= RecordFlag.WHOLE
    if token.fallback:
        flags |= RecordFlag.FALLBACK
    return int(flags)


def scores(model: TokenizerModel, merges: CanonicalMerges) -> bytes:
    """SCOR: -ln(rank + 1) for a token that a merge makes, the default for the others."""
    values = np.full(len(model.tokens), DEFAULT_SCORE, np.float64)
    products = np.array(list(merges.ranks), np.int64)
    values[products] = -np.log(np.array(list(merges.ranks.values()), np.float64) + 1)
    return values.astype(layout.SCORE).tobytes()


def ranks(model: TokenizerModel, merges: CanonicalMerges) -> bytes | None:
    """RANK, or None where rank is the order of ids."""
    if merges.ranks_follow_ids:
        return None
    values = np.full(len(model.tokens), NONE, layout.RANK)
    for product, rank in merges.ranks.items():
        values[product] = rank
    return values.tobytes()


def token_index(tokens: TokenIndex) -> bytes:
    """TIDX."""
    slots = np.full(tokens.index.slot_count, NONE, layout.TOKEN_SLOT)
    fingerprints = tokens.hashes >> np.uint64(64 - (32 - layout.ID_BITS))
    slots[tokens.index.slots] = (fingerprints << np.uint64(layout.ID_BITS) | tokens.ids).astype(
        layout.TOKEN_SLOT
    )
    displacements = tokens.index.displacements.astype(layout.DISPLACEMENT)
    header: bytes = layout.IndexHeader.build(
        {"slot_count": len(slots), "bucket_count": len(displacements)}
    )
    return header + slots.tobytes() + displacements.tobytes()


def pair_index(pairs: PairIndex) -> bytes:
    """PIDX."""
    # One slot more than the rows have: where the last row is empty, a look-up in it needs one to
    # look at.
    slots = np.full(pairs.index.slot_count + 1, 0xFFFFFFFFFFFFFFFF, layout.PAIR_SLOT)
    bits = np.uint64(layout.ID_BITS)
    slots[pairs.index.slots] = (
        pairs.left << np.uint64(2) * bits | pairs.right << bits | pairs.product
    )
    displacements = pairs.index.displacements.astype(layout.DISPLACEMENT)
    header: bytes = layout.PairIndexHeader.build(
        {
            "slot_count": len(slots),
            "bucket_count": len(displacements),
            "row_shift": pairs.row_shift,
            "reserved": None,
        }
    )
    return (
        header
        + slots.tobytes()
        + pairs.index.starts.astype(layout.ROW_START).tobytes()
        + displacements.tobytes()
    )


def pair_grid(grid: PairGrid | None) -> bytes | None:
    """GRID, or None where it would not pay."""
    if grid is None:
        return None
    header: bytes = layout.GridHeader.build(
        {
            "bound_shift": grid.shift,
            "first": grid.first,
            "character_count": len(grid.products),
            "reserved": None,
        }
    )
    own = grid.own.astype(np.uint32) * np.uint32(layout.OWN)
    entries: bytes = (
        (own | grid.bounds << np.uint32(layout.ID_BITS) | grid.products)
        .astype(layout.GRID_ENTRY)
        .tobytes()
    )
    return header + entries


def splits(
    normalizer: Sequence[Op], stages: Sequence[tuple[Split, SplitProgram] | tuple[Op, ...]]
) -> bytes:
    """SPLT: the header, the stages, then the tables of each program."""
    header: bytes = layout.SplitsHeader.build({"stage_count": len(stages), "reserved": None})
    first = len(header) + layout.Stage.sizeof() * len(stages)
    first_op = len(normalizer)
    descriptors = bytearray()
    body = bytearray()
    for stage in stages:
        if isinstance(stage[0], Split):
            descriptor, tables = program_stage(*stage, first + len(body))
            descriptors += descriptor
            body += tables
        else:
            descriptors += rewriting_stage(first_op, len(stage))
            first_op += len(stage)
    return bytes(header + descriptors + body)


def cuts(pairs: Pairs) -> bytes | None:
    """CUTS, or None where there is no place to cut."""
    return pack_cuts(pairs) if pairs.any() else None


def added_tokens(added: AddedTables | None) -> bytes | None:
    """ADDT."""
    if added is None:
        return None
    text = bytearray()
    tokens = np.zeros(len(added.tokens), layout.ADDED_TOKEN)
    all_flags = AddedFlag(0)
    for index, token in enumerate(added.tokens):
        content = token.content.encode()
        flags = _added_flags(token)
        all_flags |= flags
        tokens[index] = (token.id, len(text), len(content), flags)
        text += content
    header: bytes = layout.AddedHeader.build(
        {
            "token_count": len(tokens),
            "raw_node_count": len(added.raw.nodes) - 1,
            "raw_edge_count": len(added.raw.edges),
            "normalized_node_count": len(added.normalized.nodes) - 1,
            "normalized_edge_count": len(added.normalized.edges),
            "text_size": len(text),
            "flags": all_flags,
            "reserved": None,
            "raw_starts": added.raw.starts,
            "normalized_starts": added.normalized.starts,
        }
    )
    return header + tokens.tobytes() + _trie(added.raw) + _trie(added.normalized) + bytes(text)


def _trie(trie: Trie) -> bytes:
    return trie.nodes.tobytes() + trie.edges.tobytes()


def _added_flags(token: AddedToken) -> AddedFlag:
    flags = AddedFlag(0)
    for wanted, flag in (
        (token.special, AddedFlag.SPECIAL),
        (token.single_word, AddedFlag.SINGLE_WORD),
        (token.lstrip, AddedFlag.LSTRIP),
        (token.rstrip, AddedFlag.RSTRIP),
        (token.normalized, AddedFlag.NORMALIZED),
    ):
        if wanted:
            flags |= flag
    return flags


def added_classes(added: AddedTables | None) -> bytes | None:
    """ACLS, or None where no added token looks at the characters beside it."""
    if added is None or added.classes is None:
        return None
    table = added.classes
    header: bytes = layout.AddedClassesHeader.build(
        {"middle_count": len(table.middle), "leaf_count": len(table.leaves), "reserved": None}
    )
    return header + table.to_bytes()


def template(value: Template) -> bytes | None:
    """POST, or None where the post-processor adds nothing."""
    if value == Template():
        return None
    pieces = np.array(
        [_piece(piece) for piece in (*value.single, *value.pair)], layout.TEMPLATE_PIECE
    )
    header: bytes = layout.TemplateHeader.build(
        {"single_count": len(value.single), "pair_count": len(value.pair)}
    )
    return header + pieces.tobytes()


def _piece(piece: TemplateItem) -> tuple[int, int, int]:
    if piece.id is not None:
        return layout.PieceKind.ID, piece.id, piece.type_id
    kind = layout.PieceKind.SEQUENCE_A if piece.sequence == "A" else layout.PieceKind.SEQUENCE_B
    return kind, 0, piece.type_id


def trimming(value: Trimming | None) -> bytes | None:
    """TRIM, or None where spans are as they are found."""
    if value == Trimming():
        return None
    if value is None or len(value.passes) > MAX_TRIMMING_PASSES:
        return bytes(layout.TrimmingHeader.build({"passes": NONE, "exception_count": 0}))
    passes = 0
    for number, keeps in enumerate(value.passes):
        passes |= (
            layout.TrimmingPass.KEEP_FIRST if keeps else layout.TrimmingPass.ALL
        ) << 2 * number
    rows = [(number, *counts) for number, counts in sorted(value.exceptions.items())]
    header: bytes = layout.TrimmingHeader.build({"passes": passes, "exception_count": len(rows)})
    return header + np.array(rows, layout.TRIMMING_EXCEPTION).tobytes()


def alignment(value: Alignment | None, normalizer: Sequence[Op]) -> bytes | None:
    """ALGN, or None where each operation says for itself what a text stems from."""
    if value is None:
        return None
    flags = layout.AlignmentFlag.PREFIX * value.prefix | layout.AlignmentFlag.SUFFIX * value.suffix
    # A charsmap holds these texts already.
    held = any(isinstance(op, CharsmapOp) and op.clusters is None for op in normalizer)
    protected = build_trie(
        (content.encode(), index) for index, content in enumerate(() if held else value.protected)
    )
    header: bytes = layout.AlignmentHeader.build(
        {
            "flags": flags | layout.AlignmentFlag.COLLAPSE * value.collapses,
            "node_count": len(protected.nodes) - 1,
            "edge_count": len(protected.edges),
            "reserved": None,
        }
    )
    return header + _trie(protected)


def special_ids(value: SpecialIds) -> bytes | None:
    """SPID, or None where no id has a role."""
    if value == SpecialIds():
        return None
    roles = {
        name: NONE if role is None else role
        for name, role in (
            ("bos", value.bos),
            ("eos", value.eos),
            ("pad", value.pad),
            ("unk", value.unk),
        )
    }
    header: bytes = layout.SpecialIdsHeader.build({**roles, "stop_count": len(value.stop)})
    return header + np.array(value.stop, "<u4").tobytes()


def provenance(model: TokenizerModel, reference_version: str | None) -> bytes:
    """PROV: JSON with sorted keys and no spaces."""
    reference = (
        model.reference.value
        if reference_version is None
        else f"{model.reference.value} {reference_version}"
    )
    return json.dumps(
        {
            "exporter": f"tokexport {VERSION}",
            "reference": reference,
            "sha256": dict(model.provenance.sha256),
            "source": model.provenance.source,
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    ).encode()


def self_test(cases: Sequence[SelfTestCase]) -> bytes:
    """TEST."""
    records = np.zeros(len(cases), layout.SELF_TEST_CASE)
    ids: list[int] = []
    text = bytearray()
    for index, case in enumerate(cases):
        content = case.text.encode()
        records[index] = (
            len(text),
            len(content),
            len(ids),
            len(case.ids),
            layout.CaseFlag.SPECIAL * case.special,
        )
        ids.extend(case.ids)
        text += content
    header: bytes = layout.SelfTestHeader.build(
        {"case_count": len(cases), "id_count": len(ids), "text_size": len(text), "reserved": None}
    )
    return header + records.tobytes() + np.array(ids, "<u4").tobytes() + bytes(text)
