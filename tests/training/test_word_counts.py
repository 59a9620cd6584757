"""Word counts as a file: every document counted once, however counting was interrupted."""

import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import zlib
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest
from command_line import Run
from construct import Container
from hypothesis import given
from hypothesis import strategies as st
from peer_trainers import words_of
from repository import ROOT
from struct_fields import fields

from tokexport.errors import FormatError, SourceError, TokexportError
from tokexport.training import (
    WordCounts,
    count_files,
    count_stream,
    join_files,
    read_word_counts,
    train_from_counts,
    train_from_iterator,
)
from tokexport.training.word_counts_file import HEADER, WORD_COUNTS

SMALL = r" ?\p{L}+|\P{L}"  # a pattern that compiles fast
TEXTS = st.lists(st.text(st.sampled_from("aab é日<|end|>") | st.characters(codec="utf-8")))


def naive(texts: list[str]) -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for text in texts:
        counts.update(words_of(text, SMALL))
    return counts


def corpus(folder: Path, count: int = 3000) -> tuple[list[Path], list[str]]:
    """Files of documents, and all documents in order."""
    rng = random.Random(5)
    words = ["the", "lighthouse", "keeper", "é", "漢字", "reads", "1234", "\n"]
    files, all_documents = [], []
    for number in range(3):
        documents = [
            " ".join([*rng.choices(words, k=rng.randrange(400)), f"word{rng.randrange(9999)}"])
            for _ in range(count // 3)
        ]
        path = folder / f"{number}.jsonl"
        lines = "".join(json.dumps({"text": text}) + "\n" for text in documents)
        path.write_text(lines, encoding="utf-8")
        files.append(path)
        all_documents += documents
    return files, all_documents


def stop(counts: WordCounts, read: int) -> None:
    raise KeyboardInterrupt


def interrupt(files: list[Path], target: Path, **options: Any) -> None:
    """Counts, and stops after the first batch."""
    with pytest.raises(KeyboardInterrupt):
        count_files(files, target, pattern=SMALL, progress=stop, **options)


@given(TEXTS, TEXTS, st.booleans())
def test_words_equal_those_of_the_texts(first: list[str], second: list[str], special: bool) -> None:
    marks = ["<|end|>", "<|"] if special else []
    counts, second_counts = (WordCounts(SMALL, marks) for _ in range(2))
    counts.add(first)
    second_counts.add([iter(text) for text in second])
    counts.join(second_counts)
    texts = [*first, *second]
    if special:
        texts = [part for text in texts for segment in text.split("<|end|>")
                 for part in segment.split("<|")]  # fmt: skip
    expected = naive(texts)
    assert dict(counts.items()) == expected
    assert counts.words == expected.total()
    assert counts.distinct_words == len(expected)
    assert counts.text_bytes == sum(len(text.encode()) for text in texts)
    # Words are in the order of the texts.
    assert [word for word, _ in counts.items()] == list(expected)


@given(TEXTS)
def test_a_file_matches_its_declaration(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("counts")
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "a.jsonl").write_text(lines, encoding="utf-8")
    count_files([folder / "a.jsonl"], folder / "w.counts", pattern=SMALL)
    data = (folder / "w.counts").read_bytes()
    parsed: Container[Any] = WORD_COUNTS.parse(data)
    assert WORD_COUNTS.build(parsed) == data
    assert parsed.crc == zlib.crc32(data[:-4])
    assert (HEADER.sizeof() + parsed.settings_size) % 8 == 0
    settings = json.loads(parsed.settings)
    assert (settings["pattern"], settings["special_tokens"]) == (SMALL, [])
    assert settings["runs"][0]["documents"] == len(texts)
    ends = [sum(parsed.lengths[:number]) for number in range(len(parsed.lengths) + 1)]
    words = [parsed.words[a:b] for a, b in pairwise(ends)]
    assert dict(zip(words, parsed.counts, strict=True)) == naive(texts)


def test_the_table_of_the_format_matches_its_declaration() -> None:
    text = (ROOT / "formats/word-counts/README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    named = [row[2].strip().strip("`") for row in rows if row[0].strip() not in ("offset", "---:")]
    assert named == [field.name for field in WORD_COUNTS.subcons]
    offsets = {row[2].strip().strip("`"): row[0].strip() for row in rows}
    assert all(offsets[name] == offset for offset, _, name, _ in fields(HEADER))


@pytest.mark.parametrize("interruptions", [1, 2, 5])
def test_an_interrupted_run_resumes(tmp_path: Path, interruptions: int) -> None:
    files, documents = corpus(tmp_path)
    options: dict[str, Any] = {"pattern": SMALL, "checkpoint_bytes": 1, "num_threads": 2}
    run = partial(count_files, files, tmp_path / "words.counts", **options)
    for _ in range(interruptions):
        with suppress(KeyboardInterrupt):
            run(progress=stop)
    counts = run()
    assert dict(counts.items()) == naive(documents)
    assert counts.runs[0].documents == len(documents)
    assert dict(run(progress=stop).items()) == dict(counts.items())  # there is nothing left to do


def test_a_repeatedly_killed_process_loses_nothing(tmp_path: Path) -> None:
    """Killed after a checkpoint, in the middle of the next batch."""
    files, documents = corpus(tmp_path)
    program = (
        "import sys; from tokexport.corpus import documents; documents.BATCH_BYTES = 1 << 17\n"
        "from tokexport.training import count_files\n"
        f"count_files(sys.argv[2:], sys.argv[1], pattern={SMALL!r}, checkpoint_bytes=1,\n"
        "    progress=lambda counts, read: print(read, flush=True))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "words.counts"), *map(str, files)]
    killed = 0
    for batches in (1, 4, 9):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(batches):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        partial = read_word_counts(tmp_path / "words.counts")
        part = documents[: partial.runs[0].documents]
        assert dict(partial.items()) == naive(part)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    counts = read_word_counts(tmp_path / "words.counts")
    assert killed >= 2
    assert dict(counts.items()) == naive(documents)
    assert counts.runs[0].complete


def test_a_second_process_does_not_write_to_the_same_counts(tmp_path: Path) -> None:
    files, documents = corpus(tmp_path)
    target, refused = tmp_path / "words.counts", 0

    def second(counts: WordCounts, read: int) -> None:
        nonlocal refused
        for run in (partial(count_files, files), partial(count_stream, [b"a"])):
            with pytest.raises(TokexportError, match="is being written by another process"):
                run(target, add=True)
        refused += 1

    count_files(files, target, pattern=SMALL, progress=second)
    assert refused
    assert dict(read_word_counts(target).items()) == naive(documents)
    assert not (tmp_path / "words.counts.lock").exists()


def test_counts_are_added_to_joined_and_learned_from(run: Run, tmp_path: Path) -> None:
    files, documents = corpus(tmp_path)
    both, first, rest, joined = (tmp_path / f"{name}.counts" for name in ("both", "1", "2", "12"))
    common = ["--pattern", SMALL, "--json"]
    assert run("count", files[0], "-o", both, "--threads", 10**30, *common).code == 0
    added = run("count", *files[1:], "-o", both, "--add", *common).values
    assert added["documents"] == len(documents)
    run("count", files[0], "-o", first, *common)
    run("count", *files[1:], "-o", rest, *common)
    outcome = run("count", first, rest, "-o", joined)
    assert f"{len(documents):,} documents" in outcome.text
    assert joined.read_bytes() == both.read_bytes()
    assert dict(read_word_counts(both).items()) == naive(documents)

    out = tmp_path / "out"
    outcome = run("train", "--counts", joined, "--vocab-size", 400, "-o", out, "--tie-break",
                  "first-seen")  # fmt: skip
    assert outcome.code == 0, outcome.stderr
    expected = train_from_iterator(documents, 400, pattern=SMALL, tie_break="first-seen")
    assert (out / "tokenizer.bin").read_bytes() == expected.to_bytes()


def test_a_file_that_is_read_twice_is_noted(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("low lower low")
    for command in ("count", "train --vocab-size 256"):
        start = [*command.split(), text, "-o", tmp_path / command[:5]]
        assert run(*start, tmp_path).stderr.startswith("note: given, and read, more than once: ")
        assert "note" not in run(*start[:-1], tmp_path / command).stderr


def test_counts_that_do_not_match_are_refused_with_a_sentence(run: Run, tmp_path: Path) -> None:
    files, _ = corpus(tmp_path, 30)
    first, second, target = tmp_path / "1.counts", tmp_path / "2.counts", tmp_path / "12.counts"
    count_files(files[:1], first, pattern=SMALL)
    before = first.read_bytes()
    for settings, words in [
        ({"pattern": "gpt2"}, "counted with the pattern"),
        ({"pattern": SMALL, "special_tokens": ["<|a|>"]}, "cut at the special token <|a|>, not at"),
        ({"pattern": SMALL}, r"0.jsonl.* is counted already"),
    ]:
        second.unlink(missing_ok=True)
        count_files(files[:1], second, **settings)  # type: ignore[arg-type]
        with pytest.raises(TokexportError, match=words):
            join_files([first, second], target)
    for inputs, options, words in [
        (files[1:], [], "holds the counts of other files; add to it"),
        (files, ["--add"], "0.jsonl.* is counted already"),
        ([Path(os.path.relpath(files[0]))], ["--add"], "0.jsonl.* is counted already"),
        (files[1:], ["--add", "--pattern", "gpt2"], "counted with the pattern"),
        ([first, files[1]], [], "only be joined with each other"),
        ([first], ["--pattern", "gpt2"], "joined without options for texts"),
        ([first], ["--field", "body"], "joined without options for texts"),
        ([second], [], "exists already; name a new file for the joined counts"),
        ([tmp_path / "none.jsonl"], [], "no such file"),
    ]:
        assert re.search(words, run("count", *inputs, "-o", first, *options).refusal)
        assert first.read_bytes() == before
    count_files(files, target, pattern=SMALL)
    twice = run("count", *files, files[0], "-o", target, "--add").refusal
    assert re.search(r"1.jsonl, \S+2.jsonl are counted already", twice)
    train = ["train", "--vocab-size", 300, "-o", tmp_path / "out"]
    assert "--counts excludes INPUT" in run(*train, files[0], "--counts", first).refusal
    assert "name texts to learn from" in run(*train).refusal


def test_options_for_texts_are_refused_with_counts_unless_there_are_held_out_texts(
    run: Run, tmp_path: Path
) -> None:
    files, _ = corpus(tmp_path, 30)
    (tmp_path / "lines.txt").write_text("one line\nanother\n")
    count_files(files, tmp_path / "w.counts", pattern=SMALL)
    command = ["train", "--counts", tmp_path / "w.counts", "--vocab-size", 300]
    for options in (["--field", "text"], ["--lines"]):
        refused = run(*command, "-o", tmp_path / "out", *options)
        assert f"--counts excludes {options[0]}" in refused.refusal
        held_out = ["--held-out", tmp_path / "lines.txt", "-o", tmp_path / options[0]]
        assert run(*command, *held_out, *options).code == 0


def test_counts_of_an_interrupted_run_are_not_learned_from(run: Run, tmp_path: Path) -> None:
    files, _ = corpus(tmp_path, 30)
    interrupt(files, tmp_path / "w.counts")
    assert not (tmp_path / "w.counts").exists()
    interrupt(files, tmp_path / "w.counts", checkpoint_bytes=1)
    counts = read_word_counts(tmp_path / "w.counts")
    with pytest.raises(TokexportError, match="interrupted after 10 documents"):
        train_from_counts(counts, 300)
    with pytest.raises(TokexportError, match="interrupted"):
        join_files([tmp_path / "w.counts"], tmp_path / "other.counts")
    train = ["train", "--vocab-size", 300, "-o", tmp_path / "out"]
    refusal = run(*train, "--counts", tmp_path / "w.counts").refusal
    assert f"{tmp_path / 'w.counts'}: counting was interrupted after 10 documents" in refusal


def test_a_failure_before_any_document_changes_no_file(run: Run, tmp_path: Path) -> None:
    path, target = tmp_path / "a.txt", tmp_path / "w.counts"
    command = ["count", path, "-o", target, "--pattern", SMALL]
    path.write_bytes(b"ab\xff")
    assert "a.txt: not UTF-8 at byte 2" in run(*command).refusal
    assert not target.exists()
    path.write_bytes(b"ab ab")
    assert run(*command).code == 0
    # What was counted before stays as it was.
    before = target.read_bytes()
    (tmp_path / "b.txt").write_bytes(b"\xff")
    assert run("count", tmp_path / "b.txt", "-o", target, "--add").code == 2
    assert target.read_bytes() == before


@pytest.mark.parametrize("add", [False, True])
def test_counts_of_files_that_have_changed_since_an_interruption_are_to_be_removed(
    tmp_path: Path, add: bool
) -> None:
    files, _ = corpus(tmp_path, 30)
    interrupt(files, tmp_path / "w.counts", checkpoint_bytes=1)
    files[2].write_text('{"text": "other"}')
    expected = r"w.counts: .*interrupted after 10 documents, .* not the same now; .* or remove .*w"
    with pytest.raises(TokexportError, match=expected):
        count_files(files, tmp_path / "w.counts", pattern=SMALL, add=add)


def test_a_changed_file_counts_as_another_file(tmp_path: Path) -> None:
    path, target = tmp_path / "a.txt", tmp_path / "w.counts"
    path.write_text("one text")
    count_files([path], target, pattern=SMALL)
    path.write_text("two text")
    with pytest.raises(TokexportError, match="counts of other files"):
        count_files([path], target, pattern=SMALL)


def test_the_threads_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 4}, raising=False)
    counts, native = WordCounts(SMALL), Mock()
    monkeypatch.setattr(counts, "native", native)
    counts.add(["one text"])
    assert native.add.mock_calls == [call(["one text"], 3)]


def test_the_tokenizer_has_the_special_tokens_of_the_counts() -> None:
    counts = WordCounts(SMALL, ["<|end|>"])
    counts.add(["ab ab<|end|>ab ab"])
    assert train_from_counts(counts, 259, special_tokens=["<|end|>"]).special_tokens
    with pytest.raises(TokexportError, match=r"cut at <\|end\|>, so these must be the special"):
        train_from_counts(counts, 259, special_tokens=["<|eot|>"])
    cut = train_from_iterator(
        ["ab ab<|end|>ab ab"], 259, pattern=SMALL, special_tokens=["<|end|>"], split_special=True
    )
    assert cut == train_from_counts(counts, 259, special_tokens=["<|end|>"])


@given(st.data())
def test_a_damaged_file_is_refused(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "a.txt").write_text("the lighthouse keeper reads")
    count_files([folder / "a.txt"], folder / "w.counts", pattern=SMALL)
    content = bytearray((folder / "w.counts").read_bytes())
    if data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    (folder / "w.counts").write_bytes(content)
    with pytest.raises(FormatError, match=r"w.counts: (damaged|not a file|it has version)"):
        read_word_counts(folder / "w.counts")
    with pytest.raises(SourceError, match="cannot be read"):
        read_word_counts(folder / "none.counts")
    with pytest.raises(TokexportError, match="is a directory; name a file in it"):
        count_files([folder / "a.txt"], folder)


@pytest.mark.parametrize(
    ("counts", "lengths", "words"),
    [
        ([1], [2], b"abc"),
        ([1, 1], [3], b"abc"),
        ([0], [3], b"abc"),
        ([1, 1], [3, 0], b"abc"),
        ([1 << 63], [3], b"abc"),
    ],
)
def test_a_file_whose_words_do_not_fit_together_is_refused(
    tmp_path: Path, counts: list[int], lengths: list[int], words: bytes
) -> None:
    """Even if its checksum is correct."""
    settings = json.dumps({"pattern": SMALL, "special_tokens": [], "ordered": True, "runs": []})
    sizes = {"settings_size": len(settings), "word_count": len(counts), "words_size": len(words)}
    content = HEADER.build({"magic": None, "version": 1, **sizes}) + settings.encode()
    content += struct.pack(f"<{len(counts)}Q{len(lengths)}I", *counts, *lengths) + words
    (tmp_path / "w.counts").write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
    with pytest.raises(FormatError, match="damaged"):
        read_word_counts(tmp_path / "w.counts")


def test_an_error_names_a_text_with_a_lone_surrogate(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "b\\ud800"}\n')
    with pytest.raises(SourceError, match=r"a.jsonl: document 2: a text has a lone surrogate"):
        count_files([tmp_path / "a.jsonl"], tmp_path / "w.counts", pattern=SMALL)


def test_an_error_names_a_row_of_parquet_that_is_not_utf8(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    offsets = pa.py_buffer(struct.pack("<3i", 0, 2, 4))
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab\xff\xfe")])
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"a.parquet: document 2: 'utf-8' codec can't decode"):
        count_files([tmp_path / "a.parquet"], tmp_path / "w.counts", pattern=SMALL)
