"""Time is linear in the size of any texts, such as texts of one letter, or many documents.

With -s, the tests print the times.
"""

import json
import sys

import pytest
from repository import SLOW, printed

PROGRAM = """
import json, random, sys, time
from tokexport.training import train_from_iterator

def memory(field):
    status = open("/proc/self/status").read()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])

kind, size = sys.argv[1], int(sys.argv[2])
train_from_iterator(["a"], 256)  # compiles the pattern
if kind == "one letter":
    texts = ["a" * size]
elif kind == "one document":
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghij", k=draw.randint(1, 9))) for _ in range(20_000)]
    part = " ".join(draw.choices(words, k=100_000)) + " "
    texts = [part * (size // len(part))]
else:
    texts = (chr(97 + number % 26) for number in range(size))
open("/proc/self/clear_refs", "w").write("5")  # resets the peak
before, begin = memory("VmRSS"), time.process_time()
trained = train_from_iterator(texts, 2000, num_threads=2)
print(json.dumps([trained.words, time.process_time() - begin, memory("VmHWM") - before]))
"""
# The size of the longer of two texts, and the maximum growth of memory for it, in MB.
FULL = {
    "one letter": (1_000_000, 60),
    "one document": (400_000_000, 60),
    "documents of one letter": (10_000_000, 60),
}


def measured(kind: str, size: int) -> tuple[int, float, int]:
    """Words, seconds of CPU time, and the growth of peak memory in bytes."""
    words, seconds, growth = json.loads(printed("-c", PROGRAM, kind, size))
    print(f"{kind}, {size:,}: {words:,} words, {seconds:.2f} s, {growth / 1e6:.1f} MB more")
    return words, seconds, growth


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("kind", FULL)
def test_four_times_the_text_takes_four_times_as_long(kind: str) -> None:
    size, limit = FULL[kind]
    size = size if SLOW else size // 10
    _, shorter, _ = measured(kind, size // 4)
    words, longer, growth = measured(kind, size)
    assert words == {"one letter": 1, "documents of one letter": size}.get(kind, words)
    assert longer < 8 * shorter + 0.3
    assert growth < limit * 1_000_000
