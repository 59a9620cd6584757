"""``python -m tokexport_reader FILE [TEXT]``: encodes a text, shows its ids, decodes them."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path

from . import TokexportError, check_file, decode_bytes, decode_text, encode_spans, open_file


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser("tokexport_reader", description=__doc__)
    parser.add_argument("file", type=Path, help="a tokexport file")
    parser.add_argument("text", nargs="?", default="Hello, world", help="default: %(default)s")
    given = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):  # it may be unable to encode the text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        content = given.file.read_bytes()
    except OSError as error:
        sys.exit(f"{given.file}: {error.strerror}")
    try:
        file = open_file(content)
        check_file(file)
        spans = encode_spans(file, os.fsencode(given.text))
    except TokexportError as error:
        sys.exit(f"{given.file}: {error}")
    for token, (start, end) in spans:
        print(f"{token:8}  {given.text[start:end]!r:20}  {decode_bytes(file, [token])!r}")
    print(repr(decode_text(file, [token for token, _ in spans])))


if __name__ == "__main__":
    main()
