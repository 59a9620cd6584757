"""Measures tokexport, tiktoken, tokenizers and sentencepiece, and writes the figures of README.md
and some of docs/BENCHMARKS.md: three minutes.

    python benchmarks/report.py             measure, print, and write the documents
    python benchmarks/report.py --print     measure and print

The documents are only written if all tokenizers are available, which requires ``TOKEXPORT_SHARED``
(texts.py, peers.py): otherwise the figures are printed for those that fixtures/fetch.py downloads.
Run it on a quiet machine; only ratios within one run are meaningful.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from measure import CALL, Speed, measure, measure_calls, measure_loading, slices
from opening import Cost, code_size, compiled, cost
from peers import ROOT, Subject, libraries, subjects
from plot import Bar, Panel, draw, rate
from texts import TEXTS

LLAMA_CPP = "https://github.com/ggml-org/llama.cpp/pull/6920"
README_NAMES = ("GPT-4o", "Llama 3", "Llama 2", "Gemma 3", "XLNet", "BERT")
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
    """The measurements of one subject; ``names`` are the libraries, ours first."""

    subject: Subject
    names: tuple[str, ...]
    speeds: dict[str, Speed]
    calls: tuple[float, ...]
    loading: tuple[float, ...]
    cost: Cost


def measured(subject: Subject, parts: dict[str, list[list[str]]], folder: Path) -> Result:
    """Measures everything about one subject."""
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
    note = (
        "MB of UTF-8 a second, one thread, ids compared; in parentheses the speed-up of tokexport"
    )
    return draw(names, [panel("English"), panel("Chinese, Japanese")], note)


def bars(result: Result, text: str) -> list[Bar]:
    """The bars of one tokenizer."""
    speed = result.speeds[text]
    return [Bar(*values) for values in zip(result.names, speed.rates, speed.ratios, strict=True)]


def speed_table(results: Sequence[Result], texts: Iterable[str], *, full: bool) -> str:
    """A row for each tokenizer: MB/s, and how many times as fast as each peer that is."""
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
    """Sizes of files, and the cost of opening them."""
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


def code_table(whole: int, least: int) -> str:
    """Sizes of what a program links or loads."""
    rows = [
        ["C core, gcc -Os", f"{whole / 1e3:,.0f}"],
        ["C core, gcc -Os, all switches", f"{least / 1e3:,.0f}"],
        *([f"`{name}`, Python module", f"{module_size(name) / 1e3:,.0f}"] for name in MODULES),
    ]
    return table(["code", "KB"], rows, left=1)


def comparison(results: Sequence[Result], core: str) -> str:
    """The README's table of alternatives: known facts, with the figures measured here."""
    peers = ("tokenizers", "tiktoken", "sentencepiece")
    modules = {name: f"{module_size(name) / 1e6:.1f} MB" for name in peers}
    speeds: dict[str, list[float]] = {}
    loading: dict[str, str] = {}
    for result in results:
        for number, name in enumerate(result.names[1:], 1):
            found = [result.speeds[text].ratios[number] for text in README_TEXTS]
            speeds.setdefault(name, []).extend(found)
            if (subject := result.subject.name) in ("Llama 3", "Llama 2"):
                loading.setdefault(name, f"{result.loading[number]:,.0f} ms, {subject}")
    slowest = max(result.cost.opening for result in results)
    slowest_load = max(result.loading[0] for result in results)
    ranges = {name: f"{rate(min(all_))}× to {rate(max(all_))}×" for name, all_ in speeds.items()}
    unknown = "not measured"
    native = f"{core} KB in C, {module_size('tokexport') / 1e6:.1f} MB in Python"
    opening = f"{slowest:.0f} µs or less in C, {slowest_load:.1f} ms in Python"
    over = "in Python, over each of these:"
    needs = ("`memcpy` in C; a heap in Python", *["Rust, a heap"] * 2, *["C++, a heap"] * 2)
    head = ["", "tokexport", *(f"`{name}`" for name in peers), "GGUF, llama.cpp"]
    rows = [
        ["reads", "all of these", "tokenizer.json", "ranks", ".model", "GGUF"],
        [
            *("pre-tokenizer", "an automaton in the file", "a regex engine", "a regex engine"),
            *("none", f"[by name, in C++]({LLAMA_CPP})"),
        ],
        [
            *("ids", "the reference's, or refused", "the reference", "the reference"),
            *("the reference", "correct if llama.cpp knows the name"),
        ],
        ["native code", native, *modules.values(), "part of llama.cpp"],
        ["needs", *needs],
        ["to open", opening, *(loading.get(name, unknown) for name in (*peers, "llama.cpp"))],
        ["speed-up", over, *(ranges.get(name, unknown) for name in (*peers, "llama.cpp"))],
        [
            *("devices", "any with a C99 compiler", "hosts with Rust's std", "hosts with Python"),
            *("hosts with C++", "hosts with C++"),
        ],
    ]
    return table(head, rows, left=len(head))


def module_size(name: str) -> int:
    """Bytes of the compiled Python module of a library."""
    spec = importlib.util.find_spec(MODULES[name])
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).stat().st_size


def machine() -> str:
    """The machine and the versions that the figures were measured with."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    peers = ", ".join(f"{name} {version(name)}" for name in MODULES)
    return textwrap.fill(
        f"{cpu}, {os.cpu_count()} cores, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}; {peers}.",
        width=100,
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int) -> str:
    """Markdown; the first ``left`` columns are words, the others numbers."""
    rule = ["---" if number < left else "---:" for number in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def put(document: str, name: str, content: str) -> str:
    """A document with the content between the marks of a part replaced.

    >>> begin, end = marks("speed")
    >>> put(f"a\\n{begin}{end}\\nb", "speed", "| 1 |").splitlines()[3:4]
    ['| 1 |']
    """
    begin, end = marks(name)
    before, rest = document.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{content}\n\n{end}{after}"


def write(document: str, parts: Mapping[str, str]) -> None:
    """Replaces generated parts, by name, of a document of this repository."""
    path = ROOT / document
    text = path.read_text("utf-8")
    for name, content in parts.items():
        text = put(text, name, content)
    path.write_text(text, "utf-8")


def marks(name: str) -> tuple[str, str]:
    """The marks around a generated part."""
    return f"<!-- {name}: made by benchmarks/report.py -->\n", f"<!-- {name}: end -->"


def options(description: str, rounds: int = 0) -> argparse.ArgumentParser:
    """The options of a program, from its docstring and its usual number of rounds if it has any."""
    parser = argparse.ArgumentParser(description=description.partition("\n\n")[0])
    parser.add_argument("--print", action="store_true", help="write no document")
    if rounds:
        parser.add_argument("--rounds", type=int, default=rounds)
    return parser


def main() -> None:
    only_print = options(__doc__).parse_args().print
    parts = {name: slices(name) for name in TEXTS}
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiled(folder)
        for subject in subjects():
            results.append(measured(subject, parts, folder))
            print(speed_table(results[-1:], TEXTS, full=True).splitlines()[-1], flush=True)
        whole, least = code_size(folder), code_size(folder, *SWITCHES)
    chosen = [result for result in results if result.subject.name in README_NAMES]
    made = {
        "README.md": {
            "comparison": comparison(results, f"{least / 1e3:.0f} to {whole / 1e3:.0f}"),
            "speed": speed_table(chosen, README_TEXTS, full=False),
            "machine": machine(),
        },
        "docs/BENCHMARKS.md": {
            "machine": machine(),
            "speed": speed_table(results, TEXTS, full=True),
            "calls": call_table(results),
            "sizes": size_table(results),
            "code": code_table(whole, least),
        },
    }
    for document, tables in made.items():
        for part, content in tables.items():
            print(f"\n{document}, {part}:\n\n{content}")
    if only_print or len(chosen) < len(README_NAMES):
        print("\nno document was written", file=sys.stderr)
    else:
        for document, tables in made.items():
            write(document, tables)
        (ROOT / "docs" / "speed.svg").write_text(picture(results), encoding="utf-8")


if __name__ == "__main__":
    main()
