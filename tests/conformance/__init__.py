"""Converts every tokenizer under a folder, compares each with its own library, and prints one
table.

    python -m tests.conformance FOLDER --strings 10000 -o docs/CONFORMANCE.md

In reading order: ``find`` (the tokenizers in a folder), ``measure`` (one tokenizer), ``vectors``
(published ids), ``isolated`` (one process per tokenizer, so that a crash does not stop the run),
``table`` (Markdown), ``__main__``.
"""

import sys
from pathlib import Path

# `python -m` would import the sources here; the tokexport to test is the installed one.
_ROOT = Path(__file__).parents[2]
sys.path.sort(key=lambda path: Path(path).resolve() == _ROOT)
