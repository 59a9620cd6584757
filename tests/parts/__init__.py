"""The table of docs/LIMITS.md: which parts of a tokenizer.json are exact and which are refused;
`python -m tests.parts` prints it.

In reading order: ``bases`` (small tokenizers that a part is put into), ``cases`` (every part with
its options), ``measure`` (one case: it is converted, and compared with the library, or refused),
``table`` (Markdown).
"""

import sys
from pathlib import Path

# `python -m` looks first where it was called; the tokexport to be tested is the installed one, with
# its compiled part.
_ROOT = Path(__file__).parents[2]
sys.path.sort(key=lambda path: Path(path).resolve() == _ROOT)
