"""The `sentencepiece` library (Google) as a reference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Literal

from tokexport.errors import MissingLibraryError, SourceError
from tokexport.sources.reference import AddedContent, Mode

try:
    import sentencepiece
except ImportError as error:
    raise MissingLibraryError(
        "the library `sentencepiece` is not installed, and its ids are the right ones for this"
        " source; pip install 'tokexport[verify]'"
    ) from error

_SPACE_SYMBOL: Final = "\u2581"


class SentencePieceReference:
    """A model in the library itself, called without options: no BOS, no EOS, control pieces in a
    text are text.
    """

    library = "sentencepiece"
    reading_note: str | None = None
    version = sentencepiece.__version__

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self._processor = processor
        self._size: int = processor.get_piece_size()

    @classmethod
    def from_bytes(cls, data: bytes, path: str | os.PathLike[str]) -> SentencePieceReference:
        """Loads the bytes of a ``.model``; ``path`` is where they came from, for errors."""
        try:
            return cls(sentencepiece.SentencePieceProcessor(model_proto=data))
        except (RuntimeError, OSError) as error:
            raise SourceError(
                f"{path}: the library `sentencepiece` {sentencepiece.__version__} refuses it:"
                f" {error}"
            ) from error

    def modes(self) -> tuple[Mode, ...]:
        """Only one: the library has no special tokens in a text, and no post-processor."""
        return (Mode.TEXT,)

    def allowed_special(self, mode: Mode) -> Literal["all"] | frozenset[str]:
        """None."""
        return frozenset()

    def encode(self, text: str, special: bool) -> list[int]:
        """One text; user-defined pieces are always ids."""
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise TypeError(
                "a lone surrogate is no text"
            )  # the library's RuntimeError does not say so
        ids: list[int] = self._processor.encode(text)
        return ids

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Many texts, one after the other."""
        return [self._processor.encode(text) for text in texts]

    def encode_pair(self, first: str, second: str, mode: Mode = Mode.TEMPLATE) -> list[int] | None:
        """The library has no pairs."""
        return None

    def offsets(self, text: str, mode: Mode) -> list[tuple[int, int]]:
        """As the library reports them."""
        offsets: list[tuple[int, int]] = self._processor.EncodeAsOffsetMapping(text)["offsets"]
        return offsets

    def starts(self, text: str, mode: Mode) -> list[int]:
        """From the offsets that the library reports, which count characters."""
        offsets: list[tuple[int, int]] = self._processor.EncodeAsOffsetMapping(text)["offsets"]
        places = [0, *accumulate(len(character.encode()) for character in text)]
        return [places[first] for first, _ in offsets]

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool
    ) -> list[str]:
        """Ids to text. The library cannot skip: its control pieces give no text anyway, though they
        are taken out before.
        """
        skip = self._processor.is_control if skip_special_tokens else lambda id: False
        return [self._processor.decode([id for id in ids if not skip(id)]) for ids in sequences]

    def token_bytes(self, id: int) -> bytes | None:
        """The piece with spaces for U+2581; nothing for a control piece, what the library decodes
        for the unknown one.
        """
        if self._processor.is_control(id):
            return b""
        if self._processor.is_unknown(id):
            return str(self._processor.decode([id])).encode()
        piece: str = self._processor.id_to_piece(id)
        if self._processor.is_byte(id):
            return bytes((int(piece[1:-1], 16),))
        return piece.replace(_SPACE_SYMBOL, " ").encode()

    def ids(self) -> Sequence[int]:
        """Every piece."""
        return range(self._size)

    def added_tokens(self) -> Sequence[AddedContent]:
        """None that the library tells from other pieces."""
        return []

    def replaces_surrogates(self) -> bool:
        """A lone surrogate is an error."""
        return False
