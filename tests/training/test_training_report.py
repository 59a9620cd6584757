"""The report of a training says what was learned, with correct numbers."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import PathOf, Run
from repository import small_source

import tokexport
from tokexport.training import train_from_iterator
from tokexport.training.report import Sample, kind, report

LEARNED = ["the lighthouse keeper reads 1234\n\n" * 40, "свет маяка " * 30, "漢字かな" * 20]
HELD_OUT = ["the keeper of the lighthouse 99"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of texts, one of which is held out."""
    texts = tmp_path / "texts"
    texts.mkdir()
    for number, text in enumerate([*LEARNED, *HELD_OUT]):
        (texts / f"{number}.txt").write_text(text, encoding="utf-8")
    return texts


def test_the_numbers_match_the_texts(run: Run, folder: Path, small_file: PathOf) -> None:
    baseline = small_file("gpt2")
    report = run(
        "train", folder, "--vocab-size", 300, "-o", folder.parent / "out", "--json",
        "--held-out", folder / "3.txt", "--beside", baseline, "--beside", small_source("gpt2"),
    ).values  # fmt: skip
    ours = tokexport.load(folder.parent / "out" / "tokenizer.bin")
    expected = train_from_iterator(LEARNED, 300)
    assert ours.to_bytes() == expected.to_bytes()  # the held-out text is not learned from

    rows = report["bytes_per_token"]
    names = [str(folder.parent / "out"), str(baseline), str(small_source("gpt2"))]
    assert [row["tokenizer"] for row in rows] == names
    for row, tokenizer in zip(rows, [ours, *[tokexport.load(baseline)] * 2], strict=True):
        for name, texts in (("training", LEARNED), ("held_out", HELD_OUT)):
            size = sum(len(text.encode()) for text in texts)
            assert row[name] == size / sum(len(tokenizer.encode(text)) for text in texts)

    used = {id for text in LEARNED for id in ours.encode(text)}
    unused = [ours.decode_single_token_bytes(id) for id in range(300) if id not in used]
    assert [bytes.fromhex(token["bytes"]) for token in report["never_used"]] == unused
    tokens = [ours.decode_single_token_bytes(id) for id in range(300)]
    assert sum(report["kinds"].values()) == 300
    assert report["kinds"]["Cyrillic"] == sum(
        any("а" <= letter <= "я" for letter in token.decode(errors="ignore"))
        and token.decode(errors="replace").isprintable()
        and "\ufffd" not in token.decode(errors="replace")
        for token in tokens
    )
    longest = [bytes.fromhex(token["bytes"]) for token in report["longest"]]
    assert [len(token) for token in longest] == sorted(map(len, tokens), reverse=True)[:8]


def test_the_report_on_the_terminal_is_complete(run: Run, folder: Path) -> None:
    common = ["--vocab-size", 300, "-o", folder.parent / "out", "--force"]
    text = run("train", folder, *common, "--held-out", folder / "3.txt").text
    for part in ("bytes per token", "held out", "kinds: ", "Cyrillic", "digits", "longest: ",
                 "never used in the texts: "):  # fmt: skip
        assert part in text
    run("count", folder, "-o", folder.parent / "w.counts")
    text = run("train", "--counts", folder.parent / "w.counts", *common).text
    assert "held out" not in text  # there is no text
    assert "kinds: " in text


def test_texts_that_are_all_held_out_are_refused_as_such(run: Run, folder: Path) -> None:
    out = folder.parent / "out"
    refused = run("train", folder, "--vocab-size", 300, "-o", out, "--held-out", folder)
    assert "all texts are held out" in refused.refusal


def test_uses_are_counted_in_all_words() -> None:
    texts = [*LEARNED, "q"]
    trained = train_from_iterator(texts, 300)
    ours = tokexport.load(trained.to_bytes())
    uses = Counter(id for text in texts for id in ours.encode(text))
    assert trained.uses == tuple(uses[id] for id in range(300))
    unused = [token for id, token in enumerate(trained.ranks) if not uses[id]]
    assert report(trained, {}, [], [])["never_used"] == unused


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (" low", "Latin"),
        ("'s", "Latin"),
        ("é", "Latin"),
        ("маяк", "Cyrillic"),
        ("漢字", "Han"),
        ("かな", "Hiragana"),
        ("한글", "Hangul"),
        ("हिन्दी", "Devanagari"),
        ("ꓕ", "other scripts"),
        ("12", "digits"),
        (" ٣", "digits"),
        ("²", "digits"),
        (" \n\u3000", "spaces"),
        ("();", "other characters"),
        (" 😀", "other characters"),
    ],
)
def test_the_kind_of_a_token_follows_from_its_characters(token: str, expected: str) -> None:
    assert kind(token.encode()) == expected
    if not token.isascii():
        assert kind(token.encode()[:-1]) == "parts of characters"


def test_a_sample_is_even_and_bounded() -> None:
    sample = Sample(1000)
    for number in range(10_000):
        sample.add(f"{number:05}")
    numbers = [int(text) for text in sample.texts]
    steps = {b - a for a, b in pairwise(numbers)}
    assert 500 <= 5 * len(numbers) <= 1000
    assert len(steps) == 1
    assert numbers[-1] > 9000
    sample.add("x" * 5000)
    assert sum(map(len, sample.texts)) <= 1000
