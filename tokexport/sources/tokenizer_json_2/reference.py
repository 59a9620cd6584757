"""The `tokenizers` library (Hugging Face) from 1.0 on, the reference for tokenizer.json 2.0.

Of the Python interface of 0.23 it has only ``Tokenizer``, and it reports no offsets.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from tokexport.errors import MissingLibraryError
from tokexport.model import AddedToken
from tokexport.sources.json_node import parse
from tokexport.sources.reference import (
    BYTE_OF,
    Mode,
    ReferenceStopsError,
    ReferenceTokenizer,
    refusal,
)

try:
    import tokenizers
except ImportError:
    _INSTALLED: str | None = None
else:
    _INSTALLED = metadata.version("tokenizers")

_WANTED: Final = (
    "a tokenizer.json of version 2.0 is read by the library `tokenizers` from 1.0 on; convert it"
    " with --no-self-test, and verify it where that is installed: pip install"
    " 'tokenizers>=1.0.0rc3'"
)


class Tokenizers1Reference(ReferenceTokenizer):
    """A tokenizer.json 2.0 in the library itself, without truncation and padding."""

    library = "tokenizers"
    version = _INSTALLED or ""
    modes = (Mode.TEXT, Mode.IDS, Mode.TEMPLATE)  # it has no option for some special tokens

    def __init__(self, path: str) -> None:
        """Raises SourceError if the library refuses it, MissingLibraryError without 1.0."""
        if _INSTALLED is None:
            raise MissingLibraryError("the library `tokenizers` is not installed", _WANTED)
        if int(_INSTALLED.partition(".")[0]) < 1:
            problem = f"{path}: the library `tokenizers` {_INSTALLED} is installed"
            raise MissingLibraryError(problem, _WANTED)
        try:
            library: Any = tokenizers  # mypy sees 0.23
            self._tokenizer = library.Tokenizer.from_file(path)
        except Exception as error:  # any exception is its refusal
            raise refusal(path, self.library, self.version, error) from error
        self._tokenizer.truncation = self._tokenizer.padding = None
        root = parse(Path(path).read_bytes(), Path(path).name)
        model = root.field("model").object()
        vocab = model["vocab"]
        self._byte_level = model.get("byte_level") is True
        added = root.value.get("added_tokens") or ()
        declared = {token["content"]: token["special"] for token in added}
        size = len(vocab) if isinstance(vocab, list) else max(vocab.values(), default=-1) + 1
        self._tokens: dict[int, str] = {}
        for number in range(size + len(declared)):
            for token in self._tokenizer.decode_tokens([number]):
                self._tokens[number] = token
        self._added = {token.id: token for token in self._numbered(declared)}

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return self._encoded(list(texts), mode)

    def encode_pair(self, first: str, second: str, mode: Mode = Mode.TEMPLATE) -> list[int]:
        return self._encoded([(first, second)], mode)[0]

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        """Ids to text; the library skips ids that it does not know."""
        decode = self._tokenizer.decode
        return [decode(list(ids), skip_special_tokens=skip_special_tokens) for ids in batch]

    def token_bytes(self, id: int) -> bytes | None:
        """For a byte-level model only: bytes from GPT-2's alphabet, added tokens as they are."""
        token = self._tokens.get(id)
        if token is None or not self._byte_level:
            return None
        if id not in self._added and all(character in BYTE_OF for character in token):
            return bytes(BYTE_OF[character] for character in token)
        return token.encode()

    def ids(self) -> Sequence[int]:
        """The ids for which the library has a token, up to the largest possible added token."""
        return sorted(self._tokens)

    def added_tokens(self) -> Sequence[AddedToken]:
        return list(self._added.values())

    def _numbered(self, declared: Mapping[str, bool]) -> Iterator[AddedToken]:
        """A normalized token, not spelled as declared, has the id that its content encodes to."""
        # Of two equal spellings, the added one has the higher id.
        of_spelling = {token: number for number, token in self._tokens.items()}
        for content, special in declared.items():
            try:
                found = self._encoded([content], Mode.IDS)[0]
            except ReferenceStopsError:  # the model lacks a token for it, and one for unknown text
                found = []
            number = of_spelling.get(content, found[0] if len(found) == 1 else None)
            if number is not None:
                yield AddedToken(number, content, special)

    def _encoded(self, texts: Sequence[str | tuple[str, str]], mode: Mode) -> list[list[int]]:
        try:
            encodings = self._tokenizer.encode_batch(
                texts,
                add_special_tokens=mode is Mode.TEMPLATE,
                encode_special_tokens=mode is Mode.TEXT,
            )
        except (RuntimeError, ValueError) as error:
            raise ReferenceStopsError(str(error)) from None
        return [list(encoding.ids) for encoding in encodings]
