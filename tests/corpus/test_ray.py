"""The steps of Ray Data lose no row and no word, even if a worker is killed, and end on a cluster
of one CPU, which reading the dataset needs too.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from runtime_samples import tokenizer

from tokexport.errors import TokexportError
from tokexport.training import (
    WordCounts,
    read_word_counts,
    train_from_counts,
    train_from_iterator,
    write_word_counts,
)

ray = pytest.importorskip("ray")
psutil = pytest.importorskip("psutil")

SUBJECT = tokenizer("ranks")
SMALL = r" ?\p{L}+|\P{L}"
TEXTS = [f"the lighthouse {number} é 漢<|end|>" * (number % 7) for number in range(3000)]


@pytest.fixture(scope="module", autouse=True)
def cluster(request: pytest.FixtureRequest) -> Iterator[None]:
    """A local Ray for all tests with as many CPUs, because it takes long to start."""
    handler = signal.getsignal(signal.SIGTERM)
    ray.init(num_cpus=request.param, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()
    signal.signal(signal.SIGTERM, handler)  # a fork with Ray's could miss the signal, and never end


def with_cpus(*counts: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("cluster", counts, indirect=True)


@contextmanager
def rows_while_a_worker_is_killed() -> Iterator[Any]:
    """A dataset of rows that arrive slowly; one process that works on them is killed."""
    killed: list[str] = []

    def kill_one() -> None:
        while not killed and not done.wait(0.1):
            for process in psutil.process_iter(["cmdline"]):
                title = " ".join(process.info["cmdline"] or ())
                if "ray::MapWorker" in title and sum(process.cpu_times()[:2]) > 0.1:
                    process.kill()
                    killed.append(title)
                    return

    def slow(table: Any) -> Any:
        time.sleep(0.3)
        return table

    done, killer = threading.Event(), threading.Thread(target=kill_one)
    rows = [{"row": row, "body": text} for row, text in enumerate(TEXTS)]
    data = ray.data.from_items(rows, override_num_blocks=30)
    killer.start()
    try:
        yield data.map_batches(slow, batch_format="pyarrow")
    finally:
        done.set()
        killer.join()
    assert killed


@with_cpus(2)
def test_every_row_has_its_ids() -> None:
    from tokexport.ray import tokenize

    with rows_while_a_worker_is_killed() as data:
        options: dict[str, Any] = {"column": "body", "begin": 300, "workers": 1, "batch_rows": 100}
        result = tokenize(data, SUBJECT, **options).take_all()
    by_row = sorted(result, key=lambda row: row["row"])
    assert [row["row"] for row in by_row] == list(range(len(TEXTS)))
    assert [list(row["ids"]) for row in by_row] == [[300, *SUBJECT.encode(text)] for text in TEXTS]


@with_cpus(2, 1)
@pytest.mark.parametrize("workers", [None, 2])
def test_as_many_workers_as_cpus_and_more_let_the_dataset_be_read(workers: int | None) -> None:
    from tokexport.ray import tokenize

    found: list[int] = []
    data = ray.data.range(1000).map(lambda row: {"text": str(row["id"])})
    run = threading.Thread(
        target=lambda: found.append(tokenize(data, SUBJECT, workers=workers).count()), daemon=True
    )
    run.start()
    run.join(60)
    assert found == [1000]


@with_cpus(2)
def test_counts_equal_those_of_a_single_process(tmp_path: Path) -> None:
    from tokexport.ray import count

    settings: dict[str, Any] = {"pattern": SMALL, "special_tokens": ["<|end|>"]}
    with rows_while_a_worker_is_killed() as data:
        counts = count(data, column="body", **settings, workers=1, batch_rows=100)
    expected = WordCounts(SMALL, ["<|end|>"])
    expected.add(TEXTS)
    assert dict(counts.items()) == dict(expected.items())
    assert (counts.words, counts.text_bytes) == (expected.words, expected.text_bytes)

    write_word_counts(tmp_path / "w.counts", counts)
    reread = read_word_counts(tmp_path / "w.counts")
    assert [*reread.items()] == sorted(expected.items())
    for tie_break in ("lowest-ids", "greatest-bytes"):
        merged = train_from_counts(reread, 300, special_tokens=["<|end|>"], tie_break=tie_break)
        assert merged == train_from_iterator(
            TEXTS, 300, pattern=SMALL, special_tokens=["<|end|>"], split_special=True,
            tie_break=tie_break,
        )  # fmt: skip
    with pytest.raises(TokexportError, match="seen first is not known"):
        train_from_counts(reread, 300, special_tokens=["<|end|>"], tie_break="first-seen")
