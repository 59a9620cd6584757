"""No hostile file makes a call hang, access other memory, or take time quadratic in the text."""

import time
from dataclasses import replace

import golden_files
import numpy as np
import pytest
from c_harness import COMPILERS, SANITIZED, Builder, Library, run
from repository import SLOW

from tokexport.compiler.splits.compile_split import compile_split, program_table
from tokexport.file.layout import SplitsHeader, Stage, Tag
from tokexport.file.text_sections import program_stage
from tokexport.model import Split

OK, SPLITS, CORRUPT = 0, -34, -37


def splits(*stages: Split, memo_count: int | None = None, states: int = 0) -> bytes:
    """SPLT with some stages; ``memo_count``: replaces the value of the compiler; ``states``: that
    many, most of them unreachable.
    """
    encoded, at = [], SplitsHeader.sizeof() + Stage.sizeof() * len(stages)
    for stage in stages:
        program = compile_split(stage)
        missing = max(0, states - len(program.transitions))
        program = replace(program, transitions=np.pad(program.transitions, [(0, missing), (0, 0)]))
        if memo_count is not None:
            program = replace(program, n_memo=memo_count)
        descriptor, tables = program_stage(program_table(program), at)
        encoded.append((descriptor, tables))
        at += len(tables)
    header: bytes = SplitsHeader.build({"stage_count": len(stages)})
    return b"".join([header, *(stage for stage, _ in encoded), *(tables for _, tables in encoded)])


@pytest.mark.parametrize("memo_count", [0, None], ids=["no memo", "memo"])
@pytest.mark.parametrize("pattern", ["[a-z]+!|[a-z]", "(?:[a-z]{5}-?)+!|[a-z]"])
def test_any_program_that_reads_on_in_vain_takes_linear_time(
    library: Library, pattern: str, memo_count: int | None
) -> None:
    stage = splits(Split(pattern), memo_count=memo_count)
    assert library.open(golden_files.rebuilt("smallest-bpe", {Tag.SPLITS: stage})) == OK
    began = time.process_time()
    assert library.encode(b"a" * 200_000) == (OK, [0] * 200_000)
    assert time.process_time() - began < 10  # it was five minutes
    assert library.encode(b"ab" * 1000 + b"!") == (OK, [2] * 1000)


@pytest.mark.parametrize("name", ["greedy", "unigram", "wordpiece"])
def test_a_cycle_in_a_trie_ends_after_the_longest_token(library: Library, name: str) -> None:
    root, continuation = golden_files.numbers(name, b"TRIE", 4, 2)
    changes = [
        (b"TRIE", 32 + 8 * (node + ord("a")) + 4, "I", node)
        for node in {root, continuation}
        if golden_files.numbers(name, b"TRIE", 32 + 8 * (node + ord("a")), 1)[0] & 0x1FF == ord("a")
    ]
    assert changes
    assert library.open(golden_files.patched(name, *changes)) == OK
    assert library.encode(b"a" * 8) == (CORRUPT, [])


def test_a_cycle_in_added_tokens_ends(library: Library) -> None:
    count, nodes, edges = golden_files.numbers("added", b"ADDT", 0, 3)
    first_edge = 96 + 16 * count + 8 * (nodes + 1)
    values = golden_files.numbers("added", b"ADDT", first_edge, edges)
    (node,) = [value & 0xFFFFFF for value in values[:3] if value >> 24 == ord("<")]
    changes = [
        (b"ADDT", first_edge + 4 * edge, "I", value & 0xFF000000 | node)
        for edge, value in enumerate(values)
    ]
    assert library.open(golden_files.patched("added", *changes)) == OK
    assert library.encode(b"<" + b"/" * 1000) == (CORRUPT, [])
    assert library.encode(b"plain")[0] == OK


def test_stages_that_exceed_the_bound_of_work_memory_are_refused(library: Library) -> None:
    for count, code in ((3, OK), (4, SPLITS)):
        stages = splits(*[Split("[a-z]+")] * count, states=4096)
        assert library.open(golden_files.rebuilt("smallest-bpe", {Tag.SPLITS: stages})) == code


LABELS = ("1233 22333 13321", "abbc abb  ; abc", "\u00e91234 b\u0661  ;c")
REWRITTEN = (
    "e\u0301 \u00a9\u0915\u094d\r\n \u00c0B \u4f60\ufb01 <a<a> abab! aa\u00e9",
    "aa<a>\u00e9",
)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("name", "section", "step", "texts"),
    [
        ("look-ahead", "SPLT", 1 if SLOW else 5, LABELS),
        ("look-ahead", "LABL", 1 if SLOW else 5, LABELS),
        ("sequences", "NORM", 1 if SLOW else 5, REWRITTEN),
        ("rewriting", "NORM", 31, REWRITTEN),
    ],
)
def test_no_changed_byte_of_a_section_makes_it_access_other_memory(
    compiler: str, name: str, section: str, step: int, texts: tuple[str, ...], build: Builder
) -> None:
    program = build(compiler, "damaged_section", *SANITIZED)
    golden = golden_files.FOLDER / f"{name}.bin"
    refused, corrupt = map(int, run([program, golden, section, str(step), *texts]).split())
    assert refused > 0
    assert corrupt > 0 or section != "NORM"
