"""The NORM section: the operations that rewrite texts, and their tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.added.trie import build_trie
from tokexport.compiler.normalizer.character_map import CharacterMapping, Output
from tokexport.compiler.normalizer.normalization import HANGUL_SYLLABLES
from tokexport.compiler.normalizer.normalizer_table import NormalizerTable
from tokexport.compiler.normalizer.rewriting import (
    AffixOp,
    BytesOp,
    CharsmapOp,
    FormOp,
    MapOp,
    Op,
    ReplaceOp,
    growth,
)
from tokexport.compiler.passes.fuse_decomposition import letters_of
from tokexport.compiler.passes.skip_hints import leads_of
from tokexport.compiler.splits.class_table import class_table, distinct_values
from tokexport.errors import UnsupportedError
from tokexport.file.layout import OpFlag, OpKind
from tokexport.file.split_program import padded, program_bytes


def rewriting(normalizer: Sequence[Op], others: Sequence[Op]) -> bytes | None:
    """NORM, or None where nothing is rewritten. ``others`` belong to stages."""
    ops = [*normalizer, *others]
    if not ops:
        return None
    header: bytes = layout.RewriteHeader.build(
        {"op_count": len(ops), "normalizer_count": len(normalizer), "reserved": None}
    )
    first = len(header) + layout.RewriteOp.sizeof() * len(ops)
    descriptors = bytearray()
    body = bytearray()
    for op in ops:
        kind, flags, table, content = _parts(op)
        grows, extra = growth(op)
        descriptors += layout.RewriteOp.build(
            {
                "kind": kind,
                "flags": flags,
                "reserved": None,
                "growth": grows,
                "extra": extra,
                "table_offset": first + len(body),
                "table_size": len(table),
                "content_offset": first + len(body) + len(padded(table)),
                "content_size": len(content),
                "reserved2": None,
            }
        )
        body += padded(table) + padded(content)
    return header + bytes(descriptors) + bytes(body)


def _parts(op: Op) -> tuple[OpKind, OpFlag, bytes, bytes]:
    match op:
        case FormOp(table):
            return OpKind.FORM, OpFlag(0), _form(table), b""
        case MapOp(mapping):
            return OpKind.MAP, OpFlag(0), _map(mapping), b""
        case ReplaceOp(program, content):
            return OpKind.REPLACE, OpFlag(0), program_bytes(program), content.encode()
        case CharsmapOp():
            collapses = OpFlag.COLLAPSE if op.collapses else OpFlag(0)
            return (
                OpKind.CHARSMAP,
                OpFlag.BY_CLUSTER if op.clusters else collapses,
                _charsmap(op),
                b"",
            )
        case BytesOp():
            return OpKind.BYTES, OpFlag(0), b"", b""
        case AffixOp(content):
            flags = OpFlag.APPEND * op.append | OpFlag.UNLESS_PRESENT * op.unless_present
            first = OpFlag.FIRST_SOURCE if op.by_source else OpFlag.ONLY_FIRST * op.only_first
            return OpKind.AFFIX, OpFlag(flags | first), b"", content.encode()


def _form(table: NormalizerTable) -> bytes:
    header: bytes = layout.FormHeader.build(
        {
            "form": layout.NormalFormCode[table.form.unversioned.name],
            "middle_count": len(table.numbers.middle),
            "leaf_count": len(table.numbers.leaves),
            "entry_count": len(table.entries),
            "point_count": len(table.points),
            "composition_count": len(table.compositions),
            "reserved": None,
        }
    )
    numbers = table.numbers
    levels = (numbers.top, numbers.middle, numbers.leaves)
    return header + b"".join(
        [
            *(level.astype("<u2").tobytes() for level in levels),
            table.entries.tobytes(),
            table.points.tobytes(),
            table.compositions.tobytes(),
        ]
    )


def _charsmap(op: CharsmapOp) -> bytes:
    units = op.sequences.units.astype("<u4").tobytes()
    protected = build_trie(
        (content.encode(), index) for index, content in enumerate(op.protected) if content
    )
    program = program_bytes(op.clusters) if op.clusters else b""
    text = op.sequences.text
    header: bytes = layout.CharsmapHeader.build(
        {
            "unit_count": len(op.sequences.units),
            "node_count": len(protected.nodes) - 1,
            "edge_count": len(protected.edges),
            "program_size": len(program),
            "text_size": len(text),
            "first_plain": op.first_plain,
        }
    )
    return header + units + protected.nodes.tobytes() + protected.edges.tobytes() + program + text


def _map(mapping: CharacterMapping) -> bytes:
    # One output more than there are: the letters of a Hangul syllable, which so need no text each.
    letters = len(mapping.outputs)
    numbered = mapping.numbers.copy()
    for point in HANGUL_SYLLABLES:
        if mapping.outputs[mapping.numbers[point]] == Output(letters_of(chr(point))):
            numbered[point] = letters
    used, numbers = distinct_values(numbered)
    if used[0] != 0 or len(used) > 0xFFFF:
        raise UnsupportedError(
            "normalizer",
            f"a map of characters to {len(used)} texts is not supported",
            "at most 65,535 are",
        )
    entries = np.zeros(len(used), layout.MAP_ENTRY)
    text = bytearray()
    for index, number in enumerate(used.tolist()):
        if number == letters:
            entries[index] = (len(text), 0, 0, layout.MAP_LETTERS, 0)
            continue
        output = mapping.outputs[number]
        before, after = output.before.encode(), output.after.encode()
        entries[index] = (len(text), len(before), len(after), output.keep, 0)
        text += before + after
    table = class_table(numbers.astype(np.uint16))
    ascii_outputs = [
        mapping.outputs[mapping.numbers[point]].of(chr(point))
        for point in range(layout.CLASS_ASCII)
    ]
    direct = [
        ord(output) if len(output) == 1 and output.isascii() else layout.MAP_OTHER
        for output in ascii_outputs
    ]
    header: bytes = layout.MapHeader.build(
        {
            "middle_count": len(table.middle),
            "leaf_count": len(table.leaves),
            "entry_count": len(entries),
            "text_size": len(text),
            "idle_leads": leads_of(numbers == 0),
        }
    )
    levels = (table.top, table.middle, table.leaves)
    return b"".join(
        [
            header,
            bytes(direct),
            *(level.astype("<u2").tobytes() for level in levels),
            entries.tobytes(),
            bytes(text),
        ]
    )
