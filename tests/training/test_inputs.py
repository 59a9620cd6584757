"""Training reads a corpus from disk; its memory grows only with the distinct words."""

import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from repository import SLOW

from tokexport.training import train_from_iterator

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SHARDS = 8
CHARACTERS = 250_000_000 if SLOW else 400_000  # per shard
ROWS = 1000  # per group
CAP = 10_000  # characters per document
LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


@cache
def paragraphs() -> list[str]:
    """Paragraphs with word frequencies as in a language. The last one is longer than the cap."""
    rng = random.Random(17)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(1, 11))) for _ in range(30_000)]
    weights = [*accumulate(1 / rank for rank in range(1, len(words) + 1))]

    def text(size: int) -> str:
        return " ".join(rng.choices(words, cum_weights=weights, k=size))

    return [*(text(rng.randint(20, 900)) + ".\n" for _ in range(2000)), text(3000)]


def documents(shard: int) -> Iterator[str]:
    rng, held = random.Random(shard), 0
    while held < CHARACTERS:
        text = "".join(rng.choices(paragraphs(), k=rng.randint(1, 3)))
        held += len(text)
        yield text


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of shards with the columns of FineWeb-Edu."""
    folder = tmp_path_factory.mktemp("fineweb-edu")
    columns: dict[str, Any] = {
        "text": pa.string(), "id": pa.string(), "dump": pa.string(), "url": pa.string(),
        "file_path": pa.string(), "language": pa.string(), "language_score": pa.float64(),
        "token_count": pa.int64(), "score": pa.float64(), "int_score": pa.int64(),
    }  # fmt: skip
    schema = pa.schema(columns)
    for shard in range(SHARDS):
        path = folder / f"{shard:03d}_00000.parquet"
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            rows = (
                [text, f"<urn:uuid:{number}>", "CC-MAIN-2024-10", f"https://a.example/{number}",
                 "s3://b", "en", 0.97, len(text) // 4, 3.2, 3]
                for number, text in enumerate(documents(shard))
            )  # fmt: skip
            while group := [*islice(rows, ROWS)]:
                writer.write_table(pa.table([*zip(*group, strict=True)], schema=schema))
    return folder


def test_parquet_shards_can_be_learned_from(run: Run, shards: Path, tmp_path: Path) -> None:
    """Like nanochat's script: documents up to a cap, until there are enough characters."""
    limit = 6 * CHARACTERS
    values = run(
        "train", shards, "--vocab-size", 1000, "-o", tmp_path / "out", "--doc-cap", CAP,
        "--max-chars", limit, "--json",
    ).values  # fmt: skip
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for shard in range(SHARDS):
            for text in documents(shard):
                yield text[:CAP]
                read += len(text[:CAP])
                if read > limit:
                    return

    expected = train_from_iterator(texts(), 1000)
    assert (tmp_path / "out/tokenizer.bin").read_bytes() == expected.to_bytes()
    assert values["text_bytes"] == expected.text_bytes == read
    run("count", shards, "-o", tmp_path / "w.counts", "--doc-cap", CAP, "--max-chars", limit)
    run("train", "--counts", tmp_path / "w.counts", "--vocab-size", 1000, "-o", tmp_path / "2")
    assert (tmp_path / "2/tokenizer.bin").read_bytes() == expected.to_bytes()


def peak(command: list[object]) -> int:
    """The peak memory of a command, in bytes."""
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    )
    run = [sys.executable, "-c", program, sys.executable, "-m", "tokexport", *map(str, command)]
    return int(subprocess.run(run, check=True, capture_output=True).stdout)


def test_memory_does_not_grow_with_the_texts(tmp_path: Path) -> None:
    """The same words in more documents, and in one document, need no more memory."""
    text = "".join(paragraphs())
    start = peak(["train", "--help"])
    peaks = []
    for times in (4, 20):
        path = tmp_path / f"{times}.txt"
        path.write_text(text * times, encoding="utf-8")
        common = ["--vocab-size", 2000, "-o", tmp_path / f"{times}", "--threads", 2, "-q"]
        peaks.append(peak(["train", path, *common, "--lines", "--force"]))
        peaks.append(peak(["train", path, *common, "--force"]))
    assert (tmp_path / "20.txt").stat().st_size > 80_000_000
    few_lines, one_short, many_lines, one_long = peaks
    assert many_lines - few_lines < 20_000_000
    assert one_long - one_short < 30_000_000
    assert max(peaks) - start < 106_000_000
