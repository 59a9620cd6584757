"""verify finds, names and repeats damage that only the engine, only the core, or only cuts use."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from damage import Sections, byte_ids, damaged, pair_slots, swap_two_byte_ids
from references import converted, reference_for
from repository import small_source

from tokexport.file.layout import Tag
from tokexport.limits import MAX_IDS
from tokexport.runtime.tokenizer import load
from tokexport.verification import Verification, compare

FREE = (1 << 64) - 1


@pytest.fixture(scope="module")
def source() -> Path:
    return small_source("qwen")


def swap_two_pairs_of_bytes(sections: Sections) -> None:
    """The core, which probes, finds neither; the engine reads all slots for a table of its own."""
    slots, ids = pair_slots(sections), byte_ids(sections)
    left, right = slots >> np.uint64(42), slots >> np.uint64(21) & np.uint64(MAX_IDS)
    one, other = np.flatnonzero(np.isin(left, ids) & np.isin(right, ids))[:2]
    slots[[one, other]] = slots[[other, one]]


def add_a_pair_where_no_probe_finds_it(sections: Sections) -> None:
    """Two q become the id of a merged token, but not for the core, which probes another slot."""
    slots, q = pair_slots(sections), int(byte_ids(sections)[ord("q")])
    merged = int(slots[slots != FREE][0]) & MAX_IDS
    slots[np.flatnonzero(slots == FREE)[0]] = q << 42 | q << 21 | merged


def allow_cuts_everywhere(sections: Sections) -> None:
    sections.view(Tag.CUTS)[:] = b"\xff" * len(sections.view(Tag.CUTS))


def outcome(data: bytes, source: Path, **options: object) -> Verification:
    how = {"strings": 200, "code_points": False, **options}
    return compare(load(data), reference_for(source), **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "way"),
    [(swap_two_pairs_of_bytes, "core"), (add_a_pair_where_no_probe_finds_it, "engine")],
)
def test_a_difference_of_one_implementation_is_found_and_named_and_repeated(
    change: Callable[[Sections], None], way: str, source: Path
) -> None:
    data = damaged(converted(source).to_bytes(), change)
    result = outcome(data, source)
    assert result.differing["tokens encoded"] > 0
    assert result.first is not None
    assert result.first.by == (way,)
    assert f"  only by: {way}" in result.lines()
    assert result == outcome(data, source, jobs=3)
    assert outcome(data, source, only=result.first.key).first == result.first


def test_a_difference_of_both_implementations_names_none(source: Path) -> None:
    def change(sections: Sections) -> None:
        swap_two_pairs_of_bytes(sections)
        swap_two_byte_ids(sections)

    data = damaged(converted(source).to_bytes(), change)
    result = outcome(data, source, only=f"token:{load(data).encode_single_token('z')}")
    assert result.first is not None
    assert result.first.by == ()
    assert not any("only by" in line for line in result.lines())


def test_a_wrong_cut_between_threads_is_found_in_a_long_text(tmp_path: Path) -> None:
    source = small_source("ranks")  # without a normalizer, for whose blocks the core cuts, too
    text = tmp_path / "text.txt"
    text.write_text("the other thing\n" * 5000, "utf-8")
    data = damaged(converted(source).to_bytes(), allow_cuts_everywhere)
    result = outcome(data, source, texts=[text], jobs=2)
    assert result.differing.get("files") == 2, result.lines()
    assert result.differences == 2
    assert result.first is not None
    assert result.first.by == ("threads",)
    assert outcome(data, source, only=result.first.key).first == result.first
