"""The parts of a golden file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.chat.frame import Frame
from tokexport.model import Provenance, TokenizerModel

PROVENANCE = Provenance("golden")

# Which special tokens are found: all, none, or some by their index in ADDT.
Special = bool | tuple[int, ...]
Encode = Callable[[str, Special], Sequence[int]]
Locate = Callable[[str, Special], Sequence[tuple[int, int]]]  # spans in characters
# A text, possibly a second one, and whether the template adds its ids; returns ids and type ids.
Around = Callable[[str, str | None, bool], tuple[Sequence[int], Sequence[int]]]

Messages = Sequence[tuple[str, str]]  # a role and a text


class UnknownTextError(Exception):
    """The reference has no token for a part of a text, and fails."""


@dataclass(frozen=True, slots=True)
class Golden:
    """One golden file: the model, the reference's encoder, and texts to try.

    ``locate``: the reference's spans, if it has any. ``around``: the reference's template, and
    ``pairs`` to try it with. ``some``: texts in which some special tokens are found. ``unknown``:
    texts that the reference refuses. ``prefixes``: the file has SORT, and is queried for these.
    ``frame``: the contents of FRAM; ``chats``: conversations, each with the special tokens of the
    prompt that the reference finds, or with the error.
    ``self_test``: the file also holds the texts. ``trimmed``: its tables only cover the characters
    in the texts.
    """

    name: str
    model: TokenizerModel
    encode: Encode
    version: str
    texts: Sequence[str]
    locate: Locate | None = None
    around: Around | None = None
    pairs: Sequence[tuple[str, str | None]] = ()
    some: Sequence[tuple[str, tuple[int, ...]]] = ()
    unknown: Sequence[str] = ()
    prefixes: Sequence[bytes] = ()
    frame: Frame | None = None
    chats: Sequence[tuple[Messages, tuple[int, ...] | str]] = ()
    self_test: bool = False
    trimmed: bool = False


def merge_rows(merges: Iterable[Sequence[int]] = ()) -> npt.NDArray[np.int64]:
    """Rows (left, right, merged id) as ``BytePairModel`` has them."""
    return np.array([*merges], np.int64).reshape(-1, 3)
