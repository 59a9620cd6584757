"""tokexport inspect shows the first refusal of each part of a source, not only of all."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run
from json_parts import normalizers, pre_tokenizers, split
from reader_samples import BYTE_LEVEL, added
from repository import SMALL, small_source

from tokexport.cli.diagnose import parts_of
from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.sources import read

NAMES = sorted(path.stem for path in SMALL.glob("*.json") if path.stem != "ranks")
GPT2 = json.loads((SMALL / "gpt2.json").read_text("utf-8"))
SPLIT = split(r"(a+)\1")
# Refused parts of every field, by the paths that must be named.
REFUSED: dict[str, Any] = {
    "normalizer.normalizers[0]": {"type": "Uppercase"},
    "normalizer.normalizers[1].normalizers[0]": {"type": "Prepend", "prepend": ""},
    "pre_tokenizer.pretokenizers[0]": SPLIT,
    "pre_tokenizer.pretokenizers[2]": {"type": "Words"},
    "post_processor.processors[0]": {"type": "Other"},
    "decoder": {"type": "Backwards"},
    "added_tokens[1]": added("AB", normalized=True),
    "version": "0.9",
    "model": {**GPT2["model"], "dropout": 0.5},
}
EXACT: dict[str, Any] = {
    "added_tokens": [added("ab", normalized=True), added("AC", normalized=True)],
    "normalizer": normalizers({"type": "NFC"}, normalizers({"type": "NFD"}), {"type": "Lowercase"}),
    "pre_tokenizer": pre_tokenizers(
        {"type": "WhitespaceSplit"}, BYTE_LEVEL, {"type": "WhitespaceSplit"}
    ),
    "model": GPT2["model"],
    "post_processor": {"type": "Sequence", "processors": [BYTE_LEVEL]},
    "decoder": BYTE_LEVEL,
    "version": "1.0",
}


def document(*refused: str) -> dict[str, Any]:
    """A tokenizer.json in which the parts at some paths are refused, and all others exact."""
    fields = copy.deepcopy(EXACT)
    for part in refused:
        *path, last = part.replace("[", ".").replace("]", "").split(".")
        inner: Any = fields
        for step in path:
            inner = inner[int(step) if step.isdigit() else step]
        inner[int(last) if last.isdigit() else last] = REFUSED[part]
    return fields


def refusals(fields: dict[str, Any], folder: Path) -> dict[str, tuple[str, ...]]:
    (folder / "tokenizer.json").write_text(json.dumps(fields), "utf-8")
    return {part.place: part.refusals for part in parts_of(folder).parts if part.refusals}


@pytest.mark.parametrize("part", REFUSED)
def test_a_part_has_the_same_refusal_as_its_conversion(part: str, tmp_path: Path) -> None:
    named = refusals(document(part), tmp_path)
    with pytest.raises(UnsupportedError) as caught:
        file_bytes(read(tmp_path))
    caught.value.file = None
    assert named == {part: (str(caught.value),)}


def test_the_first_refused_part_of_every_field_is_named(tmp_path: Path) -> None:
    named = set(refusals(document(*REFUSED), tmp_path))
    # Without the normalizer, which is refused, no two added tokens are equal.
    assert named | {"added_tokens[1]"} < set(REFUSED)
    assert {part.partition(".")[0] for part in named} == set(EXACT) - {"added_tokens"}


def test_without_a_refused_part_all_are_exact(tmp_path: Path) -> None:
    assert refusals(document(), tmp_path) == {}
    assert parts_of(tmp_path).content


def test_nothing_is_noted_of_the_model_that_stands_for_a_refused_one(tmp_path: Path) -> None:
    fields = {**document(), "added_tokens": GPT2["added_tokens"]}
    assert refusals({**fields, "model": REFUSED["model"]}, tmp_path)
    assert parts_of(tmp_path).notes == ()


@pytest.mark.parametrize("name", NAMES)
def test_all_parts_of_a_convertible_source_are_exact(name: str, run: Run) -> None:
    outcome = run("inspect", SMALL / f"{name}.json", "--json")
    report = json.loads(outcome.text)
    assert (outcome.code, report["exact"]) == (0, True)
    assert "model" in [part["place"] for part in report["parts"]]


def test_a_refusal_exits_with_1_and_is_shown_in_full(run: Run, tmp_path: Path) -> None:
    (tmp_path / "it.json").write_text(json.dumps(document("decoder", "version")), "utf-8")
    outcome = run("inspect", tmp_path / "it.json")
    assert (outcome.code, "2 refusals" in outcome.text) == (1, True)
    assert 'decoder.type: the decoder "Backwards" is not supported; use null,' in outcome.text
    assert json.loads(run("inspect", tmp_path / "it.json", "--json").text)["exact"] is False


def test_a_source_of_another_kind_is_one_part(run: Run) -> None:
    exact = run("inspect", small_source("ranks"), "--pattern", r"\w+|\W")
    assert (exact.code, exact.text.splitlines()[2].split()[:2]) == (0, ["ranks.tiktoken", "exact"])
    refused = run("inspect", small_source("ranks"), "--pattern", r"(a+)\1")
    assert (refused.code, "1 refusal" in refused.text) == (1, True)


def test_a_broken_source_or_an_option_of_another_kind_is_a_failure(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {', "utf-8")
    for path in (tmp_path, tmp_path / "tokenizer.json", tmp_path / "none.json"):
        assert run("inspect", path).code == 2
    assert run("inspect", small_file("gpt2"), "--pattern", "gpt2").code == 2


def test_a_part_without_a_type_and_a_long_option_are_described(tmp_path: Path) -> None:
    fields = document()
    fields["model"] = {"merges": [], "vocab": {"a": 0}, "unk_token": "a" * 100}
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), "utf-8")
    described = {part.place: part.what for part in parts_of(tmp_path).parts}
    assert described["model"] == f'0 merges, 1 tokens, unk_token "{"a" * 46}...'
