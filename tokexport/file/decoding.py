"""What decoding reads besides records: the forms of a token in BYTS, and DECO (layout:
:mod:`tokexport.file.layout`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.decoder.edits import compile_edits
from tokexport.errors import UnsupportedError
from tokexport.file.layout import DecoderFlag, RecordFlag
from tokexport.model import Decoding, FirstIs, Token, TokenizerModel

_FIRST_IS: Final = {
    FirstIs.ID: DecoderFlag(0),
    FirstIs.CONTENT: DecoderFlag.FIRST_BY_CONTENT,
    FirstIs.TEXT: DecoderFlag.FIRST_BY_TEXT,
}
MAX_FORM_BYTES: Final = 0xFFFF
_COUNT: Final = 3  # the most that two bits of the flags can say
_SKIP_SHIFT: Final = 5
_MORE_SHIFT: Final = 7
_LAST_SHIFT: Final = 9


@dataclass(frozen=True, slots=True)
class Stored:
    """How the forms of a token lie in BYTS: ``data``, in which the content begins at ``start``, and
    the flags that say the rest.
    """

    data: bytes
    start: int = 0
    flags: int = 0


def store(token: Token) -> Stored:
    """The shortest way to store the forms of a token: most often they are one string, cut at an end
    or not.

    UnsupportedError for a form of more than 65,535 bytes.

    >>> store(Token(b" a", first=b"a"))
    Stored(data=b' a', start=0, flags=32)
    >>> store(Token(b"ing", first=b"##ing"))
    Stored(data=b'##ing', start=2, flags=256)
    """
    longest = max(map(len, token.forms))
    if longest > MAX_FORM_BYTES:
        raise UnsupportedError(
            "decoder",
            f"a token that decodes to {longest} bytes is not supported",
            f"at most {MAX_FORM_BYTES} are",
        )
    if token.first is None and token.last is None and token.only is None:
        return Stored(token.content)
    content, first, last, only = token.forms
    shorter, longer = len(content) - len(first), len(first) - len(content)
    cut = len(content) - len(last)
    if (
        0 <= cut <= _COUNT
        and content.startswith(last)
        and only == first[: len(first) - cut]
        and cut <= len(first)
    ):
        if 0 <= shorter <= _COUNT and content.endswith(first):
            return Stored(content, 0, shorter << _SKIP_SHIFT | cut << _LAST_SHIFT)
        if 0 < longer <= _COUNT and first.endswith(content):
            return Stored(first, longer, longer << _MORE_SHIFT | cut << _LAST_SHIFT)
    lengths = np.array([(len(first), len(last), len(only))], layout.FORM_LENGTHS).tobytes()
    return Stored(content + lengths + first + last + only, 0, int(RecordFlag.FORMS))


def decoder(model: TokenizerModel) -> bytes | None:
    """DECO, or None where decoding is joining bytes."""
    decoding = model.decoding
    one_form = all(token is None or len(set(token.forms)) == 1 for token in model.tokens)
    if decoding == Decoding() and one_form:
        return None
    left, right = decoding.strip_left, decoding.strip_right
    counts, tables = _edits(decoding)
    built: bytes = layout.Decoder.build(
        {
            **counts,
            "flags": _flags(decoding),
            "strip_left_count": left[1],
            "strip_right_count": right[1],
            "strip_left": ord(left[0]) if left[1] else 0,
            "strip_right": ord(right[0]) if right[1] else 0,
            "reserved": None,
        }
    )
    return built + tables


def _edits(decoding: Decoding) -> tuple[dict[str, int], bytes]:
    """The counts and the tables of edits."""
    if not decoding.edits and decoding.runs is None:
        return dict.fromkeys(("edit_state_count", "edit_class_count", "edit_text_size"), 0), b""
    table = compile_edits(decoding.edits, decoding.runs)
    text = bytearray()
    places: dict[bytes, int] = {}

    def place(written: bytes) -> int:
        if written not in places:
            places[written] = len(text)
            text.extend(written)
        return places[written]

    steps = np.array(
        [
            (following, len(written) | layout.EDIT_KEEPS * keeps, place(written))
            for row in zip(table.next, table.written, table.keeps, strict=True)
            for following, written, keeps in zip(*row, strict=True)
        ],
        layout.EDIT,
    )
    ends = np.array([(0, len(written), place(written)) for written in table.ends], layout.EDIT)
    counts = {
        "edit_state_count": len(table.next),
        "edit_class_count": len(table.next[0]),
        "edit_text_size": len(text),
    }
    return counts, table.classes.tobytes() + steps.tobytes() + ends.tobytes() + bytes(text)


def _flags(decoding: Decoding) -> DecoderFlag:
    flags = _FIRST_IS[decoding.first_is]
    if decoding.byte_fallback:
        flags |= DecoderFlag.BYTE_FALLBACK
    if decoding.fallback_by_character:
        flags |= DecoderFlag.BY_CHARACTER
    if decoding.repeats_once:
        flags |= DecoderFlag.REPEATS_ONCE
    if decoding.runs is not None:
        flags |= DecoderFlag.EDGES
    return flags
