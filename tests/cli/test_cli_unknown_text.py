"""A text outside the vocabulary is one sentence and exit code 2, and a ValueError in Python."""

import json
from pathlib import Path

import pytest
from command_line import Run
from reader_samples import document
from references import converted

import tokexport
from tokexport.errors import TextError
from tokexport.runtime.failure import failure

MODEL = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "[UNK]"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A tokenizer with two words, whose unknown token is not in its vocabulary."""
    fields = document(pre_tokenizer={"type": "WhitespaceSplit"}, decoder=None) | {"model": MODEL}
    (tmp_path / "words.json").write_text(json.dumps(fields), encoding="utf-8")
    return tmp_path / "words.json"


@pytest.mark.parametrize(
    "arguments",
    [
        *("encode FILE TEXT", "encode FILE --offsets TEXT", "encode FILE --json TEXT"),
        *("bench FILE --seconds 0", "demo SOURCE"),
    ],
)
def test_unknown_text_is_reported_in_one_sentence_with_exit_code_2(
    arguments: str, source: Path, tmp_path: Path, run: Run, without_code_points: None
) -> None:
    file = tokexport.convert(source, tmp_path / "words.bin").target
    words = {"FILE": file, "SOURCE": source, "TEXT": "a zzz"}
    outcome = run(*(words.get(word, word) for word in arguments.split()))
    assert outcome.code == 2
    *others, last = outcome.stderr.splitlines()
    assert last.startswith(
        '{"schema_version": 2, "error"' if "--json" in arguments else "tokexport: "
    )
    assert "a part of the text is not in the vocabulary" in last
    assert all(line.startswith("note: ") for line in others)


def test_in_python_unknown_text_is_a_value_error_and_an_error_of_tokexport(source: Path) -> None:
    with pytest.raises(TextError, match="not in the vocabulary") as caught:
        converted(source).encode("zzz")
    assert isinstance(caught.value, ValueError)
    assert isinstance(failure("x.bin", -1, 0, "The text is too long."), TextError)


def test_a_file_of_words_equals_its_source(source: Path, tmp_path: Path, run: Run) -> None:
    file = tokexport.convert(source, tmp_path / "words.bin").target
    assert "no difference" in run("diff", file, source).text
    run("convert", source, "-o", file, "--decode-only", "--force")
    assert run("diff", file, source).code == 0
