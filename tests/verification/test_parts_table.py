"""docs/LIMITS.md says which parts of a tokenizer.json are exact and which are refused, and that is what
comes out.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from parts import measure as measuring
from parts.cases import cases
from parts.measure import Outcome, measure
from parts.table import put, table, written
from repository import ROOT, SLOW
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

PLACES = {
    "normalizer": normalizers,
    "pre-tokenizer": pre_tokenizers,
    "model": models,
    "post-processor": processors,
    "decoder": decoders,
}
# What these modules hold besides kinds of parts.
OTHERS = {
    "Normalizer",
    "NORMALIZERS",
    "PreTokenizer",
    "Model",
    "PostProcessor",
    "Decoder",
    "DecodeStream",
}


def test_the_table_of_limits_is_what_the_library_and_the_conversion_give():
    # The vocabularies are bytes, characters, and pairs of 12 by 12 or 8 by 8: each fifth token is
    # of every row and every column.
    outcomes = [measure(case, token_step=1 if SLOW else 5) for case in cases()]
    differences = [
        f"{outcome.case.name}: {outcome.difference}" for outcome in outcomes if outcome.difference
    ]
    assert differences == []
    text = (ROOT / "docs" / "LIMITS.md").read_text(encoding="utf-8")
    assert written(text) == table(outcomes), (
        "python -m tests.parts docs/LIMITS.md puts the right table there"
    )


@pytest.mark.parametrize("place", PLACES)
def test_every_part_that_the_library_has_is_in_the_table(place):
    there = {name for name in dir(PLACES[place]) if name[0].isupper()} - OTHERS
    assert there - {case.part for case in cases() if case.place == place} == set()


def test_a_table_that_was_put_into_a_document_is_the_one_it_holds():
    empty = "before\n<!-- parts: made by python -m tests.parts -->\n<!-- parts: end -->\nbehind"
    once = put(empty, "| a |\n|---|")
    assert written(once) == "| a |\n|---|"
    assert put(put(empty, "| b |"), "| a |\n|---|") == once
    assert (once[:7], once[-6:]) == ("before\n", "behind")


def test_every_case_has_a_name_of_its_own():
    names = [case.name for case in cases()]
    assert len(names) == len(set(names))


def test_a_part_that_is_converted_wrongly_differs(monkeypatch):
    lowercase = next(case for case in cases() if case.part == "Lowercase")
    assert measure(lowercase, strings=20).exact
    right = measuring.read_tokenizer_json

    def wrong(root, files):
        return replace(right(root, files), normalizer=())

    monkeypatch.setattr(measuring, "read_tokenizer_json", wrong)
    outcome = measure(lowercase, strings=20)
    assert outcome.difference
    assert "differs" in table([outcome])


def test_a_part_with_a_refusal_has_a_row_of_its_own():
    one, two, three = cases()[:3]
    rows = table(
        [
            Outcome(one),
            Outcome(two, refusal="x is not supported; y"),
            Outcome(replace(three, part=one.part)),
        ]
    )
    assert [row for row in rows.splitlines() if "not supported" in row] == [
        f"|  | {two.part} |  | {two.option}: x is not supported; y |"
    ]
