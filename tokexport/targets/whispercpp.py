"""The vocabulary block of whisper.cpp's ggml files, which follows the mel filters."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from construct import Bytes, Int32sl, Rebuild, Struct, this

from tokexport.model import SpecialIds, Token
from tokexport.targets.material import Material
from tokexport.targets.parts import Part, bytes_of, refuse
from tokexport.targets.records import parse_records
from tokexport.targets.target import Files, Target, single

HEADER: Final = Struct("n_tokens" / Int32sl)
RECORD: Final = Struct(
    "length" / Rebuild(Int32sl, lambda it: len(it.text)), "text" / Bytes(this.length)
)
# std::regex matches bytes, with the character classes of the C locale.
_WORDS: Final = re.compile(
    rb"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+"
)


def _write(source: Material) -> Files:
    added = {id for id, token in enumerate(source.tokens) if token is None or token.special}
    count = min(added, default=len(source.tokens))
    later = [id for id in range(count, len(source.tokens)) if id not in added]
    if not source.of_bytes or later:
        raise refuse(
            "whisper.cpp",
            f"the token {later[0]} comes after a special token or a hole"
            if source.of_bytes
            else "it is not BPE over bytes",
            "its ids number the tokens in order, special tokens after all others",
        )
    texts = [token.content for token in source.tokens[:count] if token is not None]
    records = b"".join(RECORD.build({"text": text}) for text in texts)
    return single(HEADER.build({"n_tokens": count}) + records)


def _parse(path: Path) -> list[bytes]:
    return [record.text for record in parse_records(path, HEADER, RECORD, "n_tokens")[1]]


def _read(path: Path) -> Material:
    tokens = tuple(map(Token, _parse(path)))
    return Material(path.name, tokens, {Part.BYTES: bytes_of(tokens)}, SpecialIds())


class WhisperCpp:
    """What ``tokenize`` and ``whisper_token_to_str`` do."""

    finds_special_tokens = False

    def __init__(self, path: Path) -> None:
        self._tokens = _parse(path)
        self._ids = {token: id for id, token in enumerate(self._tokens)}

    def encode(self, text: str) -> list[int]:
        """Words by a pattern over bytes; in each word the longest token first."""
        ids = []
        for match in _WORDS.finditer(text.encode()):
            word = match[0]
            while word:
                ends = range(len(word), 0, -1)
                size = next((end for end in ends if word[:end] in self._ids), 0)
                ids += [self._ids[word[:size]]] if size else []
                word = word[size or 1 :]
        return ids

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes of each token, without special tokens, which the program names itself."""
        return b"".join(self._tokens[id] for id in ids if id < len(self._tokens))


WHISPER: Final = Target(
    "whisper.cpp",
    "whisper.cpp",
    _write,
    _read,
    lambda path, how: WhisperCpp(path),
    Path("whisper.cpp/golden.bin"),
    layouts=(HEADER, RECORD),
    meanings={
        Part.MODEL: "the program takes the longest token at each position",
        Part.PRE_TOKENIZER: "the program has its own pattern, over bytes",
        Part.SPECIAL: "the program derives them from the size of its model",
        Part.BYTES: "special tokens are not in it",
    },
)
