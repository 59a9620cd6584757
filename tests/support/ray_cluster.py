"""A local Ray of two workers, one of which is killed in the middle of its work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def rows_while_a_worker_is_killed(rows: Sequence[Mapping[str, object]]) -> Iterator[Any]:
    """A dataset of rows that come slowly; a process that works on them dies once it has worked for
    a while. Fails where there was none to kill.
    """
    ray = pytest.importorskip("ray")
    psutil = pytest.importorskip("psutil")
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
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        data = ray.data.from_items(rows, override_num_blocks=30)
        data = data.map_batches(slow, batch_format="pyarrow")
        killer.start()
        yield data
    finally:
        done.set()
        ray.shutdown()
    killer.join()
    assert killed
