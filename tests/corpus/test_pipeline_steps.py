"""Tokenizing as a step of other pipelines produces the ids of each text."""

import pickle

import pytest
from runtime_samples import tokenizer

from tokexport.corpus import EncodeTable
from tokexport.errors import SourceError

pa = pytest.importorskip("pyarrow")

SUBJECT = tokenizer("ranks")
TEXTS = [f"the lighthouse {number} é 漢" * (number % 7) for number in range(3000)]


def expected(texts: list[str]) -> list[list[int]]:
    return [[300, *SUBJECT.encode(text)] for text in texts]


def test_a_table_gets_a_column_of_ids() -> None:
    step = pickle.loads(pickle.dumps(EncodeTable(SUBJECT, column="body", begin=300)))
    parts = [pa.array(TEXTS[:10]), pa.array([], pa.string()), pa.array(TEXTS[10:20])]
    table = step(pa.table({"n": range(20), "body": pa.chunked_array(parts)}))
    assert table.column_names == ["n", "body", "ids"]
    assert table["ids"].to_pylist() == expected(TEXTS[:20])
    with pytest.raises(SourceError, match="no column 'body': its columns are text"):
        step(pa.table({"text": ["a"]}))


def test_it_works_with_datasets_map() -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": TEXTS[:200]}).with_format("arrow")
    result = data.map(EncodeTable(SUBJECT, begin=300), batched=True, batch_size=64)
    assert result.with_format(None)["ids"][:] == expected(TEXTS[:200])
