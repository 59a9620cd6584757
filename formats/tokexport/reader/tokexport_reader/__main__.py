"""``python -m tokexport_reader FILE [TEXT]``: encodes a text, shows its ids, decodes them."""

from __future__ import annotations

import sys
from pathlib import Path

from . import check_file, decode_bytes, decode_text, encode_spans, open_file


def main() -> None:
    """Runs the command."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    file = open_file(Path(sys.argv[1]).read_bytes())
    check_file(file)
    text = sys.argv[2] if len(sys.argv) > 2 else "Hello, world"
    spans = encode_spans(file, text.encode())
    for token, (start, end) in spans:
        print(f"{token:8}  {text[start:end]!r:20}  {decode_bytes(file, [token])!r}")
    print(repr(decode_text(file, [token for token, _ in spans])))


if __name__ == "__main__":
    main()
