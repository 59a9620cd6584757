"""Repeats one comparison, by the key that a difference has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokexport.errors import TokexportError
from tokexport.verification.classes import check_classes
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import GENERATORS, Vocabulary
from tokexport.verification.ids import check_ids, check_sequences
from tokexport.verification.offsets import check_offsets
from tokexport.verification.texts import check_file, check_pairs, check_string, check_surrogates
from tokexport.verification.tokens import check_added_tokens, check_tokens


def compare_again(comparison: Comparison, vocabulary: Vocabulary, key: str) -> None:
    """Compares what ``key`` names: ``token:318``, ``white-space:731``, ``class:17F``,
    ``file:book.txt``, ...

    Raises TokexportError for a key that names nothing.
    """
    numbered: dict[str, Callable[[int], object]] = {
        "id": lambda number: check_ids(comparison, number),
        "ids": lambda number: check_sequences(comparison, 1, number),
        "token": lambda number: check_tokens(comparison, number),
        "added": lambda number: check_added_tokens(comparison, number),
        "class": lambda number: check_classes(comparison, number),
        "pair": lambda number: check_pairs(comparison, vocabulary, [number]),
        "offsets": lambda number: check_offsets(comparison, vocabulary, [number]),
        "surrogates": lambda number: check_surrogates(comparison),
    }
    kind, _, name = key.partition(":")
    if kind == "file":
        check_file(comparison, Path(name))
    elif kind == "line":  # PATH:NUMBER; the lines of a file are compared together
        check_file(comparison, Path(name.rpartition(":")[0]))
    elif kind in numbered:
        numbered[kind](_number(key, name, 16 if kind == "class" else 10))
    elif kind in GENERATORS:
        check_string(comparison, vocabulary, kind, [_number(key, name, 10)])
    else:
        kinds = ", ".join([*numbered, "file", "line", *GENERATORS])
        raise TokexportError(
            f"only: {key!r} names no comparison; it is KIND:NAME, and the kinds are {kinds}"
        )


def _number(key: str, name: str, base: int) -> int:
    try:
        return int(name, base)
    except ValueError:
        raise TokexportError(
            f"only: {key!r} names no comparison; a number must follow the colon"
        ) from None
