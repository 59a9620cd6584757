"""The table of docs/LIMITS.md that says which parts of a tokenizer.json are exact and which are
refused; `python -m tests.parts docs/LIMITS.md` makes it.

`cases.jsonl` has every part with its options, `cases.py` the small tokenizers that they are put
into, `outcomes.py` converts a case and compares it with the library, and makes the table.
"""

import sys
from pathlib import Path

# `python -m` looks first where it was called; the tokexport to be tested is the installed one, with
# its compiled part.
_ROOT = Path(__file__).parents[2]
sys.path.sort(key=lambda path: Path(path).resolve() == _ROOT)
sys.path.append(str(_ROOT / "fixtures"))
