"""The `sentencepiece` library (Google) as a reference."""

from __future__ import annotations

from collections.abc import Sequence

from tokexport.sources.reference import Mode, ReferenceTokenizer, needs_library, refusal
from tokexport.sources.sentencepiece.proto import SPACE_SYMBOL

with needs_library("sentencepiece"):
    import sentencepiece


class SentencePieceReference(ReferenceTokenizer):
    """A model in the library itself: no BOS, no EOS, and control pieces in a text are text."""

    library = "sentencepiece"
    version = sentencepiece.__version__

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self._processor = processor
        self._size: int = processor.get_piece_size()

    @classmethod
    def from_bytes(cls, data: bytes, path: object) -> SentencePieceReference:
        """Loads the bytes of a ``.model``; ``path`` is where they came from, for errors."""
        try:
            return cls(sentencepiece.SentencePieceProcessor(model_proto=data))
        except (RuntimeError, OSError) as error:
            raise refusal(path, cls.library, cls.version, error) from error

    def encode(self, text: str, special: bool) -> list[int]:
        """One text; user-defined pieces are always ids."""
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise TypeError("a lone surrogate is no text")  # the library's error does not say that
        return super().encode(text, special)

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return [self._processor.encode(text) for text in texts]

    def offsets(self, text: str, mode: Mode) -> list[tuple[int, int]]:
        offsets: list[tuple[int, int]] = self._processor.EncodeAsOffsetMapping(text)["offsets"]
        return offsets

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        """Ids to text. The library cannot skip, so control pieces are removed first."""
        skip = self._processor.is_control if skip_special_tokens else lambda id: False
        return [self._processor.decode([id for id in ids if not skip(id)]) for ids in batch]

    def token_bytes(self, id: int) -> bytes | None:
        """The piece with spaces for U+2581; for control and unknown pieces what they decode to."""
        if self._processor.is_control(id):
            return b""
        if self._processor.is_unknown(id):
            return str(self._processor.decode([id])).encode()
        piece: str = self._processor.id_to_piece(id)
        if self._processor.is_byte(id):
            return bytes((int(piece[1:-1], 16),))
        return piece.replace(SPACE_SYMBOL, " ").encode()

    def ids(self) -> Sequence[int]:
        return range(self._size)
