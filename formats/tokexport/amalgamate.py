"""Makes ``tokexport.c``, which users compile, from the units in ``src/``.

Every ``#include "..."`` of ``src/all.c`` that names a file beside it is replaced by that file. Run
this after each change of a unit; ``tests/c/test_amalgamation.py`` fails if it was forgotten.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
LISTING = SOURCES / "all.c"
TARGET = HERE / "tokexport.c"

LICENSE_LINES = 3  # at the head of every unit, including a blank line; all.c has them too
# Blank lines around the title of a part, after the start of a condition, and before its end.
USELESS_BLANK: Final = re.compile(
    r"^(/\* ---- .*|#(?:if|else)(?:.*\\\n)*.*)\n\n+|\n\n+(?=#(?:else|endif)|/\* ---- )",
    re.MULTILINE,
)


def unit_names() -> list[str]:
    """The units, in the order in which they are compiled.

    >>> unit_names()[0]
    'base.h'
    """
    lines = LISTING.read_text(encoding="utf-8").splitlines()
    return [name for line in lines if (name := _included(line)) is not None]


def amalgamation() -> str:
    """The text of ``tokexport.c``."""
    made = []
    for line in LISTING.read_text(encoding="utf-8").splitlines():
        name = _included(line)
        if name is None:
            made.append(line)
            continue
        unit = (SOURCES / name).read_text(encoding="utf-8").splitlines()
        made += [*unit[LICENSE_LINES:], ""]
    return USELESS_BLANK.sub(r"\1\n", "\n".join(made).rstrip() + "\n")


def write_target() -> None:
    """Writes ``tokexport.c``."""
    TARGET.write_text(amalgamation(), encoding="utf-8", newline="\n")


def _included(line: str) -> str | None:
    """The unit that a line includes."""
    if not line.startswith('#include "'):
        return None
    name = line.split('"')[1]
    return name if (SOURCES / name).exists() else None


if __name__ == "__main__":
    write_target()
