"""Counting as a step of Ray Data gives the same counts, to the last word."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tokexport.errors import TokexportError
from tokexport.training import (
    WordCounts,
    read_word_counts,
    train_from_counts,
    train_from_iterator,
    write_word_counts,
)

SMALL = r" ?\p{L}+|\P{L}"
TEXTS = [f"the lighthouse {number} é 漢<|end|>" * (number % 7) for number in range(3000)]


def test_counts_are_the_same_also_where_a_worker_is_killed(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    psutil = pytest.importorskip("psutil")
    from tokexport.ray import count

    killed: list[str] = []

    def kill_one() -> None:
        """Kills a process that counts, as soon as there is one that has worked for a while."""
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
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rows = [{"row": row, "body": text} for row, text in enumerate(TEXTS)]
        data = ray.data.from_items(rows, override_num_blocks=30)
        data = data.map_batches(slow, batch_format="pyarrow")
        killer.start()
        counts = count(
            data, column="body", pattern=SMALL, special_tokens=["<|end|>"], workers=1,
            batch_rows=100,
        )  # fmt: skip
    finally:
        done.set()
        ray.shutdown()
    killer.join()
    assert killed
    expected = WordCounts(SMALL, ["<|end|>"])
    expected.add(TEXTS)
    assert dict(counts.items()) == dict(expected.items())
    assert (counts.words, counts.text_bytes) == (expected.words, expected.text_bytes)

    write_word_counts(tmp_path / "w.counts", counts)
    again = read_word_counts(tmp_path / "w.counts")
    assert [*again.items()] == sorted(expected.items())
    for tie_break in ("lowest-ids", "greatest-bytes"):
        merged = train_from_counts(again, 300, special_tokens=["<|end|>"], tie_break=tie_break)
        assert merged == train_from_iterator(
            TEXTS, 300, pattern=SMALL, special_tokens=["<|end|>"], split_special=True,
            tie_break=tie_break,
        )  # fmt: skip
    with pytest.raises(TokexportError, match="seen first is not known"):
        train_from_counts(again, 300, special_tokens=["<|end|>"], tie_break="first-seen")
