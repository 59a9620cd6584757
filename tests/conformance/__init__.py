"""Converts every tokenizer under a folder, compares each with its own library, and prints one
table.

    python -m tests.conformance FOLDER --strings 10000 -o docs/CONFORMANCE.md

In reading order: ``find`` (what a folder holds), ``measure`` (one tokenizer), ``vectors`` (ids that
others publish), ``isolated`` (one process for each, so that none can stop the others), ``table``
(Markdown), ``__main__``.
"""

import sys
from pathlib import Path

# `python -m` looks first where it was called; the tokexport to be tested is the installed one, with
# its compiled part.
_ROOT = Path(__file__).parents[2]
sys.path.sort(key=lambda path: Path(path).resolve() == _ROOT)
