"""The table in docs/LIMITS.md of the parts of a tokenizer.json, exact or refused; `python -m
tests.parts docs/LIMITS.md` generates it.

`cases.jsonl` has every part with its options, `cases.py` the small tokenizers that contain them;
`outcomes.py` converts a case, compares it with the library, and makes the table.
"""

import sys
from pathlib import Path

# `python -m` would import the sources here; the tokexport to test is the installed one.
_ROOT = Path(__file__).parents[2]
sys.path.sort(key=lambda path: Path(path).resolve() == _ROOT)
sys.path.append(str(_ROOT / "fixtures"))
