"""The steps of Ray Data end on a cluster of one CPU, which reading the dataset needs too."""

import threading
from collections.abc import Iterator

import pytest
from runtime_samples import tokenizer

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def one_cpu() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize("workers", [None, 2])
def test_a_dataset_is_read_and_encoded(workers: int | None) -> None:
    from tokexport.ray import tokenize

    found: list[int] = []
    data = ray.data.range(1000).map(lambda row: {"text": str(row["id"])})
    subject = tokenizer("ranks")
    run = threading.Thread(
        target=lambda: found.append(tokenize(data, subject, workers=workers).count()), daemon=True
    )
    run.start()
    run.join(60)
    assert found == [1000]
