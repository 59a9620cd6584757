"""A file may be a pipe, as in `tokexport inspect <(zcat tokenizer.json.gz)`."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import PathOf, Run
from repository import small_source

Pipe = Callable[[bytes], Path]


@pytest.fixture
def pipe(tmp_path: Path) -> Pipe:
    """Makes a pipe that holds some bytes."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")

    def make(content: bytes) -> Path:
        path = tmp_path / f"pipe{len(list(tmp_path.iterdir()))}"
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    return make


def test_every_command_reads_sources_and_files_from_pipes(
    run: Run, pipe: Pipe, small_file: PathOf, tmp_path: Path
) -> None:
    path = small_file("gpt2")
    file, source = path.read_bytes(), small_source("gpt2").read_bytes()
    for content in (file, source):
        given = pipe(content)
        assert run("inspect", given).text.startswith(f"{given}: ")
        assert run("diff", pipe(content), path).code == 0
    assert run("diff", pipe(file), pipe(source)).code == 0
    assert run("convert", pipe(source), "-o", tmp_path / "it.bin").code == 0
    assert (tmp_path / "it.bin").stat().st_size > 1000
    assert run("bench", pipe(file), "--seconds", 0, "--text", pipe(b"a text")).code == 0
    texts = tmp_path / "texts.txt"
    texts.write_text("a text")
    train = ["train", texts, "--vocab-size", 256, "-o", tmp_path / "out"]
    assert run(*train, "--beside", pipe(source)).code == 0


def test_an_error_names_the_pipe(run: Run, pipe: Pipe) -> None:
    for content in (b"", b"5"):
        given = pipe(content)
        assert run("inspect", given).refusal.startswith(f"tokexport: {given}: ")


def test_documents_from_a_pipe_are_refused(
    run: Run, pipe: Pipe, small_file: PathOf, tmp_path: Path
) -> None:
    for command in (["count"], ["tokenize", small_file("gpt2")]):
        refused = run(*command, pipe(b"a text"), "-o", tmp_path / "out")
        assert "this is a pipe or standard input" in refused.refusal
