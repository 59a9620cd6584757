"""A step of a data pipeline that adds the ids of texts to a table."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tokexport.corpus.pipeline import surrounded
from tokexport.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

    from tokexport.runtime.tokenizer import Tokenizer

IDS: Final = "ids"


@dataclass(frozen=True)
class EncodeTable:
    """Adds a column of ids to an Arrow table: a function for Ray Data and ``datasets`` to map.

    ``begin`` and ``end`` are ids put around each text (None: nothing); special tokens in a text are
    plain text. Picklable, together with its tokenizer. Raises ``SourceError`` if the table has no
    such column. Needs pyarrow.

    >>> import pyarrow as pa
    >>> step = tokexport.corpus.EncodeTable(tokenizer, column="text", begin=300)
    >>> step(pa.table({"text": ["hello world", "hello"]}))["ids"].to_pylist()
    [[300, 259, 264], [300, 259]]
    """

    tokenizer: Tokenizer
    _: KW_ONLY
    column: str = "text"
    begin: int | None = None
    end: int | None = None
    num_threads: int | None = None

    def __call__(self, table: pa.Table) -> pa.Table:
        """The table with one more column, ``ids``: lists of uint32."""
        import pyarrow as pa

        if self.column not in table.column_names:
            names = ", ".join(table.column_names)
            raise SourceError(f"the table has no column {self.column!r}: its columns are {names}")
        lists = [self._lists(chunk) for chunk in table[self.column].chunks]
        kind = pa.large_list(pa.uint32())
        return table.append_column(IDS, pa.chunked_array(lists, kind))

    def _lists(self, texts: Any) -> Any:
        import pyarrow as pa

        ids, offsets = self.tokenizer.encode_batch_to_numpy(texts, num_threads=self.num_threads)
        ids, offsets = surrounded(ids, offsets, self.begin, self.end)
        return pa.LargeListArray.from_arrays(offsets.astype(np.int64), ids)
