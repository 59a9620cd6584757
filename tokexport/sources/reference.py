"""The interface that ``verify`` requires of a reference library."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from enum import Enum
from itertools import accumulate
from typing import Final, Literal, Protocol

from tokexport.errors import SourceError, needs
from tokexport.model import AddedToken


class Mode(Enum):
    """What becomes of special tokens in a text."""

    TEXT = "special tokens are text"
    IDS = "special tokens are ids"
    TEMPLATE = "special tokens are ids, with the post-processor's"
    SOME = "every second special token is an id"


# The Unicode tables are made from these releases; others may give other ids, and neither is wrong.
TABLES_FROM: Final = {
    "tokenizers": ("0.23.3", "1.0.0rc3"),
    "tiktoken": ("0.14",),
    "sentencepiece": ("0.2.3",),
    "rwkv": ("world",),
}

# GPT-2's alphabet for the references; readers have a copy of their own, so that no mistake hides
# another. A printable byte represents itself, the others are U+0100 and up, in order.
_PRINTING: Final = [byte for byte in range(256) if chr(byte).isprintable() and byte != 0x20]
_OTHERS: Final = [byte for byte in range(256) if byte not in _PRINTING]
BYTE_OF: Final = {chr(byte): byte for byte in _PRINTING} | {
    chr(0x100 + n): byte for n, byte in enumerate(_OTHERS)
}

# The name of the error of a library in Rust that panics; it is not an Exception.
PANIC: Final = "PanicException"


class ReferenceStopsError(Exception):
    """The reference itself fails at a text, so there is nothing to compare with."""


class ReferenceTokenizer(Protocol):
    """A tokenizer of a reference library, which returns the ids of an ordinary call.

    The defaults are for a library without special tokens in a text, pairs, offsets or templates.
    """

    library: str
    version: str
    modes: tuple[Mode, ...] = (Mode.TEXT,)
    reading_note: str | None = None  # what a comparison with it cannot show

    def allowed_special(self, mode: Mode) -> Literal["all"] | frozenset[str]:
        """The special tokens that are ids in a mode, as in ``allowed_special`` of ``encode``."""
        return frozenset() if mode is Mode.TEXT else "all"

    def encode(self, text: str, special: bool) -> list[int]:
        """One text in Mode.IDS where ``special``, in Mode.TEXT otherwise."""
        return self.encode_batch([text], Mode.IDS if special else Mode.TEXT)[0]

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Many texts, in the library's fastest way. ReferenceStopsError if it fails at one."""

    def encode_pair(self, first: str, second: str, mode: Mode = Mode.TEMPLATE) -> list[int] | None:
        """Two texts in the template for a pair, its ids only in Mode.TEMPLATE; None without one."""
        return None

    def offsets(self, text: str, mode: Mode) -> list[tuple[int, int]] | None:
        """For each id of ``encode_batch([text], mode)``, the (start, end) of its span in
        characters; None if the library has no offsets. ReferenceStopsError if it fails.
        """
        return None

    def starts(self, text: str, mode: Mode) -> list[int]:
        """For each id of ``encode_batch([text], mode)``, the byte at which its character begins:
        from the offsets, or from the bytes of the tokens; empty if the library has neither.
        """
        offsets = self.offsets(text, mode)
        if offsets is not None:
            places = [0, *accumulate(len(character.encode()) for character in text)]
            return [places[first] for first, _ in offsets]
        contents = [self.token_bytes(id) for id in self.encode_batch([text], mode)[0]]
        lengths = [len(content) for content in contents if content is not None]
        return [0, *accumulate(lengths)][:-1] if len(lengths) == len(contents) else []

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        """Ids to text. KeyError for an id that the library does not accept."""

    def token_bytes(self, id: int) -> bytes | None:
        """The bytes of an id, even part of a character; None if the library does not say."""

    def ids(self) -> Sequence[int]:
        """Every id that decodes to something, ascending."""

    def added_tokens(self) -> Sequence[AddedToken]:
        """The tokens found before the model runs, ascending by id: contents, special or not."""
        return []


def refusal(where: object, library: str, version: str, error: BaseException) -> SourceError:
    return SourceError(f"{where}: the library `{library}` {version} refuses it: {error}")


def needs_library(name: str) -> AbstractContextManager[None]:
    return needs("verify", f"the library `{name}`, the reference for this source, is not installed")


def reference_notes(reference: ReferenceTokenizer) -> list[str]:
    """What a comparison with this reference cannot show: ids of the release that the tables were
    made from, if another one is installed, and the reference's own note.
    """
    notes = [] if reference.reading_note is None else [reference.reading_note]
    releases = TABLES_FROM[reference.library]
    if any(f"{reference.version}.".startswith(f"{release}.") for release in releases):
        return notes
    installed, wanted = f"{reference.library} {reference.version}", " and ".join(releases)
    version_note = (
        f"{installed} is installed, but the Unicode tables of tokexport are those of"
        f" {reference.library} {wanted}: a difference may come from the release"
    )
    return [version_note, *notes]


def reading_note(file: str, read_as: str) -> str:
    """For a reference that runs what tokexport itself made from a file."""
    return (
        f"no library reads {file}: only the {read_as} that tokexport derives from it was compared,"
        " not the derivation, which the tests of tokexport compare with the original"
    )
