"""The number of threads for a call."""

import os


def thread_count(asked: int | None) -> int:
    """The number asked for, or one per processor. TypeError or ValueError for an impossible one."""
    if asked is None:
        return processors()
    if not isinstance(asked, int):
        raise TypeError(f"num_threads must be an int or None, not {type(asked).__name__}")
    if asked < 1:
        raise ValueError(f"num_threads must be at least 1, not {asked}")
    return asked


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
