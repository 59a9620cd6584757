"""Corpora past one machine: tokenizing as a step of Ray Data (pip install 'tokexport[ray]').

Ray runs the step on batches in as many workers as it has, gives the batches of one that dies to
another, and keeps the rows' order where the dataset's execution options say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokexport.corpus import EncodeTable
from tokexport.runtime.tokenizer import Tokenizer, load

if TYPE_CHECKING:
    from ray.data import Dataset


class _Worker:
    """What one worker of Ray holds: the tokenizer, opened once."""

    def __init__(self, content: bytes, how: dict[str, Any]) -> None:
        self._step = EncodeTable(load(content), **how, num_threads=1)

    def __call__(self, table: Any) -> Any:
        return self._step(table)


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
    """The dataset with a column ``ids`` more: the ids of the texts in ``column``.

    ``begin`` and ``end`` are ids put around each text; ``workers`` is how many processes encode
    (None: one for each CPU of the cluster). The tokenizer travels in the step, so no worker needs
    its file. As all of Ray Data, nothing runs before the result is read or written.
    """
    import ray

    how = {"column": column, "begin": begin, "end": end}
    count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]
    return dataset.map_batches(
        _Worker,
        fn_constructor_args=(tokenizer.to_bytes(), how),
        batch_format="pyarrow",
        batch_size=batch_rows,
        compute=ray.data.ActorPoolStrategy(size=count),
    )
