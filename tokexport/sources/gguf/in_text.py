"""The tokens of a GGUF that are found in the text itself, and RWKV's reference with them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tokexport.model import AddedToken
from tokexport.sources.reference import Mode
from tokexport.sources.rwkv import RwkvReference

# White space as in Rust: Python's str.isspace has four characters more.
_PYTHON_SPACES: Final = {each for each in map(chr, range(0x3001)) if each.isspace()}
_SPACES: Final = "".join(_PYTHON_SPACES - {*"\x1c\x1d\x1e\x1f"})


class InText:
    """Added tokens as they are found in a text."""

    def __init__(self, added: Sequence[AddedToken]) -> None:
        self.added = added
        self.modes = (Mode.TEXT, Mode.IDS) if added else (Mode.TEXT,)
        self._by_content = {token.content: token for token in added}
        longest_first = sorted(self._by_content, key=len, reverse=True)
        self._tokens = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def parts(self, text: str, mode: Mode) -> Iterator[tuple[int, int, int | None]]:
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


class RwkvInTextReference(RwkvReference):
    """The published algorithm, between special tokens, as in RWKV's class for `transformers`."""

    def __init__(self, data: bytes, in_text: InText) -> None:
        super().__init__(data)
        self._in_text, self.modes = in_text, in_text.modes
        self._special = {token.id: token.content.encode() for token in in_text.added}
        self._tokens |= self._special

    def added_tokens(self) -> Sequence[AddedToken]:
        return self._in_text.added

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return [[*self._found(text, mode)] for text in texts]

    def _found(self, text: str, mode: Mode) -> Iterator[int]:
        for start, end, id in self._in_text.parts(text, mode):
            yield from self._encoded(text[start:end].encode()) if id is None else [id]

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        skip = self._special if skip_special_tokens else {}
        return super().decode_batch([[id for id in ids if id not in skip] for ids in batch], False)
