"""tokexport verify: no differences for a right file; for a wrong one, the first difference."""

import json
from functools import partial
from pathlib import Path

import pytest
from command_line import PathOf, Run
from repository import small_source

pytestmark = pytest.mark.usefixtures("without_code_points")


@pytest.fixture
def verify(run: Run, small_file: PathOf) -> Run:
    """Verifies the file of gpt2 against a source."""
    return partial(run, "verify", small_file("gpt2"), "--against")


@pytest.fixture
def other_source(tmp_path: Path) -> Path:
    """gpt2's tokenizer.json without one of its merges."""
    source = json.loads(small_source("gpt2").read_text(encoding="utf-8"))
    del source["model"]["merges"][20]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return path


def test_a_correct_file_exits_with_0_and_shows_counts(verify: Run) -> None:
    outcome = verify(small_source("gpt2"), "--strings", 500)
    assert (outcome.code, outcome.stderr) == (0, "")
    assert "no differences" in outcome.text
    result = verify(small_source("gpt2"), "--strings", 500, "--json").values
    assert result["ok"] is True
    assert result["compared"] == sum(result["counts"].values()) > 500


def test_a_difference_exits_with_1_and_can_be_reproduced(verify: Run, other_source: Path) -> None:
    outcome = verify(other_source, "--strings", 500)
    assert outcome.code == 1
    assert "first difference" in outcome.text
    assert "--only" in outcome.text
    first = verify(other_source, "--strings", 500, "--json").values["first"]
    again = verify(other_source, "--only", first["key"], "--json")
    assert again.code == 1
    assert again.values["first"]["text"] == first["text"]


def test_a_quick_run_is_small_and_notes_another_source(verify: Run, other_source: Path) -> None:
    right = verify(small_source("gpt2"), "--quick", "--json")
    result = right.values
    assert (right.code, result["ok"]) == (0, True)
    assert 500 < sum(n for name, n in result["counts"].items() if name.startswith("strings")) < 4000
    assert any("--quick" in note for note in result["notes"])
    outcome = verify(other_source, "--quick", "--jobs", 2)
    assert outcome.code == 1
    assert outcome.stderr.startswith("note: ")
    assert "not what the file was made from" in outcome.stderr
    first = verify(other_source, "--quick", "--json").values["first"]
    assert "--quick --seed 0 --only" in first["reproduce"][0]  # strings are of other tokens
    quiet = verify(other_source, "--quick", "-q")
    assert (quiet.code, quiet.stdout, quiet.stderr) == (1, b"", "")


def test_texts_are_compared_as_well(verify: Run, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The ferry left.\n" * 20, encoding="ascii")
    options = ("--strings", 0, "--json")
    without = verify(small_source("gpt2"), *options).values["compared"]
    more = verify(small_source("gpt2"), *options, "--text", tmp_path / "text.txt")
    assert more.values["compared"] > without
