"""Corpora too large for one machine: steps of Ray Data (pip install 'tokexport[ray]').

Ray runs the step on batches in all of its workers, gives the batches of a worker that dies to
another, and keeps the order of rows if the dataset's execution options say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tokexport.corpus import EncodeTable
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.training.counting import WordCounts

if TYPE_CHECKING:
    from ray.data import Dataset


def tokenize(
    dataset: Dataset,
    tokenizer: Tokenizer,
    *,
    column: str = "text",
    begin: int | None = None,
    end: int | None = None,
    workers: int | None = None,
    batch_rows: int = 1024,
) -> Dataset:
    """The dataset with an additional column ``ids``: the ids of the texts in ``column``.

    ``begin`` and ``end`` are ids put around each text; ``workers`` is the greatest number of
    processes that encode (None: one for each CPU of the cluster). The step contains the tokenizer,
    so no worker needs its file. As always in Ray Data, nothing runs before the result is read or
    written.
    """
    how: dict[str, Any] = {"column": column, "begin": begin, "end": end, "num_threads": 1}
    # Opened from bytes, it is also pickled as bytes.
    how["tokenizer"] = load(tokenizer.to_bytes(), check=False)
    return _mapped(dataset, EncodeTable, how, workers, batch_rows)


class _Counter:
    """A step that keeps no words between batches: each batch is counted whole, or not at all."""

    def __init__(self, how: tuple[str, Sequence[str]], column: str) -> None:
        self._how, self._column = how, column

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        counts = WordCounts(*self._how)
        counts.add(table[self._column].to_pylist(), num_threads=1)
        times, lengths, words = counts.native.words_of_all(sorted=True)
        row = {"counts": times.tobytes(), "lengths": lengths.tobytes(), "words": words.tobytes()}
        return pa.table({name: pa.array([value], pa.large_binary()) for name, value in row.items()})


def count(
    dataset: Dataset,
    *,
    column: str = "text",
    pattern: str = "nanochat",
    special_tokens: Sequence[str] = (),
    workers: int | None = None,
    batch_rows: int = 8192,
) -> WordCounts:
    """Counts the words of the texts in ``column``, as ``tokexport.training.WordCounts`` does.

    ``workers`` is the greatest number of processes that count (None: one for each CPU). Each
    batch becomes the counts of its distinct words, and these are added up here as they arrive; if a
    worker dies, Ray gives its batch to another. The words have no order, so ``first-seen`` cannot
    be their tie-break. ``tokexport.training.train_from_counts`` learns from the result, and
    ``write_word_counts`` writes it.
    """
    result = WordCounts(pattern, special_tokens)
    result.ordered = False
    batches = _mapped(
        dataset.select_columns([column]),
        _Counter,
        {"how": (result.pattern, result.special_tokens), "column": column},
        workers,
        batch_rows,
    )
    for row in batches.iter_rows():
        result.native.add_words(
            np.frombuffer(row["counts"], np.uint64),
            np.frombuffer(row["lengths"], np.uint32),
            np.frombuffer(row["words"], np.uint8),
        )
    return result


def _mapped(
    dataset: Dataset, step: Any, arguments: dict[str, Any], workers: int | None, batch_rows: int
) -> Dataset:
    """Maps a step over batches, in workers that each create it once."""
    import ray

    cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
    # Not all at once: on all CPUs they would wait forever for the step that reads the dataset.
    pool = ray.data.ActorPoolStrategy(min_size=1, max_size=workers or cpus)
    return dataset.map_batches(
        step,
        fn_constructor_kwargs=arguments,
        batch_format="pyarrow",
        batch_size=batch_rows,
        num_cpus=min(1, cpus - 1),  # that step needs the only CPU
        compute=pool,
    )
