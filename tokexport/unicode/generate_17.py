"""Make ``normal_forms_17.dat``: ``python -m tokexport.unicode.generate_17``, where tokenizers 1.0
is installed.

It is another file and another command than those of :mod:`tokexport.unicode.generate`, because one
environment has one ``tokenizers``.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from tokexport.unicode import normal_forms

PINNED = "1.0.0rc3"


def generate() -> dict[str, bytes]:
    """File name -> bytes. RuntimeError if another version of the reference library is installed."""
    if metadata.version("tokenizers") != PINNED:
        raise RuntimeError(
            f"tokenizers is {metadata.version('tokenizers')}; the tables are made with {PINNED}"
        )
    return {"normal_forms_17.dat": normal_forms.generate({"tokenizers": PINNED})}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, file in generate().items():
        (folder / name).write_bytes(file)
        print(f"wrote {len(file):,} bytes to {folder / name}")
