"""Compile switches of the C runtime: each leaves out exactly its part, and the remaining code
produces the same ids or refuses the file.
"""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import golden_files
import pytest
import tokexport_reader
from c_harness import COMPILERS, RUNTIME, STRICT, Builder, Library, run
from tokexport_reader.operations import FIRST_SOURCE, Affix

OK, MODEL, UNKNOWN = 0, -28, -31

each_compiler = pytest.mark.parametrize("compiler", COMPILERS)


@dataclass(frozen=True, slots=True)
class Part:
    """The part that a switch leaves out: functions that nothing else uses, separated by spaces, a
    type of model or a section, and the error code for a file that has it.
    """

    functions: str
    model: int | None = None
    section: bytes | None = None
    code: int = OK


PARTS: Final = {
    "TKX_NO_UNIGRAM": Part("encode_unigram", model=2, code=MODEL),
    "TKX_NO_WORDPIECE": Part("encode_wordpiece", model=3, code=MODEL),
    "TKX_NO_WORDLEVEL": Part("encode_word", model=4, code=MODEL),
    "TKX_NO_GREEDY": Part("encode_greedy", model=5, code=MODEL),
    "TKX_NO_CHARACTERS": Part(
        "character_symbols fallback_symbols add_parts", section=b"CHRS", code=UNKNOWN
    ),
    "TKX_NO_NORMALIZER": Part(
        "rewrite run_form run_map run_replace run_charsmap run_affix normalize check_ops"
        " check_rewriting_stage",
        section=b"NORM",
        code=UNKNOWN,
    ),
    "TKX_NO_DECODER": Part("decode_by_rules read_rules add_id", section=b"DECO", code=UNKNOWN),
    "TKX_NO_OFFSETS": Part("tkx_encode_spans put_span count_spaces trim to_characters"),
}
CHOICES: Final = (*((switch,) for switch in PARTS), tuple(PARTS))


# The flags of the library, so that the measured objects are also the ones that run.
PLAIN: Final = ("-O0", "-fPIC", "-ffreestanding")


def name_of(switches: tuple[str, ...]) -> str:
    return "+".join(switches)[:30]


def defines(switches: tuple[str, ...]) -> list[str]:
    return [f"-D{switch}" for switch in switches]


def functions(path: Path) -> set[str]:
    return set(re.findall(r" [tT] (\w+)$", run(["nm", path]), re.MULTILINE))


def code_size(path: Path) -> int:
    return int(run(["size", path]).splitlines()[1].split()[0])


def code_for(name: str, switches: tuple[str, ...]) -> int:
    """The result of tkx_open for a golden file; the model is checked before the sections."""
    content = golden_files.content(name)
    file = tokexport_reader.open_file(content)
    left_out = [PARTS[switch] for switch in switches]
    codes = [part.code for part in left_out if part.model == content[32]]
    codes += [part.code for part in left_out if part.section in file.sections]
    if "TKX_NO_OFFSETS" in switches and follows_sources(file):
        codes.append(UNKNOWN)
    return codes[0] if codes else OK


def follows_sources(file: tokexport_reader.File) -> bool:
    return any(isinstance(op, Affix) and op.flags & FIRST_SOURCE for op in file.operations)


def test_the_header_describes_every_switch() -> None:
    source = (RUNTIME / "tokexport.c").read_text(encoding="utf-8")
    header = (RUNTIME / "tokexport.h").read_text(encoding="utf-8")
    conditions = "\n".join(re.findall(r"^#if.*$", source + header, re.MULTILINE))
    rows = re.findall(r"^       (TKX_NO_\w+) .* (TKX_E_\w+|is run)$", header, re.MULTILINE)
    assert set(re.findall(r"TKX_NO_\w+", conditions)) == set(PARTS)
    answers = {OK: "is run", MODEL: "TKX_E_MODEL", UNKNOWN: "TKX_E_UNKNOWN"}
    assert dict(rows) == {name: answers[part.code] for name, part in PARTS.items()}


@each_compiler
@pytest.mark.parametrize("switches", CHOICES, ids=name_of)
def test_a_switch_leaves_out_exactly_the_functions_of_its_part(
    compiler: str, switches: tuple[str, ...], build: Builder
) -> None:
    left = functions(build.runtime(compiler, *PLAIN, *defines(switches)))
    for switch, part in PARTS.items():
        named = {*part.functions.split()}
        assert named & left == (set() if switch in switches else named), switch


@pytest.mark.skipif("clang" not in COMPILERS, reason="no clang")
def test_any_two_switches_can_be_combined() -> None:
    """All but two are combined, so that code shared by only these two parts must be compiled for
    either. Only clang warns of unused functions without generating code.
    """
    for pair in itertools.combinations(PARTS, 2):
        for switches in (pair, tuple(switch for switch in PARTS if switch not in pair)):
            options = [*STRICT, *defines(switches), "-fsyntax-only"]
            run(["clang", *options, RUNTIME / "tokexport.c"])


@each_compiler
def test_each_switch_shrinks_the_code_and_all_almost_halve_it(
    compiler: str, build: Builder
) -> None:
    full_size = code_size(build.runtime(compiler, *PLAIN))
    for switch in PARTS:
        assert code_size(build.runtime(compiler, *PLAIN, f"-D{switch}")) < full_size, switch
    full_size = code_size(build.runtime(compiler, "-Os", "-ffreestanding"))
    small = build.runtime(compiler, "-Os", "-ffreestanding", *defines(tuple(PARTS)))
    assert code_size(small) < 0.6 * full_size


@pytest.fixture(scope="module", params=CHOICES, ids=name_of)
def choice(request: pytest.FixtureRequest, build: Builder) -> tuple[tuple[str, ...], Library]:
    switches: tuple[str, ...] = request.param
    return switches, build.library(*defines(switches))


@pytest.mark.parametrize("name", golden_files.NAMES)
def test_a_file_is_refused_or_has_the_same_ids_and_texts(
    choice: tuple[tuple[str, ...], Library], name: str
) -> None:
    switches, library = choice
    code = code_for(name, switches)
    assert library.open(golden_files.content(name)) == code
    if code != OK:
        return
    if name in golden_files.EXPECTED_NAMES:
        for case in golden_files.expected(name)["encode"]:
            function = "tkx_encode_special" if case["special"] else "tkx_encode"
            assert library.encode(case["text"].encode(), function) == (OK, case["ids"]), case
    if name in golden_files.DECODER_NAMES:
        for case in golden_files.expected(name)["decode"]:
            if "skip_special" not in case:
                assert library.decode_text(case["ids"]) == (OK, case["text"]), case


def test_each_part_is_needed_by_a_golden_file_and_some_files_need_none() -> None:
    """Otherwise the test above would not check the codes."""
    for switch, part in PARTS.items():
        if part.code != OK:
            assert part.code in {code_for(name, (switch,)) for name in golden_files.NAMES}, switch
    assert code_for("spelled", ("TKX_NO_OFFSETS",)) == UNKNOWN
    plain = [name for name in golden_files.EXPECTED_NAMES if code_for(name, tuple(PARTS)) == OK]
    assert {"behaviors", "bytes-stages", "holes", "look-ahead", "ranked"} <= set(plain)
