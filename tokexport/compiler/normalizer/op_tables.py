"""The tables of operations that rewrite text: the last step, after all passes."""

import functools
from collections.abc import Sequence

import numpy as np

from tokexport.compiler.normalizer import rewriting
from tokexport.compiler.normalizer.growth import growths
from tokexport.compiler.splits.class_table import class_table
from tokexport.compiler.splits.compile_split import program_table
from tokexport.compiler.splits.skip_hints import leads_of
from tokexport.compiler.tables import CharsmapTable, FormTable, MapTable, OpTable
from tokexport.compiler.tries.byte_trie import build_trie
from tokexport.errors import UnsupportedError
from tokexport.model import NormalForm, SpellBytes
from tokexport.model.normalization import normal_forms
from tokexport.model.normalization.character_map import CharacterMapping, Output
from tokexport.unicode.store import CODE_POINTS, distinct_values

ASCII = 128
LETTERS = 2  # what is between: the letters of a Hangul syllable


def op_tables(ops: Sequence[rewriting.Op]) -> list[OpTable]:
    """The tables of all operations of a file. UnsupportedError for a map to too many texts."""
    return [_op_table(op, *bound) for op, bound in zip(ops, growths(ops), strict=True)]


def _op_table(op: rewriting.Op, grows: int, extra: int) -> OpTable:
    match op:
        case NormalForm():
            return OpTable("FORM", (), grows, extra, form_table(op))
        case CharacterMapping():
            return OpTable("MAP", (), grows, extra, _map_table(op))
        case rewriting.ReplaceOp(program, content):
            return OpTable("REPLACE", (), grows, extra, program_table(program), content)
        case rewriting.CharsmapOp():
            table, by_cluster = _charsmap_table(op), ("BY_CLUSTER",) * (op.clusters is not None)
            return OpTable("CHARSMAP", by_cluster, grows, extra, table)
        case SpellBytes():
            return OpTable("BYTES", (), grows, extra)
        case rewriting.AffixOp(content):
            flags = ("APPEND",) * op.append + ("UNLESS_PRESENT",) * op.unless_present
            first = ("FIRST_SOURCE",) if op.by_source else ("ONLY_FIRST",) * op.only_first
            return OpTable("AFFIX", flags + first, grows, extra, content=content)


def _charsmap_table(op: rewriting.CharsmapOp) -> CharsmapTable:
    protected = build_trie((i, text.encode()) for i, text in enumerate(op.protected) if text)
    clusters = program_table(op.clusters) if op.clusters else None
    return CharsmapTable(op.sequences.units, op.sequences.text, protected, clusters, op.first_plain)


def _map_table(mapping: CharacterMapping) -> MapTable:
    # One extra output: the letters of a Hangul syllable, which then need no text for each syllable.
    letters = len(mapping.outputs)
    numbered = mapping.numbers.astype(np.min_scalar_type(letters))
    syllables = normal_forms.HANGUL_SYLLABLES
    for point in np.flatnonzero(mapping.numbers[syllables]) + syllables.start:
        if mapping.outputs[mapping.numbers[point]] == Output(normal_forms.letters_of(chr(point))):
            numbered[point] = letters
    used, numbers = distinct_values(numbered)
    if used[0] != 0 or len(used) > 0xFFFF:
        problem = f"a map of characters to {len(used):,} texts is too large"
        raise UnsupportedError("normalizer", problem, "use a map to at most 65,535 texts")
    entries: list[tuple[int, int, int, int]] = []
    text = bytearray()
    for number in used.tolist():
        if number == letters:
            entries.append((len(text), 0, 0, LETTERS))
            continue
        output = mapping.outputs[number]
        before, after = output.before.encode(), output.after.encode()
        entries.append((len(text), len(before), len(after), output.keep))
        text += before + after
    outputs = [mapping.outputs[mapping.numbers[point]].of(chr(point)) for point in range(ASCII)]
    return MapTable(
        tuple(ord(text) if len(text) == 1 and text.isascii() else None for text in outputs),
        class_table(numbers.astype(np.uint16, copy=False)),
        np.array(entries, np.int64),
        bytes(text),
        leads_of(numbers == 0),
    )


@functools.cache
def form_table(form: NormalForm) -> FormTable:
    tables = normal_forms.normalization_tables(form)
    check = normal_forms.quick_check_no_or_maybe(tables)
    points: list[int] = []
    starts: dict[tuple[int, ...], int] = {(): 0}
    entries: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 0}
    numbers = np.zeros(CODE_POINTS, np.uint16)
    for code_point in sorted({*tables.decompositions, *tables.combining_classes, *check}):
        decomposition = tables.decompositions.get(code_point, ())
        if decomposition not in starts:
            starts[decomposition] = len(points)
            points.extend(decomposition)
        number = tables.combining_classes.get(code_point, 0)
        entry = (starts[decomposition], len(decomposition), number, int(code_point in check))
        numbers[code_point] = entries.setdefault(entry, len(entries))
    compositions = sorted((*pair, composite) for pair, composite in tables.compositions.items())
    return FormTable(
        form.name.removesuffix("_17"),
        class_table(numbers),
        np.array([*entries], np.int64),
        np.array(points, np.int64),
        np.array(compositions, np.int64).reshape(-1, 3),
    )
