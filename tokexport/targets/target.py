"""What a target format is: which parts of a tokenizer it holds, how it is written and read, and
what the runtime that loads it does with a text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from construct import Construct

from tokexport.escape import escape
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.targets.equivalence import are_equivalent
from tokexport.targets.material import Material
from tokexport.targets.parts import Part, Parts

# What is written: the bytes of one file under the name "", or of several by name in a folder.
Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a tokenizer that a target cannot carry, and what that means."""

    part: Part
    meaning: str

    def __str__(self) -> str:
        return f"{self.part.value}: {self.meaning}"


class Runtime(Protocol):
    """What the program that loads a file does with it, by that program's own algorithm."""

    # Whether special tokens in a text become ids.
    finds_special_tokens: bool

    def encode(self, text: str) -> list[int] | None:
        """The ids of a text, without BOS and EOS; None for a runtime that only decodes."""
        ...

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that the program prints for ids."""
        ...


class LibraryRuntime:
    """A runtime that is a Python library: it runs the file itself."""

    finds_special_tokens = True

    def __init__(self, library: ReferenceTokenizer) -> None:
        self._library = library

    def encode(self, text: str) -> list[int]:
        return self._library.encode(text, True)

    def decode(self, ids: Sequence[int]) -> bytes:
        return self._library.decode_batch([ids], False)[0].encode()


@dataclass(frozen=True, slots=True)
class Target:
    """A format that another runtime loads. To add one, write a module that exports it and list it
    in ``registry.py``.

    ``write`` raises TokexportError for a tokenizer that the format cannot hold. ``read`` returns
    what the file says, and what the runtime does implicitly. ``meanings`` replaces the sentence
    of :class:`Part` for a lost part.
    """

    name: str
    runtime_name: str
    write: Callable[[Material], Files]
    read: Callable[[Path], Material]
    # With the options for reading the file: ranks need a pattern.
    runtime: Callable[[Path, Mapping[str, Any]], Runtime]
    # The golden file, or the folder of several, below formats/.
    golden: Path
    meanings: Mapping[Part, str] = field(default_factory=dict)
    # Its structures, as in the README of the format; none for text formats.
    layouts: tuple[Construct, ...] = ()
    # Whether it holds the complete tokenizer.
    whole: bool = False

    def losses(self, source: Material, written: Material) -> tuple[Loss, ...]:
        """The parts of a tokenizer that are missing after reading back, in the order of
        :class:`Part`.
        """
        if self.whole:
            return ()
        meanings = {**self.meanings, **written.differs}
        return tuple(
            Loss(part, meanings.get(part, part.meaning) + _more(part, source, written))
            for part in Part
            if part in written.differs or _is_lost(part, source.parts, written.parts)
        )


def _is_lost(part: Part, own: Parts, found: Parts) -> bool:
    """Whether a part is missing or different; anything that the file adds is no loss."""
    if part in (Part.BYTES, Part.ADDED_TOKENS) and part in own and part in found:
        return not own[part].items() <= found[part].items()
    if part is Part.PRE_TOKENIZER and isinstance(own.get(part), tuple) and part in found:
        return not are_equivalent(own[part], found[part])
    if part is Part.ORDER and isinstance(own.get(part), tuple) and part in found:
        ids = frozenset(own[part])
        return [*own[part]] != [id for id in found[part] if id in ids]
    return part in own and found.get(part) != own[part]


def _more(part: Part, source: Material, written: Material) -> str:
    """The number of tokens with different bytes, and one of them."""
    if part is not Part.BYTES:
        return ""
    own, found = source.parts[part], written.parts[part]
    ids = [id for id, data in own.items() if found.get(id) != data]
    shown = escape(found.get(ids[0], b""))
    return f' ({len(ids):,}, such as the id {ids[0]}, which is "{shown}" in it)'


def single(data: bytes) -> Files:
    return {"": data}
