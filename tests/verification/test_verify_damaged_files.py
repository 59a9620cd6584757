"""verify detects damage in a file that opens without an error because its checksums are correct."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from damage import Sections, damaged, pair_slots, swap_two_byte_ids
from references import converted, reference_for
from repository import SMALL, small_source

from tokexport.file import layout
from tokexport.file.layout import HeaderFlag, Tag
from tokexport.limits import MAX_IDS
from tokexport.runtime.tokenizer import load
from tokexport.verification import Verification, classes, compare, verify

NAMES = ("qwen", "roberta", "ranks", "deepseek")
Change = Callable[[Sections], None]
NO_SLOT = (1 << 64) - 1


def first(condition: np.ndarray) -> int:
    """The first index at which a condition is true."""
    return int(np.flatnonzero(condition)[0])


def clear_header_flag(flag: HeaderFlag, sections: Sections) -> None:
    header = layout.Header.parse(sections.file)
    header.flags &= ~flag
    sections.file[: layout.Header.sizeof()] = layout.Header.build(header)


def swap_two_records(sections: Sections) -> None:
    records = sections.array(Tag.RECORDS, layout.RECORD)
    first, second = records[300].copy(), records[301].copy()
    records[300], records[301] = second, first


def drop_a_merge(sections: Sections) -> None:
    slots = pair_slots(sections)
    merged_ids = slots & np.uint64(MAX_IDS)
    slots[merged_ids.argmin()] = NO_SLOT  # the first learned merge, which many tokens need


def put_the_space_among_the_letters(sections: Sections) -> None:
    stage = layout.Stage.parse(sections.view(Tag.SPLITS)[layout.SplitsHeader.sizeof() :])
    classes = sections.view(Tag.SPLITS)[stage.classes_offset :]
    assert classes[ord(" ")] != classes[ord("e")]
    classes[ord(" ")] = classes[ord("e")]


def end_a_match_early(sections: Sections) -> None:
    """The first transition on a letter ends an empty match, in the dead state."""
    stage = layout.Stage.parse(sections.view(Tag.SPLITS)[layout.SplitsHeader.sizeof() :])
    letter = sections.view(Tag.SPLITS)[stage.classes_offset + ord("e")]
    splits = partial(sections.array, Tag.SPLITS, layout.TRANSITION)
    starts = splits(stage.starts_offset, stage.class_count + 1)
    transitions = splits(stage.transitions_offset, stage.state_count << stage.row_shift)
    transitions[(int(starts[letter]) << stage.row_shift) + letter] = 0


def clear_a_flag_of_an_added_token(sections: Sections) -> None:
    header = layout.AddedHeader.parse(sections.view(Tag.ADDED_TOKENS))
    tokens = sections.array(
        Tag.ADDED_TOKENS, layout.ADDED_TOKEN, layout.AddedHeader.sizeof(), header.token_count
    )
    number = first(tokens["flags"] & layout.AddedFlag.LSTRIP)
    tokens["flags"][number] &= ~np.uint32(layout.AddedFlag.LSTRIP)


def forget_a_special_token(sections: Sections) -> None:
    records = sections.array(Tag.RECORDS, layout.RECORD)
    number = first(records["flags"] & layout.RecordFlag.SPECIAL)
    records["flags"][number] &= ~np.uint16(layout.RecordFlag.SPECIAL)


def forget_a_composition(sections: Sections) -> None:
    op = layout.RewriteOp.parse(sections.view(Tag.NORMALIZER)[layout.RewriteHeader.sizeof() :])
    header = layout.FormHeader.parse(sections.view(Tag.NORMALIZER)[op.table_offset :])
    size = header.composition_count * layout.COMPOSITION.itemsize
    compositions = sections.array(
        Tag.NORMALIZER, layout.COMPOSITION, len(sections.view(Tag.NORMALIZER)) - size
    )
    number = first((compositions["first"] == ord("e")) & (compositions["second"] == 0x301))
    compositions["composite"][number] = 0xE8


def change_the_template(sections: Sections) -> None:
    header = layout.TemplateHeader.parse(sections.view(Tag.TEMPLATE))
    items = sections.array(
        Tag.TEMPLATE, layout.TEMPLATE_ITEM, layout.TemplateHeader.sizeof(), header.single_count
    )
    number = first(items["kind"] == layout.ItemKind.ID)
    items["id"][number] += 1


def give_an_id_to_a_hole(sections: Sections) -> None:
    records = sections.array(Tag.RECORDS, layout.RECORD)
    number = first((records["flags"] & layout.RecordFlag.KIND_MASK) == layout.RecordFlag.KIND_HOLE)
    records[number] = records[0]


# Changes of small tokenizers, with the check that must count a difference.
DAMAGES: list[tuple[Change, str, str]] = [
    (swap_two_records, "qwen", "bytes of ids"),
    (drop_a_merge, "qwen", "tokens encoded"),
    (drop_a_merge, "ranks", "strings: tokens"),
    (swap_two_byte_ids, "deepseek", "tokens encoded"),
    (put_the_space_among_the_letters, "qwen", "tokens encoded"),
    (end_a_match_early, "qwen", "strings: tokens"),
    (clear_a_flag_of_an_added_token, "roberta", "added tokens encoded"),
    (forget_a_special_token, "roberta", "ids decoded"),
    (forget_a_composition, "qwen", "strings: marks"),
    (change_the_template, "roberta", "added tokens encoded"),
    (partial(clear_header_flag, HeaderFlag.RESCAN_SPECIAL), "ranks", "strings: added-tokens"),
    (partial(clear_header_flag, HeaderFlag.REPLACE_SURROGATES), "ranks", "lone surrogates"),
    (give_an_id_to_a_hole, "ranks", "ids that are refused"),
]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, bytes]]:
    """Small tokenizers and their files; the ranks get overlapping special tokens, with holes."""
    folder = tmp_path_factory.mktemp("ranks")
    ranks = (SMALL / "ranks.tiktoken").read_bytes()
    (folder / "ranks.tiktoken").write_bytes(ranks)
    first = len(ranks.splitlines())
    special = {"<|bos|>": first, "<|end|>": first + 5, "|>x": first + 6}
    settings = json.loads((SMALL / "ranks.json").read_text("utf-8")) | {"special_tokens": special}
    (folder / "ranks.json").write_text(json.dumps(settings), "utf-8")
    sources = {name: small_source(name) for name in NAMES} | {"ranks": folder / "ranks.tiktoken"}
    return {name: (source, converted(source).to_bytes()) for name, source in sources.items()}


def outcome(data: bytes, source: Path) -> Verification:
    return compare(load(data), reference_for(source), strings=2000, code_points=False)


@pytest.mark.parametrize(("change", "name", "check"), DAMAGES)
def test_damage_is_detected_and_counted(
    change: Change, name: str, check: str, pairs: dict[str, tuple[Path, bytes]]
) -> None:
    source, data = pairs[name]
    result = outcome(damaged(data, change), source)
    assert not result.ok
    assert result.differing.get(check, 0) > 0, result.differing
    assert result.first is not None
    assert any(line.startswith("first difference") for line in result.lines())


def test_the_report_of_a_whole_run_repeats_its_difference(
    pairs: dict[str, tuple[Path, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, text = tmp_path / "tokenizer.bin", SMALL / "text.txt"
    against, data = pairs["ranks"]
    path.write_bytes(data)
    right = verify(path, against=against, strings=300, texts=[text])
    assert right.ok, "\n".join(right.lines())
    assert right.counts["code points in context"] > 1_112_064
    assert right.counts["files"] == 2
    monkeypatch.setattr(classes, "all_groups", list)  # the code points are compared only once
    change = partial(clear_header_flag, HeaderFlag.RESCAN_SPECIAL)
    path.write_bytes(damaged(data, change))
    wrong, parallel = (verify(path, against=against, strings=300, jobs=jobs) for jobs in (1, 3))
    assert (wrong, wrong.lines()) == (parallel, parallel.lines())  # with any number of processes
    assert wrong.first is not None
    assert wrong.first.reproduce[0].startswith(
        f"tokexport verify {path} --against {against} --seed 0 --only "
    )
    repeated = verify(path, against=against, only=wrong.first.key)
    assert repeated.first is not None
    assert (repeated.first.text, repeated.first.found) == (wrong.first.text, wrong.first.found)
