"""tokexport inspect of a source says for every part whether it is exact or refused: all refusals,
not only the first one.
"""

from __future__ import annotations

import json
import re

import pytest
from reader_samples import BYTE_LEVEL
from repository import SMALL

from tokexport.cli.diagnose import parts_of
from tokexport.conversion import Options, file_bytes
from tokexport.errors import UnsupportedError
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

NAMES = sorted(path.stem for path in SMALL.glob("*.json") if path.stem != "ranks")
GPT2 = json.loads((SMALL / "gpt2.json").read_text("utf-8"))
OFF = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
SPLIT = {"type": "Split", "behavior": "Isolated", "invert": False}
# Refused parts of every place, by the places that must be named.
REFUSED = {
    "normalizer.normalizers[1]": {"type": "Uppercase"},
    "normalizer.normalizers[2].normalizers[0]": {"type": "Prepend", "prepend": ""},
    "pre_tokenizer.pretokenizers[0]": {**SPLIT, "pattern": {"Regex": r"(a+)\1"}},
    "pre_tokenizer.pretokenizers[2]": {"type": "Words"},
    "pre_tokenizer.pretokenizers[3]": {**SPLIT, "pattern": {"Regex": r"(?<a>x\g<a>?)"}},
    "post_processor.processors[0]": {"type": "Other"},
    "decoder": {"type": "Backwards"},
    "added_tokens[1]": {"id": 1, "content": "AB", **OFF, "normalized": True},
    "added_tokens[2]": {"id": 2, "content": "aB", **OFF, "normalized": True},
    "version": "0.9",
}
EXACT = {
    "normalizer.normalizers[1]": {"type": "NFC"},
    "normalizer.normalizers[2].normalizers[0]": {"type": "Prepend", "prepend": "a"},
    "pre_tokenizer.pretokenizers[0]": {**SPLIT, "pattern": {"Regex": r"a+"}},
    "pre_tokenizer.pretokenizers[2]": {"type": "Digits", "individual_digits": True},
    "pre_tokenizer.pretokenizers[3]": {"type": "Digits", "individual_digits": False},
    "post_processor.processors[0]": BYTE_LEVEL,
    "decoder": BYTE_LEVEL,
    "added_tokens[1]": {"id": 1, "content": "AC", **OFF, "normalized": True},
    "added_tokens[2]": {"id": 2, "content": "<x>", **OFF},
    "version": "1.0",
}


def document(refused, model=None):
    """A tokenizer.json in which the parts at some places are refused, and all the others are exact."""
    part = {place: (REFUSED if place in refused else EXACT)[place] for place in EXACT}
    fields = {
        "added_tokens": [
            {"id": 0, "content": "ab", **OFF, "normalized": True},
            part["added_tokens[1]"],
            part["added_tokens[2]"],
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Lowercase"},
                part["normalizer.normalizers[1]"],
                {
                    "type": "Sequence",
                    "normalizers": [part["normalizer.normalizers[2].normalizers[0]"]],
                },
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                part["pre_tokenizer.pretokenizers[0]"],
                BYTE_LEVEL,
                part["pre_tokenizer.pretokenizers[2]"],
                part["pre_tokenizer.pretokenizers[3]"],
            ],
        },
        "model": model or GPT2["model"],
        "post_processor": {
            "type": "Sequence",
            "processors": [part["post_processor.processors[0]"]],
        },
        "decoder": part["decoder"],
    }
    return fields | {"version": part["version"]}


@pytest.fixture
def refusals(tmp_path):
    """The sentences by place, of the fields of a tokenizer.json."""

    def refused(fields):
        (tmp_path / "tokenizer.json").write_text(json.dumps(fields), "utf-8")
        return {part.place: part.refusals for part in parts_of(tmp_path).parts if part.refusals}

    return refused


def read_and_write(fields):
    return file_bytes(
        read_tokenizer_json(Node("tokenizer.json", "", fields), SourceFiles(None)), Options()
    )


@pytest.mark.parametrize("place", REFUSED)
def test_one_refused_part_is_the_only_one_and_its_sentence_is_that_of_the_conversion(
    place, refusals
):
    with pytest.raises(UnsupportedError) as error:
        read_and_write(document({place}))
    assert refusals(document({place})) == {place: (str(error.value),)}


def test_the_first_refused_part_of_each_field_is_named_at_once(refusals):
    found = refusals(document(set(REFUSED)))
    assert set(found) < set(REFUSED)
    fields = [re.split(r"[.\[]", place)[0] for place in found]
    # Without the normalizer, which is refused, no two added tokens are alike.
    assert sorted(fields) == sorted(
        {re.split(r"[.\[]", place)[0] for place in REFUSED} - {"added_tokens"}
    )


def test_without_a_refused_part_all_are_exact(refusals):
    assert refusals(document(set())) == {}
    assert read_and_write(document(set()))


def test_a_model_that_is_refused_does_not_hide_the_rest(refusals):
    for change in (
        {"type": "Other"},
        {"dropout": 0.5},
        {"vocab": {**GPT2["model"]["vocab"], "another": 3}},
    ):
        found = refusals(document({"decoder", "added_tokens[1]"}, {**GPT2["model"], **change}))
        assert set(found) == {"model", "decoder", "added_tokens[1]"}, change


def test_a_directory_is_read_as_its_tokenizer(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(GPT2), "utf-8")
    assert parts_of(tmp_path).exact


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_that_can_be_converted_is_exact_in_every_part(name, run):
    outcome = run("inspect", SMALL / f"{name}.json", "--json")
    facts = json.loads(outcome.text)
    assert (outcome.code, facts["exact"]) == (0, True)
    assert "model" in [part["place"] for part in facts["parts"]]
    assert not any(part["refusals"] for part in facts["parts"])


def test_a_refusal_is_a_no_and_is_shown_in_full(run, tmp_path):
    path = tmp_path / "it.json"
    path.write_text(json.dumps(document({"decoder", "version"})), "utf-8")
    outcome = run("inspect", path)
    assert outcome.code == 1
    assert "2 refusals" in outcome.text
    assert 'decoder.type: "Backwards" is not supported; supported are' in outcome.text
    facts = json.loads(run("inspect", path, "--json").text)
    assert {part["place"] for part in facts["parts"] if part["refusals"]} == {"decoder", "version"}
    assert facts["exact"] is False


def test_a_source_of_another_kind_is_one_part(run, small_source, tmp_path):
    assert run("inspect", small_source("ranks"), "--pattern", "cl100k_base").code in (0, 1)
    exact = run("inspect", small_source("ranks"), "--pattern", r"\w+|\W")
    assert (exact.code, exact.text.splitlines()[2].split()[:2]) == (0, ["ranks.tiktoken", "exact"])
    refused = run("inspect", small_source("ranks"), "--pattern", r"(a+)\1")
    assert refused.code == 1
    assert "1 refusal" in refused.text


def test_a_broken_source_is_no_answer(run, tmp_path):
    (tmp_path / "tokenizer.json").write_text('{"model": {', "utf-8")
    for path in (tmp_path, tmp_path / "tokenizer.json", tmp_path / "none.json"):
        assert run("inspect", path).code == 2


def test_options_of_the_other_kind_of_file_are_refused(run, small_file):
    assert run("inspect", small_file("gpt2"), "--pattern", "gpt2").code == 2
