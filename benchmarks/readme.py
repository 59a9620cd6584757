"""Makes the tables of README.md, all with one command, and writes them where the README has its marks.

    python benchmarks/readme.py

Takes some minutes. Set TOKEXPORT_SHARED for real texts; see texts.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import encode
import open as opening  # benchmarks/open.py

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))
ROUNDS = 5


def encoding() -> str:
    """The tables of encode.py: cl100k_base, o200k_base, and a tokenizer.json."""
    from fetch import fetch

    cl100k, o200k, *_ = fetch("openai")
    sources = ((cl100k, "cl100k_base"), (o200k, "o200k_base"), (fetch("deepseek")[0], None))
    return "\n".join(encode.report(path, pattern, ROUNDS) for path, pattern in sources)


PARTS: Mapping[str, Callable[[], str]] = {"encode": encoding, "open": lambda: opening.report(opening.fetched())}


def main() -> None:
    """The command."""
    readme = ROOT / "README.md"
    for name, make in PARTS.items():
        text = readme.read_text(encoding="utf-8")
        begin, end = f"<!-- {name}: made by benchmarks/readme.py -->\n", f"<!-- {name}: end -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            sys.exit(f"README.md: the marks of the table {name!r} are not there")
        before, behind = text.split(begin)[0], text.split(end)[1]
        readme.write_text(f"{before}{begin}\n{make()}\n{end}{behind}", encoding="utf-8")
        print(f"{name}: done", file=sys.stderr)


if __name__ == "__main__":
    main()
