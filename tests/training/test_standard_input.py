"""Standard input is counted and learned from like a file with the same content."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run
from hypothesis import given
from hypothesis import strategies as st

from tokexport.training import count_files, count_stream, read_word_counts

SMALL = r" ?\p{L}+|\P{L}"  # a pattern that compiles fast
WORDS = st.text(
    st.sampled_from("aab é日\t\r") | st.characters(codec="utf-8", exclude_characters="\n")
)
KINDS: dict[str, dict[str, Any]] = {
    "text": {},
    "lines": {"lines": True},
    "lines of JSON": {"field": "body"},
}


@pytest.mark.parametrize("kind", KINDS)
@given(
    texts=st.lists(WORDS, min_size=1),
    size=st.integers(1, 30),
    doc_cap=st.none() | st.integers(1, 9),
    max_chars=st.none() | st.integers(1, 30),
)
def test_a_stream_has_the_words_of_a_file(
    tmp_path_factory: pytest.TempPathFactory,
    kind: str,
    texts: list[str],
    size: int,
    doc_cap: int | None,
    max_chars: int | None,
) -> None:
    folder = tmp_path_factory.mktemp("stream")
    if kind == "lines of JSON":
        data = "".join(json.dumps({"body": text}) + "\n" for text in texts).encode()
    else:
        data = "\n".join(texts).encode()
    path = folder / ("a.jsonl" if kind == "lines of JSON" else "a.txt")
    path.write_bytes(data)
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    caps: dict[str, Any] = {"doc_cap": doc_cap, "max_chars": max_chars}
    counts = count_stream(parts, folder / "s.counts", pattern=SMALL, **KINDS[kind], **caps)
    if kind == "text" and max_chars is not None:  # the only document is cut there
        caps = {"doc_cap": min(doc_cap or max_chars, max_chars), "max_chars": None}
    expected = count_files([path], folder / "f.counts", pattern=SMALL, **KINDS[kind], **caps)
    assert [*counts.items()] == [*expected.items()]
    assert counts.runs[0].documents == expected.runs[0].documents
    assert [*read_word_counts(folder / "s.counts").items()] == [*expected.items()]


def test_the_commands_read_standard_input_in_three_forms(run: Run, tmp_path: Path) -> None:
    texts = ["low lower lowest", "low é", "newest"]
    lines = "".join(json.dumps({"body": text}) + "\n" for text in texts).encode()
    for name, data, options in [
        ("a.txt", "\n".join(texts).encode(), []),
        ("b.txt", "\n".join(texts).encode(), ["--lines"]),
        ("c.jsonl", lines, ["--field", "body"]),
    ]:
        (tmp_path / name).write_bytes(data)
        streamed, counted = tmp_path / f"{name}.s.counts", tmp_path / f"{name}.counts"
        piped = run("count", "-", "-o", streamed, *options, "--json", stdin=data)
        assert piped.values["documents"] == (3 if options else 1)
        run("count", tmp_path / name, "-o", counted, *options)
        folders = [tmp_path / f"{name}.{number}" for number in range(4)]
        common = ["--vocab-size", 262]
        run("train", "-", *options, *common, "-o", folders[0], stdin=data)
        run("train", tmp_path / name, *options, *common, "-o", folders[1])
        run("train", "--counts", streamed, *common, "-o", folders[2])
        run("train", "--counts", counted, *common, "-o", folders[3])
        first, *rest = [(folder / "tokenizer.bin").read_bytes() for folder in folders]
        assert rest == [first] * 3


def test_counts_and_held_out_texts_may_be_standard_input(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    text, counts = tmp_path / "a.txt", tmp_path / "a.counts"
    text.write_text("low lower lowest")
    run("count", text, "-o", counts)
    command = ["train", "--vocab-size", 262, "--json", "--force", "-o", tmp_path / "out"]
    by_file = run(*command, "--counts", counts, "--held-out", text).text
    assert json.loads(by_file)["bytes_per_token"][0]["held_out"] > 1
    by_counts = [*command, "--counts", "-", "--held-out", text]
    assert run(*by_counts, stdin=counts.read_bytes()).text == by_file
    held_out = [*command, "--counts", counts, "--held-out", "-"]
    assert run(*held_out, stdin=text.read_bytes()).text == by_file
    assert run(*command, text, "--held-out", "-", stdin=b"a\xff").code == 2
    file, twice = small_file("gpt2").read_bytes(), "standard input can only be read once"
    for once, content in (
        (["-"], b""),
        (["--counts", "-"], counts.read_bytes()),
        ([text, "--beside", "-"], file),
    ):
        assert twice in run(*command, *once, "--held-out", "-", stdin=content).refusal
    assert twice in run(*command, "-", "--lines", "--beside", "-", stdin=file).refusal
    beside = run(*command, text, "--beside", "-", stdin=file).text
    assert json.loads(beside)["bytes_per_token"][1]["tokenizer"] == "standard input"


def test_standard_input_is_added_to_counts_once(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "w.counts"
    assert run("count", "-", "-o", target, stdin=b"low low").code == 0
    before = target.read_bytes()
    for options, stdin, message in [
        ([], b"low", "counts of other files; add to it (--add), or name another\n"),
        (["--add"], b"low low", "standard input is counted already, with the same content"),
        (["--add", "--pattern", "gpt2"], b"low", "counted with the pattern"),
        (["--add", "--lines"], b"a\n\xff", "standard input:2: not UTF-8"),
        (["--add"], b"a\xff", "standard input: not UTF-8 at byte 1; convert it to UTF-8"),
        (["--add"], "é".encode() * 300_000 + b"\xc3", "standard input: not UTF-8 at byte 600,000"),
        (["--add", "--field", "text"], b'{"body": "a"}', "no text in the field 'text'"),
        (["--add", "--field", "text", "--lines"], b"a", "either lines of text (--lines) or"),
    ]:
        assert message in run("count", "-", "-o", target, *options, stdin=stdin).refusal
        assert target.read_bytes() == before
    assert run("count", "-", "-o", target, "--add", stdin=b"low").code == 0
    assert dict(read_word_counts(target).items()) == {b"low": 2, b" low": 1}


def test_standard_input_is_not_combined_with_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    for command in (
        ["count", "-o", tmp_path / "w.counts"],
        ["train", "--vocab-size", 260, "-o", tmp_path / "out"],
    ):
        refused = run(*command, "-", tmp_path / "a.txt", stdin=b"low")
        assert "standard input (-) cannot be combined with files" in refused.refusal


def test_an_interrupted_run_counts_nothing(tmp_path: Path) -> None:
    target = tmp_path / "w.counts"
    count_stream([b"low low"], target, pattern=SMALL)
    before = target.read_bytes()
    program = (
        "import sys; from tokexport.training import count_stream\n"
        "parts = iter(lambda: sys.stdin.buffer.read1(1 << 16), b'')\n"
        f"count_stream(parts, sys.argv[1], pattern={SMALL!r}, lines=True, add=True,\n"
        "    progress=lambda counts, read: print(counts.words, flush=True))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(200):
        process.stdin.write(b"the lighthouse keeper\n" * 10_000)
    assert int(process.stdout.readline()) > 100_000
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert target.read_bytes() == before
