"""docs/LIMITS.md says which parts of a tokenizer.json conversions keep exact or refuse."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from parts import __main__ as command
from parts import outcomes as measuring
from parts.cases import cases
from parts.outcomes import Outcome, measure, put, table, written
from repository import ROOT, SLOW
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from tokexport.sources.tokenizer_json.read import read_tokenizer_json

PLACES = {
    "normalizer": normalizers,
    "pre-tokenizer": pre_tokenizers,
    "model": models,
    "post-processor": processors,
    "decoder": decoders,
}
# Names in these modules that are not kinds of parts.
OTHERS = {"Normalizer", "NORMALIZERS", "PreTokenizer", "Model", "PostProcessor", "Decoder"}


def test_the_table_matches_the_library_and_the_conversion() -> None:
    # The vocabularies are bytes, characters, and pairs of 12 by 12 or 8 by 8: every fifth token
    # includes every row and every column.
    outcomes = [measure(case, token_step=1 if SLOW else 5) for case in cases()]
    assert [f"{row.case.name}: {row.difference}" for row in outcomes if row.difference] == []
    text = (ROOT / "docs" / "LIMITS.md").read_text(encoding="utf-8")
    assert written(text) == table(outcomes), "run python -m tests.parts docs/LIMITS.md"
    assert put(put(text, "|"), written(text)) == text
    assert len({row.case.name for row in outcomes}) == len(outcomes)


@pytest.mark.parametrize("place", PLACES)
def test_every_part_that_the_library_has_is_in_the_table(place: str) -> None:
    names = {name for name in dir(PLACES[place]) if name[0].isupper()} - OTHERS - {"DecodeStream"}
    assert names - {case.part for case in cases() if case.place == place} == set()


def test_a_wrongly_converted_part_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    lowercase = next(case for case in cases() if case.part == "Lowercase")
    assert measure(lowercase, strings=20) == Outcome(lowercase)
    monkeypatch.setattr(
        measuring,
        "read_tokenizer_json",
        lambda *arguments: replace(read_tokenizer_json(*arguments), normalizer=()),
    )
    outcome = measure(lowercase, strings=20)
    assert outcome.difference
    assert "differs" in table([outcome])


def test_the_command_names_a_missing_document_before_it_measures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(command, "measure")
    for words, code, shown in (["nothing.md"], 2, "'nothing.md'"), (["--help"], 0, "[DOCUMENT]"):
        outcome = CliRunner().invoke(command.parts, words)
        assert (outcome.exit_code, shown in outcome.output) == (code, True)
