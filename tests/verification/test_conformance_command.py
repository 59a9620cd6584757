"""python -m tests.conformance compares every tokenizer under a folder, and prints one table."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner, Result
from conformance import __main__ as commands
from conformance.find import Found, Other, find
from conformance.isolated import measure_all
from conformance.measure import Job, Outcome, measure
from conformance.table import cell, report, unicode_version
from conformance.vectors import Vectors, compare_vectors
from references import converted, reference_for
from repository import ROOT, SMALL

import tokexport
from tokexport.sources.sentencepiece.proto import Piece, PieceType, SentencePieceModel, serialize

PATTERN = "*/ranks.tiktoken=cl100k_base"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two tokenizers, a refused one, a broken one, and other files."""
    root = tmp_path / "tokenizers"
    for name in ("one", "two", "refused", "broken"):
        (root / name).mkdir(parents=True)
    shutil.copy(SMALL / "gpt2.json", root / "one" / "tokenizer.json")
    shutil.copy(SMALL / "ranks.tiktoken", root / "two" / "ranks.tiktoken")
    document = json.loads((SMALL / "gpt2.json").read_text("utf-8"))
    document["model"]["dropout"] = 0.5
    (root / "refused" / "anything.json").write_text(json.dumps(document), "utf-8")
    (root / "broken" / "tokenizer.json").write_text('{"model":', "utf-8")
    (root / "one" / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2"}', "utf-8")
    (root / "README.txt").write_text("some words\nmore of these words\n", "utf-8")
    (root / ".hidden").mkdir()
    shutil.copy(SMALL / "gpt2.json", root / ".hidden" / "tokenizer.json")
    return root


def conformance(folder: Path, options: str = "", *extra: object) -> Result:
    """Runs the command, which measures in separate processes."""
    arguments = [str(folder), *options.split(), *map(str, extra)]
    return CliRunner().invoke(commands.conformance, arguments, catch_exceptions=False)


def test_tokenizers_are_found_by_their_content(folder: Path) -> None:
    found, others = find(folder, [("*/ranks.tiktoken", "cl100k_base")])
    assert found == [
        Found("broken/tokenizer.json"),
        Found("one/tokenizer.json"),
        Found("refused/anything.json"),
        Found("two/ranks.tiktoken", "cl100k_base"),
    ]
    assert others == [
        Other("README.txt", "text that is not a vocabulary"),
        Other("one/tokenizer_config.json", "a tokenizer_config.json"),
    ]


def test_a_vocabulary_with_merges_is_one_tokenizer_but_ids_alone_are_not(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0}', "utf-8")
    (tmp_path / "added_tokens.json").write_text('{"<x>": 1}', "utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", "utf-8")
    found, others = find(tmp_path)
    assert found == [Found("vocab.json")]
    assert [other.name for other in others] == ["added_tokens.json", "merges.txt"]


def test_ranks_are_found_once_for_each_matching_pattern(tmp_path: Path) -> None:
    shutil.copy(SMALL / "ranks.tiktoken", tmp_path / "o200k_base.tiktoken")
    assert find(tmp_path)[0] == [
        Found("o200k_base.tiktoken", "o200k_base"),
        Found("o200k_base.tiktoken", "o200k_harmony"),
    ]
    assert find(tmp_path, [("o200k*", "gpt2")])[0] == [Found("o200k_base.tiktoken", "gpt2")]


def test_the_command_compares_each_and_prints_one_table(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "CONFORMANCE.md"
    text = tmp_path / "text.txt"
    text.write_text("Hello,\nworld\n", "utf-8")
    words = f"-m tests.conformance {folder} --strings 40 --no-code-points --pattern {PATTERN}"
    command = [sys.executable, *words.split(), "--texts", str(text), "-o", str(target)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    lines = target.read_text("utf-8").splitlines()
    rows = {line[2:].partition(" |")[0]: line for line in lines if line.startswith("| ")}
    assert rows["one/tokenizer.json"].endswith("| 0 |")
    assert rows["two/ranks.tiktoken (cl100k_base)"].endswith("| 0 |")
    refusal = "refused/anything.json: model.dropout: a dropout of 0.5 is not supported"
    assert refusal in rows["refused/anything.json"]
    assert "4 tokenizers: 2 without a difference, 2 refused." in "\n".join(lines)
    assert str(tmp_path) not in target.read_text("utf-8")
    assert f"- tokexport {tokexport.__version__}" in lines


def test_the_table_does_not_depend_on_the_number_of_jobs(folder: Path) -> None:
    options = f"--strings 10 --pattern {PATTERN} --no-code-points --only one/* --only two/*"
    single, parallel = (conformance(folder, f"{options} --jobs {jobs}") for jobs in (1, 3))
    assert single.stdout == parallel.stdout
    assert single.stdout


def test_json_has_the_numbers_of_every_tokenizer(folder: Path) -> None:
    run = conformance(folder, "--strings 40 --json --only one/* --no-code-points")
    (row,) = json.loads(run.stdout)["tokenizers"]
    source = folder / "one" / "tokenizer.json"
    model = tokexport.convert(source, folder / "it.bin")
    assert (row["state"], row["differences"], row["model"]) == ("same", 0, "BPE, bytes")
    assert (row["source_size"], row["size"]) == (source.stat().st_size, model.size)
    assert row["ids"] == len(model.model.tokens)
    assert row["compared"] > row["strings"] > 40


def write_vectors(directory: Path, vectors: list[dict[str, object]]) -> Path:
    directory.mkdir()
    with gzip.open(directory / "one.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(vector) + "\n" for vector in vectors)
    return directory


def test_vectors_the_library_does_not_confirm_are_skipped(folder: Path, tmp_path: Path) -> None:
    ids = converted(folder / "one" / "tokenizer.json").encode("Hello")
    right = {"text": "Hello", "ids": ids, "add_special": False, "ref": "hf:one"}
    of_another_text = {**right, "ids": [1, 2, 3]}
    of_another_file = {**of_another_text, "ref": "sp:one/tokenizer.model"}
    directory = write_vectors(tmp_path / "vectors", [right, of_another_text, of_another_file])
    options = "--strings 0 --only one/* --json --no-code-points"
    run = conformance(folder, options, "--vectors", directory)
    (row,) = json.loads(run.stdout)["tokenizers"]
    assert run.exit_code == 0
    assert row["differences"] == 0
    assert row["vectors"] == {"compared": 1, "differing": 0, "first": "", "disowned": 1}
    assert any(note.startswith("left out") and note.endswith(": 1 vector") for note in row["notes"])


def test_a_confirmed_vector_that_the_file_does_not_reproduce_is_a_difference(
    folder: Path, tmp_path: Path
) -> None:
    source = folder / "one" / "tokenizer.json"
    fields = json.loads(source.read_text(encoding="utf-8"))
    fields["added_tokens"] = []
    fields["model"]["merges"] = []
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), encoding="utf-8")
    tokenizer = converted(tmp_path / "tokenizer.json", self_test=False)
    reference = reference_for(source)
    ids = reference.encode("Hello", True)
    vector = {"text": "Hello", "ids": ids, "add_special": False, "ref": "hf:one"}
    directory = write_vectors(tmp_path / "vectors", [vector])
    result = compare_vectors(tokenizer, reference, directory, Found("one/tokenizer.json"))
    assert (result.compared, result.differing, result.disowned) == (1, 1, 0)
    assert result.first.startswith("'Hello': expected")


def test_bos_is_requested_from_a_library_without_a_post_processor(tmp_path: Path) -> None:
    kinds = {"<unk>": PieceType.UNKNOWN, "<s>": PieceType.CONTROL}
    pieces = *(Piece(name, 0.0, kind) for name, kind in kinds.items()), Piece("\u2581a", -1.0)
    source = tmp_path / "one" / "tokenizer.model"
    source.parent.mkdir()
    source.write_bytes(serialize(SentencePieceModel("tokenizer.model", pieces)))
    vector = {"text": "a", "ids": [1, 2], "add_special": True, "ref": "sp:one/tokenizer.model"}
    without_bos = {**vector, "ids": [2]}
    of_another_text = {**vector, "ids": [2], "add_special": False, "text": "a a"}
    directory = write_vectors(tmp_path / "vectors", [vector, without_bos, of_another_text])
    pair = converted(source), reference_for(source)
    result = compare_vectors(*pair, directory, Found("one/tokenizer.model"))
    assert result == Vectors(1, 0, "", 2)


def test_a_folder_without_a_tokenizer_is_a_failure(tmp_path: Path) -> None:
    run = conformance(tmp_path)
    assert (run.exit_code, run.stdout) == (2, "")
    assert "no tokenizer" in run.stderr


class EndsTheProcess:
    """An argument that ends the process that receives it."""

    def __reduce__(self) -> tuple[Callable[[int], NoReturn], tuple[int]]:
        return os._exit, (77,)


def test_a_crash_does_not_stop_the_run(folder: Path) -> None:
    found = Found("one/tokenizer.json")
    no_path: Any = 5
    dead: Any = EndsTheProcess()
    jobs = [
        Job(folder, found, 10, 0, texts=(no_path,), code_points=False),
        Job(folder, found, 10, 0, vectors=dead),
        Job(folder, found, 10, 0, code_points=False),
    ]
    raised, died, same = measure_all(jobs, 2)
    assert (raised.state, died.state, same.state) == ("crashed", "crashed", "same")
    assert "TypeError" in raised.sentence
    assert "77" in died.sentence


def test_a_difference_is_counted_and_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokexport.sources.tokenizer_json.reference import TokenizersReference

    encode = TokenizersReference.encode_batch

    def changed(self: TokenizersReference, texts: list[str], mode: Any) -> list[list[int]]:
        return [[*ids, 0] if ids[:1] == [5] else ids for ids in encode(self, texts, mode)]

    monkeypatch.setattr(TokenizersReference, "encode_batch", changed)
    outcome = measure(Job(folder, Found("one/tokenizer.json"), 200, 0, code_points=False))
    assert outcome.state == "differs"
    assert outcome.differences > 0
    assert "first difference" in outcome.sentence
    assert f"**{outcome.differences:,}**" in report([outcome], [], "it")


def test_a_table_has_every_state_and_no_cell_breaks_it() -> None:
    states = ("same", "differs", "refused", "not compared", "crashed")
    sentence, vectors = "a | b\nc" * 200, Vectors(1, 0)
    outcomes = [Outcome(state, "", state, sentence, vectors=vectors) for state in states]
    document = report(outcomes, [Other("x", "y | z")], "it")
    rows = [line for line in document.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(states)
    assert {row.replace("\\|", "").count("|") for row in rows} == {11}
    assert "1 crashed" in document
    assert len(cell("x" * 10_000)) < 1000


def test_there_is_one_unicode_version() -> None:
    assert unicode_version().endswith(".0")
    assert int(unicode_version()[:-2]) >= 16
