"""A golden file whose ids come from `tokenizers` 1.0.0rc3. It cannot be installed together with
0.23, so the ids are taken from the fixtures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from golden import Golden, Special

from tokexport.sources import read

_SOURCE: Final = (
    Path(__file__).resolve().parents[3] / "fixtures" / "version_2" / "word_level_added.json"
)


def version_2_goldens() -> tuple[Golden, ...]:
    """SEARCH_ANEW: SINGLE_WORD and RSTRIP beside each other."""
    lines = _SOURCE.with_suffix(".jsonl").read_text("utf-8").splitlines()
    cases = [
        case
        for case in map(json.loads, lines)
        if any(word in case["text"] for word in ("the", "<s>", "A"))
    ]
    ids = {
        (case["text"], special): case[name]
        for case in cases
        for special, name in ((True, "ids"), (False, "plain"))
    }

    def encode(text: str, special: Special) -> Sequence[int]:
        found: list[int] = ids[text, bool(special)]
        return found

    texts = [case["text"] for case in cases]
    return (
        Golden("search-anew", read(_SOURCE), encode, "tokenizers 1.0.0rc3", texts, trimmed=True),
    )
