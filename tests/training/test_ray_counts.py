"""Counting as a step of Ray Data gives the same counts, to the last word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ray_cluster import rows_while_a_worker_is_killed

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
    pytest.importorskip("ray")
    from tokexport.ray import count

    rows = [{"row": row, "body": text} for row, text in enumerate(TEXTS)]
    settings: dict[str, Any] = {"pattern": SMALL, "special_tokens": ["<|end|>"]}
    with rows_while_a_worker_is_killed(rows) as data:
        counts = count(data, column="body", **settings, workers=1, batch_rows=100)
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
