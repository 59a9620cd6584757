"""Documents become shards: every document once and in order, with exactly its ids."""

import gzip
import json
import lzma
import random
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import golden_files
import numpy as np
import pytest
import tiktoken
from command_line import Run
from hypothesis import given
from hypothesis import strategies as st
from references import converted
from runtime_samples import content, tokenizer

from tokexport.corpus import Index, read_index, shards, tokenize
from tokexport.corpus.shards import LLMC_HEADER, ShardWriter
from tokexport.errors import SourceError, TokexportError
from tokexport.output import replacing

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SUBJECT = tokenizer("ranks")
DOCUMENTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=25)


def write_file(path: Path, kind: str, documents: list[str]) -> None:
    """Writes a file of documents in the simplest way."""
    lines = "".join(json.dumps({"id": 1, "text": text}) + "\n" for text in documents).encode()
    if kind == ".parquet":
        table = pa.table({"text": pa.array(documents, pa.string()), "n": range(len(documents))})
        pq.write_table(table, path, row_group_size=7)
        return
    compress = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": pa.Codec("zstd").compress}
    path.write_bytes(bytes(compress.get(path.suffix, bytes)(lines)))


def documents_of(folder: Path) -> list[list[int]]:
    """The documents as a training run reads them, with numpy alone."""
    index = json.loads((folder / "index.json").read_text())
    documents = []
    for shard in index["shards"]:
        skipped = 1024 if index["header"] == "llm.c" else 0
        ids = np.fromfile(folder / shard["file"], index["dtype"], offset=skipped)
        ends = np.fromfile((folder / shard["file"]).with_suffix(".idx"), np.uint64)
        assert (len(ids), len(ends)) == (shard["tokens"], shard["documents"] + 1)
        documents += [ids[a:b].tolist() for a, b in pairwise(ends)]
    return documents


def expected(
    documents: list[str], begin: int | None = None, end: int | None = None
) -> list[list[int]]:
    ids = [[begin, *SUBJECT.encode(text), end] for text in documents]
    return [[id for id in document if id is not None] for document in ids]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([".jsonl", ".jsonl.gz", ".ndjson.xz", ".jsonl.zst", ".parquet"]),
            DOCUMENTS,
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 300),
    st.sampled_from([None, 300]),
    st.sampled_from([None, 7]),
    st.sampled_from(["none", "llm.c"]),
    st.integers(0, 3),
)
def test_each_document_occurs_once_even_after_interruptions(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[tuple[str, list[str]]],
    shard_tokens: int,
    begin: int | None,
    end: int | None,
    header: Any,
    interruptions: int,
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / f"{number}{kind}" for number, (kind, _) in enumerate(files)]
    for path, (kind, documents) in zip(paths, files, strict=True):
        write_file(path, kind, documents)

    class KilledError(Exception):
        pass

    calls = 0

    def interrupt(read: int, tokens: int) -> None:
        nonlocal calls
        calls += 1
        if calls == interruptions:
            raise KilledError

    def run() -> Index:
        return tokenize(
            paths, SUBJECT, folder / "out", begin=begin, end=end, header=header,
            shard_tokens=shard_tokens, dtype="uint32", num_threads=1, progress=interrupt,
        )  # fmt: skip

    try:
        index = run()
    except KilledError:
        index = run()
    texts = [text for _, documents in files for text in documents]
    assert documents_of(folder / "out") == expected(texts, begin, end)
    assert (index.complete, index.documents) == (True, len(texts))
    assert index == read_index(folder / "out") == run()
    for shard in index.shards[:-1]:
        assert shard.tokens >= shard_tokens
    for shard in index.shards:
        if header == "llm.c":
            parsed = LLMC_HEADER.parse((folder / "out" / shard.file).read_bytes()[:1024])
            assert (parsed.magic, parsed.version, parsed.token_count) == (20240801, 7, shard.tokens)


def test_a_text_file_is_one_document_or_one_per_line(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "b").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"the light\r\n\nhouse\n")
    (folder / "b" / "c.txt.gz").write_bytes(gzip.compress("é\x85ü".encode()))
    (folder / "b" / "read.me").write_bytes(b"\xff")
    tokenize([folder], SUBJECT, tmp_path / "files")
    assert documents_of(tmp_path / "files") == expected(["the light\r\n\nhouse\n", "é\x85ü"])
    tokenize([folder], SUBJECT, tmp_path / "lines", lines=True)
    assert documents_of(tmp_path / "lines") == expected(["the light", "house", "é\x85ü"])


def test_a_document_too_long_to_hold_is_encoded_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokexport.corpus.documents.LONG_BYTES", 1 << 20)
    texts = ["first", "the lighthouse é " * 200_000, "last"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    index = tokenize(files, SUBJECT, tmp_path / "out", begin=1, end=2, shard_tokens=10)
    assert documents_of(tmp_path / "out") == expected(texts, 1, 2)
    assert len(index.shards) == 2


def test_a_long_document_without_ids_is_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokexport.corpus.documents.LONG_BYTES", 1 << 20)
    (tmp_path / "long.txt").write_text("\x01" * (3 << 20))
    tokenize([tmp_path / "long.txt"], tokenizer("bytes_missing"), tmp_path / "out")
    assert documents_of(tmp_path / "out") == [[]]


def test_the_command_says_which_ids_are_around_each_document(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.bin").write_bytes(content("ranks"))
    (tmp_path / "a.txt").write_text("the light")
    command = ["tokenize", tmp_path / "t.bin", tmp_path / "a.txt", "--json", "-o"]
    begin, end = (SUBJECT.encode_single_token(token) for token in ("<|bos|>", "<|end|>"))
    for options, ids in (
        (["--begin", "<|bos|>"], [begin, None]),
        (["--begin", "none", "--end", "<|end|>"], [None, end]),
    ):
        out = tmp_path / str(len(options))
        answer = run(*command, out, *options).values
        assert [answer["begin"], answer["end"]] == ids
        assert documents_of(out) == expected(["the light"], *ids)


def test_the_command_notes_a_first_id_without_text_and_a_file_that_is_read_twice(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("the light")
    file = golden_files.FOLDER / "sums-anew.bin"
    done = run("tokenize", file, tmp_path, tmp_path / "a.txt", "-o", tmp_path / "out")
    assert "note: each document begins with id 12; for none" in done.stderr
    assert f"note: given, and read, more than once: {tmp_path / 'a.txt'}\n" in done.stderr


def test_a_repeatedly_killed_process_produces_the_same_files(tmp_path: Path) -> None:
    rng = random.Random(5)
    words = ["the", "lighthouse", "keeper", "é", "漢字", "reads", "1234", "\n"]
    documents = [" ".join(rng.choices(words, k=rng.randrange(400))) for _ in range(6000)]
    for number in range(3):
        write_file(tmp_path / f"{number}.jsonl", ".jsonl", documents[number::3])
    (tmp_path / "t.bin").write_bytes(content("ranks"))

    def command(out: str) -> list[str]:
        files = [str(tmp_path / f"{number}.jsonl") for number in range(3)]
        program = [sys.executable, "-m", "tokexport", "tokenize", str(tmp_path / "t.bin"), *files]
        return [*program, "-o", str(tmp_path / out), "--shard-tokens", "100000", "-q"]

    subprocess.run(command("whole"), check=True)
    shards = len(list((tmp_path / "whole").glob("*.bin")))
    killed = 0
    for round_ in range(1, 6):
        process = subprocess.Popen(command("killed"))
        while process.poll() is None:
            if len(list((tmp_path / "killed").glob("*.bin"))) >= round_ * shards // 7:
                time.sleep(rng.uniform(0, 0.01))
                process.send_signal(signal.SIGKILL)
                killed += 1
                break
        process.wait()
    subprocess.run(command("killed"), check=True)
    assert killed >= 3
    for name in sorted(path.name for path in (tmp_path / "whole").iterdir()):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()


def test_an_index_is_written_for_each_hundredth_more_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{number}" for number in range(900)]
    write_file(tmp_path / "a.jsonl", ".jsonl", texts)
    written: list[Path] = []
    closed = ShardWriter.close_shard

    def recorded(path: Path) -> AbstractContextManager[BinaryIO]:
        written.append(path)
        return replacing(path)

    def close_shard(self: ShardWriter, *position: Any, complete: bool = False) -> None:
        closed(self, *position, complete=complete)
        if len(self.index.shards) == 700 and not complete and not kept:
            raise KeyboardInterrupt

    monkeypatch.setattr(shards, "replacing", recorded)
    monkeypatch.setattr(ShardWriter, "close_shard", close_shard)

    kept: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        tokenize([tmp_path / "a.jsonl"], SUBJECT, tmp_path / "out", shard_tokens=1)
    index = read_index(tmp_path / "out")
    assert index is not None
    kept += [shard.file for shard in index.shards]
    assert 693 <= len(kept) < 700
    del written[:]
    tokenize([tmp_path / "a.jsonl"], SUBJECT, tmp_path / "out", shard_tokens=1)
    assert documents_of(tmp_path / "out") == expected(texts)
    names = [path.with_suffix(".bin").name for path in written if path.suffix == ".idx"]
    assert not {*kept} & {*names}
    assert sum(path.name == "index.json" for path in written) < 40


def test_the_ids_of_files_that_have_changed_are_not_kept(tmp_path: Path) -> None:
    """Not even if their sizes are the same."""
    write_file(tmp_path / "a.jsonl", ".jsonl", ["the light", "house"])
    tokenize([tmp_path / "a.jsonl"], SUBJECT, tmp_path / "out")
    write_file(tmp_path / "a.jsonl", ".jsonl", ["the night", "house"])
    with pytest.raises(TokexportError, match=r"other settings \(files\); name another folder, or"):
        tokenize([tmp_path / "a.jsonl"], SUBJECT, tmp_path / "out")


def test_a_second_process_does_not_write_to_the_same_folder(tmp_path: Path) -> None:
    write_file(tmp_path / "a.jsonl", ".jsonl", ["the light", "house"])
    refused = 0

    def run(read: int = 0, tokens: int = 0) -> None:
        tokenize([tmp_path / "a.jsonl"], SUBJECT, tmp_path / "out", progress=second)

    def second(read: int, tokens: int) -> None:
        nonlocal refused
        with pytest.raises(TokexportError, match="out is being written by another process; wait"):
            run()
        refused += 1

    run()
    assert refused
    assert documents_of(tmp_path / "out") == expected(["the light", "house"])
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".bin", ".idx", ".json"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", b'{"text": "a"}\n{"body": "b"}\n', "a.jsonl:2: no text in .* 'text': .*body"),
        ("a.jsonl", b"[]\n", "not an object"),
        ("a.jsonl", b'{"text": 5}', "a.jsonl:1: the field 'text' is a number, not a string; name"),
        ("a.jsonl", b'{"text": null}', "the field 'text' is null, not a string"),
        ("a.jsonl", b'{"text": [false]}', "the field 'text' is a list, not a string"),
        ("a.jsonl", b'{"text": true}', "the field 'text' is true or false, not a string"),
        ("a.jsonl", b'\n{"text"\n', "a.jsonl:2: not a line of JSON at column 8: Expecting"),
        ("a.jsonl", b'\n{"text": "\xff"}', "a.jsonl:2: not UTF-8 at byte 10 of the line"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\\ud800"}', "document 2: .*surrogate.*; rem"),
        ("a.txt", b"ab\xff", "a.txt: not UTF-8 at byte 2"),
        ("a.txt.gz", b"no gzip", "a.txt.gz: cannot be decompressed"),
        ("a.txt.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff", "a.txt.gz: cannot be decomp"),
        ("a.txt.bz2", b"BZh9 no", "a.txt.bz2: cannot be decompressed"),
        ("a.txt.xz", b"no xz", "a.txt.xz: cannot be decompressed"),
        ("a.txt.zst", b"no zstd", "a.txt.zst: cannot be decompressed"),
        ("a.parquet", b"PAR1 no PAR1", "a.parquet: "),
        ("a.parquet", b"no parquet", "a.parquet: not a readable parquet file"),
        ("a.csv", b"a,b", "a.csv: this kind of file is not supported"),
    ],
)  # fmt: skip
def test_an_invalid_document_is_refused_with_its_location(
    name: str, text: bytes, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(text)
    strict = tokenizer("gpt2")
    with pytest.raises(SourceError, match=words):
        tokenize([tmp_path / name], strict, tmp_path / "out")


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("n", "the column 'n' is of type int64, not string; name .* --field, or cast this"),
        ("tags", "the column 'tags' is of type list<.*>, not string; name"),
        ("gap", "column 'gap' has rows without a text, the first after row 0; drop them"),
        ("body", "no columns are named 'body': its columns are n, tags, gap, same, same; name the"),
        ("same", "2 columns are named 'same': its columns are n, tags, gap, same, same; name the"),
    ],
)
def test_a_column_that_is_missing_or_no_text_is_named_with_its_file_and_type(
    field: str, reason: str, tmp_path: Path
) -> None:
    text = pa.array(["a", None])
    columns = [pa.array([1, 2]), pa.array([["a"], []]), text, text, text]
    names = ["n", "tags", "gap", "same", "same"]
    pq.write_table(pa.table(columns, names), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=rf"a\.parquet: {reason}"):
        tokenize([tmp_path / "a.parquet"], SUBJECT, tmp_path / "out", field=field)


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_file(path, ".parquet", ["the light", "house"] * 20)
    whole, refused = path.read_bytes(), 0
    for start in range(4, len(whole) - 8, 7):
        damaged = bytes(byte ^ 0x5A for byte in whole[start : start + 20])
        path.write_bytes(whole[:start] + damaged + whole[start + 20 :])
        try:
            tokenize([path], SUBJECT, tmp_path / str(start))
        except SourceError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017 -- not all damage is seen
            refused += 1
    assert refused > 10


def test_a_folder_with_other_contents_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the light")
    with pytest.raises(TokexportError, match="is not empty"):
        tokenize([tmp_path / "a.txt"], SUBJECT, tmp_path)
    with pytest.raises(TokexportError, match="is not a directory"):
        tokenize([tmp_path / "a.txt"], SUBJECT, tmp_path / "a.txt")
    tokenize([tmp_path / "a.txt"], SUBJECT, tmp_path / "out")
    with pytest.raises(TokexportError, match=r"other settings \(begin\)"):
        tokenize([tmp_path / "a.txt"], SUBJECT, tmp_path / "out", begin=1)


@pytest.mark.parametrize(
    "broken",
    [b"no gzip", gzip.compress(b"\xff", mtime=0), gzip.compress(b"{}", mtime=0)],
    ids=["no gzip", "no UTF-8", "no JSON"],
)
def test_a_run_that_failed_before_its_first_shard_does_not_block_the_folder(
    broken: bytes, tmp_path: Path
) -> None:
    path, folder = tmp_path / "a.jsonl.gz", tmp_path / "out"
    path.write_bytes(broken)
    with pytest.raises(SourceError):
        tokenize([path], SUBJECT, folder, field="nope")
    write_file(path, ".jsonl.gz", ["the light"])
    tokenize([path], SUBJECT, folder, begin=1, dtype="uint32")
    assert documents_of(folder) == expected(["the light"], 1, None)
    with pytest.raises(TokexportError, match=r"other settings \(begin\)"):
        tokenize([path], SUBJECT, folder, dtype="uint32")


def test_ids_have_two_bytes_only_if_all_fit(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the light")
    ranks = {bytes([byte]): byte for byte in range(256)}
    for last_id, dtype in ((65535, "uint16"), (65536, "uint32")):
        source = tiktoken.Encoding(
            "wide", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={"<|end|>": last_id}
        )
        subject = converted(source)
        assert tokenize([tmp_path / "a.txt"], subject, tmp_path / dtype, end=last_id).dtype == dtype
        assert documents_of(tmp_path / dtype) == [[*b"the light", last_id]]
    with pytest.raises(TokexportError, match="do not fit into uint16"):
        tokenize([tmp_path / "a.txt"], subject, tmp_path / "more", dtype="uint16")
