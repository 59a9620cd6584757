"""verify detects damage in a file that opens without an error because its checksums are correct."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from damage import Sections
from references import reference_for
from repository import SMALL, small_source

from tokexport.conversion import convert
from tokexport.file.layout import (
    ADDED_TOKEN,
    BYTE_ID,
    COMPOSITION,
    PAIR_SLOT,
    RECORD,
    TEMPLATE_ITEM,
    TRANSITION,
    AddedFlag,
    AddedHeader,
    FormHeader,
    Header,
    HeaderFlag,
    ItemKind,
    PairIndexHeader,
    RecordFlag,
    RewriteHeader,
    RewriteOp,
    SplitsHeader,
    Stage,
    Tag,
    TemplateHeader,
)
from tokexport.limits import MAX_IDS
from tokexport.runtime.tokenizer import load
from tokexport.verification import Verification, classes, compare, verify

NAMES = ("qwen", "roberta", "ranks", "deepseek")
Damage = Callable[[bytearray], None]
NO_SLOT = (1 << 64) - 1


def first(condition: np.ndarray) -> int:
    """The first index at which a condition is true."""
    return int(np.flatnonzero(condition)[0])


def swap_two_records(file: bytearray) -> None:
    records = Sections(file).array(Tag.RECORDS, RECORD)
    first, second = records[300].copy(), records[301].copy()
    records[300], records[301] = second, first


def drop_a_merge(file: bytearray) -> None:
    sections = Sections(file)
    header = PairIndexHeader.parse(sections.view(Tag.PAIR_INDEX))
    slots = sections.array(Tag.PAIR_INDEX, PAIR_SLOT, PairIndexHeader.sizeof(), header.slot_count)
    merged_ids = slots & np.uint64(MAX_IDS)
    slots[merged_ids.argmin()] = NO_SLOT  # the first learned merge, which many tokens need


def swap_two_byte_ids(file: bytearray) -> None:
    ids = Sections(file).array(Tag.BYTE_IDS, BYTE_ID)
    ids[ord("q")], ids[ord("z")] = int(ids[ord("z")]), int(ids[ord("q")])


def put_the_space_among_the_letters(file: bytearray) -> None:
    sections = Sections(file)
    stage = Stage.parse(sections.view(Tag.SPLITS)[SplitsHeader.sizeof() :])
    classes = sections.view(Tag.SPLITS)[stage.classes_offset :]
    assert classes[ord(" ")] != classes[ord("e")]
    classes[ord(" ")] = classes[ord("e")]


def end_a_match_early(file: bytearray) -> None:
    """The first transition on a letter from the start state ends an empty match, and continues in
    the dead state.
    """
    sections = Sections(file)
    stage = Stage.parse(sections.view(Tag.SPLITS)[SplitsHeader.sizeof() :])
    letter = sections.view(Tag.SPLITS)[stage.classes_offset + ord("e")]
    starts = sections.array(Tag.SPLITS, TRANSITION, stage.starts_offset, stage.class_count + 1)
    transitions = sections.array(
        Tag.SPLITS, TRANSITION, stage.transitions_offset, stage.state_count << stage.row_shift
    )
    transitions[(int(starts[letter]) << stage.row_shift) + letter] = 0


def clear_a_flag_of_an_added_token(file: bytearray) -> None:
    sections = Sections(file)
    header = AddedHeader.parse(sections.view(Tag.ADDED_TOKENS))
    tokens = sections.array(Tag.ADDED_TOKENS, ADDED_TOKEN, AddedHeader.sizeof(), header.token_count)
    number = first(tokens["flags"] & AddedFlag.LSTRIP)
    tokens["flags"][number] &= ~np.uint32(AddedFlag.LSTRIP)


def forget_a_special_token(file: bytearray) -> None:
    records = Sections(file).array(Tag.RECORDS, RECORD)
    number = first(records["flags"] & RecordFlag.SPECIAL)
    records["flags"][number] &= ~np.uint16(RecordFlag.SPECIAL)


def forget_a_composition(file: bytearray) -> None:
    sections = Sections(file)
    op = RewriteOp.parse(sections.view(Tag.NORMALIZER)[RewriteHeader.sizeof() :])
    header = FormHeader.parse(sections.view(Tag.NORMALIZER)[op.table_offset :])
    size = header.composition_count * COMPOSITION.itemsize
    compositions = sections.array(
        Tag.NORMALIZER, COMPOSITION, len(sections.view(Tag.NORMALIZER)) - size
    )
    number = first((compositions["first"] == ord("e")) & (compositions["second"] == 0x301))
    compositions["composite"][number] = 0xE8


def change_the_template(file: bytearray) -> None:
    sections = Sections(file)
    header = TemplateHeader.parse(sections.view(Tag.TEMPLATE))
    items = sections.array(
        Tag.TEMPLATE, TEMPLATE_ITEM, TemplateHeader.sizeof(), header.single_count
    )
    number = first(items["kind"] == ItemKind.ID)
    items["id"][number] += 1


def clear_header_flag(flag: HeaderFlag, file: bytearray) -> None:
    header = Header.parse(file)
    header.flags &= ~flag
    file[: Header.sizeof()] = Header.build(header)


def give_an_id_to_a_hole(file: bytearray) -> None:
    records = Sections(file).array(Tag.RECORDS, RECORD)
    number = first((records["flags"] & RecordFlag.KIND_MASK) == RecordFlag.KIND_HOLE)
    records[number] = records[0]


DAMAGES: dict[str, tuple[str, Damage, str]] = {
    "two records swapped": ("qwen", swap_two_records, "bytes of ids"),
    "a merge dropped": ("qwen", drop_a_merge, "tokens encoded"),
    "a merge of ranks dropped": ("ranks", drop_a_merge, "strings: tokens"),
    "two bytes swapped": ("deepseek", swap_two_byte_ids, "tokens encoded"),
    "a class changed": ("qwen", put_the_space_among_the_letters, "tokens encoded"),
    "a transition changed": ("qwen", end_a_match_early, "strings: tokens"),
    "a flag of an added token cleared": (
        "roberta",
        clear_a_flag_of_an_added_token,
        "added tokens encoded",
    ),
    "a special token forgotten": ("roberta", forget_a_special_token, "ids decoded"),
    "a composition changed": ("qwen", forget_a_composition, "strings: marks"),
    "the template changed": ("roberta", change_the_template, "added tokens encoded"),
    "a refused special token passed whole": (
        "ranks",
        partial(clear_header_flag, HeaderFlag.RESCAN_SPECIAL),
        "strings: added-tokens",
    ),
    "a hole filled": ("ranks", give_an_id_to_a_hole, "ids that are refused"),
    "surrogates refused": (
        "ranks",
        partial(clear_header_flag, HeaderFlag.REPLACE_SURROGATES),
        "lone surrogates",
    ),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sources of small tokenizers. The ranks get overlapping special tokens, with holes between
    them.
    """
    folder = tmp_path_factory.mktemp("ranks")
    ranks = (SMALL / "ranks.tiktoken").read_bytes()
    (folder / "ranks.tiktoken").write_bytes(ranks)
    first = len(ranks.splitlines())
    special = {"<|bos|>": first, "<|end|>": first + 5, "|>x": first + 6}
    settings = json.loads((SMALL / "ranks.json").read_text("utf-8")) | {"special_tokens": special}
    (folder / "ranks.json").write_text(json.dumps(settings), "utf-8")
    return {name: small_source(name) for name in NAMES} | {"ranks": folder / "ranks.tiktoken"}


@pytest.fixture(scope="module")
def files(sources: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Their tokexport files."""
    folder = tmp_path_factory.mktemp("files")
    for name, source in sources.items():
        convert(source, folder / f"{name}.bin")
    return {name: (folder / f"{name}.bin").read_bytes() for name in sources}


def outcome(data: bytes, source: Path) -> Verification:
    return compare(load(data), reference_for(source), strings=2000, code_points=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_right_file_has_no_differences(
    name: str, sources: dict[str, Path], files: dict[str, bytes]
) -> None:
    result = outcome(files[name], sources[name])
    assert result.ok, "\n".join(result.lines())


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_detected_and_counted(
    damage: str, sources: dict[str, Path], files: dict[str, bytes]
) -> None:
    name, change, check = DAMAGES[damage]
    file = bytearray(files[name])
    change(file)
    Sections(file).seal()
    assert file != files[name]
    result = outcome(bytes(file), sources[name])
    assert not result.ok
    assert result.differing.get(check, 0) > 0, result.differing
    assert result.first is not None
    assert any(line.startswith("first difference") for line in result.lines())


def test_the_report_of_a_whole_run_repeats_its_difference(
    sources: dict[str, Path],
    files: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    against, path, text = sources["ranks"], tmp_path / "tokenizer.bin", SMALL / "text.txt"
    path.write_bytes(files["ranks"])
    right = verify(path, against=against, strings=300, texts=[text])
    assert right.ok, "\n".join(right.lines())
    assert right.counts["code points in context"] > 1_112_064
    assert right.counts["files"] == 2
    monkeypatch.setattr(classes, "all_groups", list)  # the code points are compared only once
    file = bytearray(files["ranks"])
    drop_a_merge(file)
    Sections(file).seal()
    path.write_bytes(file)
    wrong, parallel = (verify(path, against=against, strings=300, jobs=jobs) for jobs in (1, 3))
    assert (wrong, wrong.lines()) == (parallel, parallel.lines())  # with any number of processes
    assert wrong.first is not None
    assert wrong.first.reproduce[0].startswith(
        f"tokexport verify {path} --against {against} --seed 0 --only "
    )
    repeated = verify(path, against=against, only=wrong.first.key)
    assert repeated.first is not None
    assert (repeated.first.text, repeated.first.found) == (wrong.first.text, wrong.first.found)
