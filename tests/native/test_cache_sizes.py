"""Caches of any size give the ids of the core, and stay within their size."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tokexport
from tokexport._core import Core

SIZES = (1 << 20, 3 << 20, 10 << 20, 200 << 20)
NAMES = ("gpt2/tokenizer.json", "llama2/tokenizer.json", "t5-small/tokenizer.json")
MEASURE = """
import random, sys, tokexport
def resident():
    line = next(line for line in open("/proc/self/status") if line.startswith("RssAnon"))
    return int(line.split()[1])
tokenizer = tokexport.load(sys.argv[1], cache_size=int(sys.argv[2]))
r = random.Random(1)
letters = "abcdefghijklmnopqrstuvwxyz"
text = " ".join("".join(r.choices(letters, k=9)) for _ in range(1_000_000))
parts = [text[at : at + 100_000] for at in range(0, len(text), 100_000)]
before = resident()
for part in parts:
    tokenizer.encode_to_numpy(part)
print(resident() - before)
"""


def words(r: random.Random, count: int) -> str:
    """Words of which most are new, in all cases: short and long, of one id and of many."""
    letters = "abcdefghijklmnopqrstuvwxyz\u00e9\u4e2d\u3042\u0434"
    return " ".join("".join(r.choices(letters, k=r.randint(1, 30))) for _ in range(count))


@pytest.mark.parametrize("name", NAMES)
def test_ids_do_not_depend_on_the_size(name: str, shared_content: Callable[[str], bytes]) -> None:
    content, r = shared_content(name), random.Random(name)
    engines = [Core(content, "engine", 0, cache_size=size) for size in SIZES]
    core = Core(content, "core", 2**63)
    texts = [words(r, r.choice((3, 100, 5_000))) for _ in range(60)]
    for text in [*texts, *r.choices(texts, k=60)]:
        expected = core.encode_numpy(text, (), False)
        for engine in engines:
            assert np.array_equal(engine.encode_numpy(text, (), False), expected)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is in /proc")
def test_caches_take_no_more_memory_than_they_may(
    shared_content: Callable[[str], bytes], tmp_path: Path
) -> None:
    file = tmp_path / "tokenizer.bin"
    file.write_bytes(shared_content(NAMES[0]))

    def grown(size: int) -> int:
        command = [sys.executable, "-c", MEASURE, str(file), str(size)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    small, usual = grown(1 << 20), grown(49 << 20)
    # Buffers of a call, the tables of the engine and pages of the file are in both.
    assert usual - small > 15_000, (small, usual)
    assert small < 12_000, (small, usual)


def test_the_size_is_checked_and_pickled(
    shared_content: Callable[[str], bytes], tmp_path: Path
) -> None:
    file = tmp_path / "tokenizer.bin"
    file.write_bytes(shared_content(NAMES[0]))
    for size in (1 << 20, 1 << 30):
        assert tokexport.load(file, cache_size=size).encode("a" * 300_000)
    for size in (0, -1, (1 << 20) - 1, (1 << 30) + 1):
        with pytest.raises(ValueError, match="from 1048576 to 1073741824 bytes"):
            tokexport.load(file, cache_size=size)
    with pytest.raises(TypeError, match="must be an int, not str"):
        tokexport.load(file, cache_size="1 MB")  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(tokexport.load(file, cache_size=2 << 20)))
    assert again._cache_size == 2 << 20
