"""tokexport bench: how fast a file runs on this machine."""

import statistics
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import click

from tokexport import load
from tokexport.cli.console import json_option, say, say_json, table
from tokexport.cli.options import InputPath, parts_of_file, read_text
from tokexport.errors import SourceError

SECONDS = click.FloatRange(0, 3600)
SECONDS.name = "number"  # for an error, instead of "float range"
DEFAULT_BYTES = 4_000_000


@click.command()
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.option("--text", type=InputPath(), metavar="FILE", help="The text to use.")
@click.option("--seconds", type=SECONDS, default=1.0, metavar="N", help="For each measurement.")
@json_option
def bench(path: str, text: str | None, seconds: float, as_json: bool) -> None:
    """Measures how fast a file opens, encodes and decodes.

    Uses one thread, from Python. The default text is source code of Python's standard library.
    "first" is the first pass of a tokenizer that was just opened, "again" the median of the later
    passes. To compare with other libraries, use benchmarks/report.py of the repository: figures
    are comparable only within one run.

    \b
    tokexport bench tokenizer.bin --text book.txt
    """
    if text is None:
        text = library_source(DEFAULT_BYTES).decode(errors="replace")  # may end in a character
    else:
        name, text = text, read_text(text, parts_of_file(text))
        if not text:
            raise SourceError("the text is empty", name=name)
    opening = repeat(lambda: load(path, check=False), seconds)
    tokenizer = load(path)
    begin = time.perf_counter()
    ids = tokenizer.encode_ordinary(text)
    first = time.perf_counter() - begin
    again = repeat(lambda: tokenizer.encode_ordinary(text), seconds)
    arrays = repeat(lambda: tokenizer.encode_to_numpy(text), seconds)
    decoding = repeat(lambda: tokenizer.decode_bytes(ids), seconds)
    size = len(text.encode())
    times = {"encode_first": first, "encode_again": again}
    times |= {"encode_to_numpy": arrays, "decode_bytes": decoding}
    if as_json:
        seconds_of = {f"{name}_seconds": time for name, time in {"open": opening, **times}.items()}
        say_json("bench", {"bytes": size, "tokens": len(ids), **seconds_of})
        return
    rows = [("", "MB/s", "million tokens/s")]
    for name, elapsed in times.items():
        speeds = f"{size / elapsed / 1e6:.1f}", f"{len(ids) / elapsed / 1e6:.2f}"
        rows.append((name.replace("_", " "), *speeds))
    say(f"{size:,} bytes, {len(ids):,} tokens; open: {opening * 1e6:.0f} µs\n\n{table(rows)}")


def repeat(action: Callable[[], object], seconds: float) -> float:
    """The median time of an action in seconds, over at least three runs."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def library_source(limit: int) -> bytes:
    """The first ``limit`` bytes of this Python's standard library, its files sorted by name."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return b"".join(path.read_bytes() for path in files)[:limit]
