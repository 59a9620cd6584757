"""The `sentencepiece` library as the reference for a GGUF of pieces."""

import re
import string
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from tokexport.model import AddedToken
from tokexport.sources.reference import Mode
from tokexport.sources.sentencepiece.reference import SentencePieceReference

# White space as in Rust: Python's str.isspace has four characters more.
_SPACES: Final = "".join(
    character
    for character in map(chr, range(0x3001))
    if character.isspace() and not "\x1c" <= character <= "\x1f"
)
_LETTERS: Final = frozenset(bytes((byte,)) for byte in string.ascii_letters.encode())


class PiecesReference(SentencePieceReference):
    """The library, ``between`` the added tokens in a text, which it does not find itself."""

    def __init__(
        self,
        library: SentencePieceReference,
        between: SentencePieceReference,
        added: Sequence[AddedToken],
    ) -> None:
        super().__init__(library._processor)
        self._between, self._added = between, added
        self._by_content = {token.content: token for token in added}
        longest_first = sorted(self._by_content, key=len, reverse=True)
        self._tokens = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        is_control = library._processor.is_control
        self._control = {token.id: token.content for token in added if is_control(token.id)}
        self._letter = [id for id in self.ids() if library.token_bytes(id) in _LETTERS][:1]

    def modes(self) -> tuple[Mode, ...]:
        return (Mode.TEXT, Mode.IDS) if self._added else (Mode.TEXT,)

    def added_tokens(self) -> Sequence[AddedToken]:
        return self._added

    def encode(self, text: str, special: bool) -> list[int]:
        ids = []
        for start, end, id in self._parts(text, Mode.IDS if special else Mode.TEXT):
            ids += self._between.encode(text[start:end], False) if id is None else [id]
        return ids

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return [self.encode(text, mode is Mode.IDS) for text in texts]

    def offsets(self, text: str, mode: Mode) -> list[tuple[int, int]]:
        offsets = []
        for start, end, id in self._parts(text, mode):
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

    def _parts(self, text: str, mode: Mode) -> Iterator[tuple[int, int, int | None]]:
        """Added tokens and the texts between them: where each is, and the id of a token. Of the
        tokens at one place the longest is found; as text, no other one is in it.
        """
        begin = at = 0
        while match := self._tokens.search(text, at):
            token, at = self._by_content[match[0]], match.end()
            if token.special and mode is Mode.TEXT:
                continue
            if token.rstrip:
                at = len(text) - len(text[at:].lstrip(_SPACES))
            start = match.start()
            if token.lstrip:
                start = max(begin, len(text[:start].rstrip(_SPACES)))
            yield begin, start, None
            yield start, at, token.id
            begin = at
        yield begin, len(text), None
