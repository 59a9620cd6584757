"""The `sentencepiece` library as the reference for a GGUF of pieces."""

import string
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from tokexport.model import AddedToken
from tokexport.sources.gguf.in_text import InText
from tokexport.sources.reference import Mode
from tokexport.sources.sentencepiece.reference import SentencePieceReference

_LETTERS: Final = frozenset(bytes((byte,)) for byte in string.ascii_letters.encode())


class PiecesReference(SentencePieceReference):
    """The library, ``between`` the added tokens in a text, which it does not find itself."""

    def __init__(
        self, library: SentencePieceReference, between: SentencePieceReference, in_text: InText
    ) -> None:
        super().__init__(library._processor)
        self._between, self._in_text, self.modes = between, in_text, in_text.modes
        is_control = library._processor.is_control
        self._control = {token.id: token.content for token in in_text.added if is_control(token.id)}
        self._letter = [id for id in self.ids() if library.token_bytes(id) in _LETTERS][:1]

    def added_tokens(self) -> Sequence[AddedToken]:
        return self._in_text.added

    def encode(self, text: str, special: bool) -> list[int]:
        ids = []
        for start, end, id in self._in_text.parts(text, Mode.IDS if special else Mode.TEXT):
            ids += self._between.encode(text[start:end], False) if id is None else [id]
        return ids

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return [self.encode(text, mode is Mode.IDS) for text in texts]

    def offsets(self, text: str, mode: Mode) -> list[tuple[int, int]]:
        offsets = []
        for start, end, id in self._in_text.parts(text, mode):
            whole = [(0, end - start)]
            found = self._between.offsets(text[start:end], mode) if id is None else whole
            offsets += [(start + first, start + last) for first, last in found]
        return offsets

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        if skip_special_tokens:
            return super().decode_batch(batch, True)
        return [self._decode(ids) for ids in batch]

    def _decode(self, ids: Sequence[int]) -> str:
        text = ""
        for is_control, group in groupby(ids, self._control.__contains__):
            if is_control:
                text += "".join(self._control[id] for id in group)
            else:
                # A space at the start of a text is dropped, so the others begin with a letter.
                before = self._letter if text else []
                text += self._processor.decode([*before, *group])[len(before) :]
        return text

    def token_bytes(self, id: int) -> bytes | None:
        control = self._control.get(id)
        return super().token_bytes(id) if control is None else control.encode()
