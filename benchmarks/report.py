"""Measures tokexport beside tiktoken, tokenizers and sentencepiece, and writes what README.md and
docs/BENCHMARKS.md show: one command, three minutes.

    python benchmarks/report.py             measure, print, and write the documents
    python benchmarks/report.py --print     measure and print

The documents are written only where all tokenizers are there, which is with ``TOKEXPORT_SHARED``
set (texts.py, peers.py): without it the figures are printed for those that fixtures/fetch.py
brings. Run it on a quiet machine; only ratios of one run mean anything.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from measure import CALL, Speed, measure, measure_calls, measure_loading, slices
from opening import Cost, code_size, compiled, cost
from peers import ROOT, Subject, libraries, subjects
from plot import Bar, Panel, draw, rate
from texts import TEXTS

README_NAMES = ("GPT-4o", "Llama 3", "Llama 2", "Gemma 3", "T5", "BERT")
README_TEXTS = ("English", "code", "many scripts", "Chinese, Japanese")
SWITCHES = tuple(
    f"-DTKX_NO_{part}"
    for part in (
        *("UNIGRAM", "WORDPIECE", "WORDLEVEL", "GREEDY"),
        *("CHARACTERS", "NORMALIZER", "DECODER", "OFFSETS"),
    )
)
MODULES = {
    "tokexport": "tokexport._core",
    "tiktoken": "tiktoken._tiktoken",
    "tokenizers": "tokenizers.tokenizers",
    "sentencepiece": "sentencepiece._sentencepiece",
}


@dataclass(frozen=True)
class Result:
    """What was measured of one subject; ``names`` are the libraries, ours first."""

    subject: Subject
    names: tuple[str, ...]
    speeds: dict[str, Speed]
    calls: tuple[float, ...]
    loading: tuple[float, ...]
    cost: Cost


def measured(subject: Subject, parts: dict[str, list[list[str]]], folder: Path) -> Result:
    """Everything about one subject."""
    target = folder / "tokenizer.bin"
    encoders, loading = measure_loading(libraries(subject, target))
    speeds = {name: measure(encoders, documents) for name, documents in parts.items()}
    english = "".join(parts["English"][0])
    short = [english[start : start + CALL] for start in range(0, 300 * CALL, CALL)]
    return Result(
        subject,
        tuple(name for name, _ in encoders),
        speeds,
        tuple(measure_calls(encoders, short)),
        tuple(loading),
        cost(folder / "open", subject, target),
    )


def picture(results: Sequence[Result]) -> str:
    """docs/speed.svg."""
    chosen = [result for result in results if result.subject.name in README_NAMES]

    def panel(text: str) -> Panel:
        return Panel(f"{text}, MB/s", [bars(result, text) for result in chosen])

    names = [result.subject.name for result in chosen]
    note = "MB of UTF-8 a second, one thread, ids compared; in brackets the speed-up of tokexport"
    return draw(names, [panel("English"), panel("Chinese, Japanese")], note)


def bars(result: Result, text: str) -> list[Bar]:
    """The bars of one tokenizer."""
    speed = result.speeds[text]
    return [Bar(*values) for values in zip(result.names, speed.rates, speed.ratios, strict=True)]


def speed_table(results: Sequence[Result], texts: Iterable[str], *, full: bool) -> str:
    """A row for each tokenizer: MB/s, and how many times the speed of each peer that is."""
    texts = list(texts)
    head = ["tokenizer", *(["model"] if full else []), "beside", *texts]
    rows = []
    for result in results:
        cells = [result.subject.name, *([result.subject.model] if full else [])]
        cells.append(", ".join(result.names[1:]))
        for text in texts:
            speed = result.speeds[text]
            times = ", ".join(f"{rate(value)}×" for value in speed.ratios[1:])
            cells.append(f"{rate(speed.rates[0])} ({times})")
        rows.append(cells)
    return table(head, rows, left=3 if full else 2)


def call_table(results: Sequence[Result]) -> str:
    """Microseconds of a call on a short text, and milliseconds to load."""
    rows = [
        [
            result.subject.name if number == 0 else "",
            name,
            f"{result.calls[number]:.1f}",
            f"{result.loading[number]:.2f}" if number == 0 else f"{result.loading[number]:,.0f}",
        ]
        for result in results
        for number, name in enumerate(result.names)
    ]
    return table(["tokenizer", "library", "a call, µs", "to load, ms"], rows, left=2)


def size_table(results: Sequence[Result]) -> str:
    """Sizes of files, and what opening costs."""
    head = ["tokenizer", "ids", "source, MB", "file, MB", "decode only, MB", "tkx_open, µs"]
    rows = [
        [
            result.subject.name,
            f"{result.cost.ids:,}",
            *(
                f"{size / 1e6:.2f}"
                for size in (result.cost.source, result.cost.file, result.cost.decode_only)
            ),
            f"{result.cost.opening:.0f}",
            f"{result.cost.private}",
        ]
        for result in results
    ]
    return table([*head, "private memory, KB"], rows, left=1)


def code_table(folder: Path) -> str:
    """Sizes of what a program links or loads."""
    rows = [
        ["C core, gcc -Os", f"{code_size(folder) / 1e3:,.0f}"],
        ["C core, all switches", f"{code_size(folder, *SWITCHES) / 1e3:,.0f}"],
    ]
    for name, module in MODULES.items():
        spec = importlib.util.find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        size = Path(spec.origin).stat().st_size
        rows.append([f"{name}'s Python module", f"{size / 1e3:,.0f}"])
    return table(["code", "KB"], rows, left=1)


def machine() -> str:
    """What made the figures."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    peers = ", ".join(f"{name} {version(name)}" for name in MODULES)
    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}; {peers}."
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int) -> str:
    """Markdown; the first ``left`` columns are words, the others numbers."""
    rule = ["---" if number < left else "---:" for number in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def put(path: Path, name: str, content: str) -> None:
    """Writes a part of a document, between its marks."""
    document = path.read_text(encoding="utf-8")
    begin, end = marks(name)
    before, after = document.split(begin)[0], document.split(end)[1]
    path.write_text(f"{before}{begin}\n{content}\n\n{end}{after}", encoding="utf-8")


def marks(name: str) -> tuple[str, str]:
    """What stands around a part that is made here."""
    return f"<!-- {name}: made by benchmarks/report.py -->\n", f"<!-- {name}: end -->"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--print", action="store_true", help="write no document")
    only_print = parser.parse_args().print
    parts = {name: slices(name) for name in TEXTS}
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiled(folder)
        for subject in subjects():
            results.append(measured(subject, parts, folder))
            print(speed_table(results[-1:], TEXTS, full=True).splitlines()[-1], flush=True)
        code = code_table(folder)
    chosen = [result for result in results if result.subject.name in README_NAMES]
    made = {
        ROOT / "README.md": {"speed": speed_table(chosen, README_TEXTS, full=False)},
        ROOT / "docs" / "BENCHMARKS.md": {
            "machine": machine(),
            "speed": speed_table(results, TEXTS, full=True),
            "calls": call_table(results),
            "sizes": size_table(results),
            "code": code,
        },
    }
    for path, tables in made.items():
        for part, content in tables.items():
            print(f"\n{path.name}, {part}:\n\n{content}")
            if not only_print and len(chosen) == len(README_NAMES):
                put(path, part, content)
    if only_print or len(chosen) < len(README_NAMES):
        print("\nno document was written", file=sys.stderr)
    else:
        (ROOT / "docs" / "speed.svg").write_text(picture(results), encoding="utf-8")


if __name__ == "__main__":
    main()
