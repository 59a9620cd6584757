"""Makes the tables of README.md, all with one command, and writes them where the README has its
marks.

    python benchmarks/readme.py             all of them
    python benchmarks/readme.py families    one of them

Takes some minutes. Set TOKEXPORT_SHARED for real texts, see texts.py, and for real tokenizers of
every family: without it their table stays as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import encode
import families
import open as opening  # benchmarks/open.py

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))
ROUNDS = 5
FAMILIES = (
    "llama2",
    "gemma3",
    "phi-3",
    "clip",
    "t5-small",
    "xlm-roberta",
    "xlnet-base-cased",
    "bert-base-uncased",
)


def encoding() -> str:
    """The tables of encode.py: cl100k_base, o200k_base, and a tokenizer.json."""
    from fetch import fetch

    cl100k, o200k, *_ = fetch("openai")
    sources = ((cl100k, "cl100k_base"), (o200k, "o200k_base"), (fetch("deepseek")[0], None))
    return "\n".join(encode.report(path, pattern, ROUNDS) for path, pattern in sources)


def all_families() -> str | None:
    """The table of families.py, for the tokenizers of a collection outside of the repository."""
    if "TOKEXPORT_SHARED" not in os.environ:
        return None
    folder = Path(os.environ["TOKEXPORT_SHARED"]).resolve() / "tokenizers"
    return families.report([folder / name / "tokenizer.json" for name in FAMILIES], ROUNDS)


PARTS: Mapping[str, Callable[[], str | None]] = {
    "encode": encoding,
    "families": all_families,
    "open": lambda: opening.report(opening.fetched()),
}


def main() -> None:
    """The command. Names of parts (``encode``, ``families``, ``open``) make only these."""
    readme = ROOT / "README.md"
    for name in sys.argv[1:] or PARTS:
        make = PARTS[name]
        text = readme.read_text(encoding="utf-8")
        begin, end = f"<!-- {name}: made by benchmarks/readme.py -->\n", f"<!-- {name}: end -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            sys.exit(f"README.md: the marks of the table {name!r} are not there")
        before, after = text.split(begin)[0], text.split(end)[1]
        table = make()
        if table is not None:
            readme.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
        print(f"{name}: {'left as it is' if table is None else 'done'}", file=sys.stderr)


if __name__ == "__main__":
    main()
