"""Standard input becomes the shards of a file with the same content, or no shards at all."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run

TEXTS = ["low lower lowest", "low é", "", "newest"]
LINES = "\n".join(TEXTS).encode()
JSON_LINES = "".join(json.dumps({"body": text}) + "\n" for text in TEXTS).encode()


def contents(folder: Path) -> dict[str, Any]:
    """The files of a folder, and its index without the names of the files read."""
    index = json.loads((folder / "index.json").read_bytes())
    del index["settings"]
    files = [path for path in folder.iterdir() if path.suffix != ".json"]
    return {path.name: path.read_bytes() for path in files} | {"index": index}


@pytest.mark.parametrize(
    ("name", "data", "options", "count"),
    [
        ("a.txt", LINES, [], 1),
        ("a.txt", LINES, ["--lines", "--shard-tokens", 2], 3),
        ("a.jsonl", JSON_LINES, ["--field", "body", "--header", "llm.c", "--begin", "none"], 4),
        ("a.txt", b"", ["--lines"], 0),
    ],
)
def test_the_shards_are_those_of_a_file(
    name: str,
    data: bytes,
    options: list[object],
    count: int,
    run: Run,
    small_file: PathOf,
    tmp_path: Path,
) -> None:
    (tmp_path / name).write_bytes(data)
    command = ["tokenize", small_file("gpt2"), *options]
    assert run(*command, tmp_path / name, "-o", tmp_path / "file").code == 0
    piped = run(*command, "-", "-o", tmp_path / "piped", "--json", stdin=data).values
    assert piped["documents"] == count
    assert contents(tmp_path / "piped") == contents(tmp_path / "file")


def test_a_folder_with_shards_is_not_resumed_or_replaced(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    command = ["tokenize", small_file("gpt2"), "-", "--lines", "--shard-tokens", 100_000]
    command += ["-o", tmp_path / "out"]
    for broken in (b"\xff", b"low\n" * 300_000 + b"\xff"):  # before, and after the first shard
        refusal = run(*command, stdin=broken).refusal
        assert "standard input:" in refusal
        assert "not UTF-8" in refusal
    before = contents(tmp_path / "out")
    assert before["index"]["shards"]
    assert run(*command, stdin=b"low").refusal.endswith(
        "out has shards of another run, and standard input cannot be resumed; name another folder,"
        " or remove it\n"
    )
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("FILE - TEXT", "with files; name only files, or send all texts to standard input"),
        ("FILE - --lines --field text", "either lines of text (--lines) or lines of JSON"),
        ("- -", "standard input can only be read once"),
    ],
)
def test_other_uses_of_standard_input_are_refused(
    words: str, reason: str, run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("low")
    names = {"FILE": small_file("gpt2"), "TEXT": tmp_path / "a.txt"}
    given = [names.get(word, word) for word in words.split()]
    content = small_file("gpt2").read_bytes()
    assert reason in run("tokenize", *given, "-o", tmp_path / "out", stdin=content).refusal
    assert not (tmp_path / "out").exists()
