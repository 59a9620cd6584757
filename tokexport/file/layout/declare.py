"""Building blocks of the layout: structs and records of named fields, and named numbers.

Every field and every number has a short description; these are the tables of
``formats/tokexport/SPEC.md``.
"""

from __future__ import annotations

from enum import Enum, IntEnum, IntFlag
from typing import Any

import numpy as np
from construct import Const, Construct, Default, Float64l, Int8ul, Int16ul, Int32ul, Int64ul, Struct

# An omitted field is zero.
U8, U16, U32, U64 = (Default(kind, 0) for kind in (Int8ul, Int16ul, Int32ul, Int64ul))
F64 = Default(Float64l, 0.0)


def zeros(size: int) -> Construct:
    """Reserved bytes."""
    return Const(bytes(size)) * "zero"


def record(*fields: Construct) -> np.dtype[Any]:
    """The numpy type of a row of fields; ``metadata["struct"]`` is the struct of the same fields.

    >>> record("id" / U32 * "of a token", "length" / U16).itemsize
    6
    """
    return np.dtype(
        [(field.name, f"<u{field.sizeof()}") for field in fields],
        metadata={"struct": Struct(*fields)},
    )


class Code(IntEnum):
    """Numbers; a field holds one of them."""

    meaning: str

    def __new__(cls, value: int, meaning: str = "") -> Code:
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class Flags(IntFlag):
    """Bits, or groups of bits; a field holds any of them."""

    meaning: str

    def __new__(cls, value: int, meaning: str = "") -> Flags:
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    def put(self, number: int) -> int:
        """Flags with a number in the bits of this group."""
        return number * (self & -self)

    def get(self, flags: int) -> int:
        """The number in the bits of this group."""
        return (flags & self) // (self & -self)


class SectionTag(bytes, Enum):
    """The tag of a section, and a description of its contents."""

    required: bool
    level: str
    defined: str
    holds: str

    def __new__(
        cls, tag: bytes, required: bool, level: str, defined: str, holds: str
    ) -> SectionTag:
        """Readers that do not know a ``required`` tag refuse the file; ``level``: see SPEC.md, of
        which ``defined`` is the part that defines the section.
        """
        member = bytes.__new__(cls, tag)
        member._value_ = tag
        member.required = required
        member.level = level
        member.defined = defined
        member.holds = holds
        return member
