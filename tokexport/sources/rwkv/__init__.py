"""RWKV's vocabulary (``rwkv_vocab_*.txt``): a line is an id, a Python literal and its length.

The encoder is the published one: the longest token at each position
(https://github.com/BlinkDL/ChatRWKV, ``rwkv_tokenizer.py``).
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from tokexport.errors import SourceError
from tokexport.limits import check_id
from tokexport.model import GreedyModel, Provenance, Reference, TokenizerModel, Tokens
from tokexport.sources.config import read_config, with_roles
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import line_of
from tokexport.sources.reference import Mode, ReferenceTokenizer
from tokexport.sources.source import Input, Source

_LINE: Final = re.compile(rb"([0-9]{1,9}) (b?(?:'.*'|\".*\")) ([0-9]{1,9})\r?")


def parse_vocabulary(data: bytes, file: str) -> dict[int, bytes]:
    """The tokens by id. SourceError, with its number, for any other line.

    >>> parse_vocabulary(b"1 'a' 1\\n2 b'\\\\xff' 1\\n", "x.txt")
    {1: b'a', 2: b'\\xff'}
    """
    tokens: dict[int, bytes] = {}
    known: set[bytes] = set()
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line and number > 1:
            continue
        match = _LINE.fullmatch(line)
        token = None if match is None else _literal(match[2])
        if match is None or token is None:
            expected = "an id, a Python literal of a text or of bytes, and its length"
            line_of(file, number, line).fail(expected)
        if len(token) != int(match[3]):
            line_of(file, number, line).fail(f"the length {len(token)}")
        id = int(match[1])
        # An empty token never occurs in a text: all padding ids of a vocabulary may have it.
        if (token and token in known) or id in tokens:
            what = "id" if id in tokens else "token"
            hint = "give each line an id and a token of its own"
            line_of(file, number, line).unsupported(f"an earlier line has the same {what}", hint)
        check_id(f"line {number}", id)
        tokens[id] = token
        known.add(token)
    return tokens


def _literal(text: bytes) -> bytes | None:
    try:
        value = ast.literal_eval(text.decode("utf-8"))
        value = value.encode("utf-8") if isinstance(value, str) else value
        return value if isinstance(value, bytes) else None
    except (ValueError, SyntaxError, MemoryError):  # UnicodeError is a ValueError
        return None


def read_rwkv(
    data: bytes, name: str, files: SourceFiles, source: str = "rwkv vocabulary"
) -> TokenizerModel:
    """The model of a vocabulary file. The id 0, which ends a text, is not a token in it."""
    by_id = parse_vocabulary(data, name)
    vocab = {token: number for number, token in by_id.items() if token}
    missing = [byte for byte in range(256) if bytes((byte,)) not in vocab]
    if missing:
        raise SourceError(
            f"{len(missing)} of the 256 single bytes are not tokens, the first 0x{missing[0]:02x}:"
            " the encoder stops at them",
            name=name,
        )
    tokens, greedy = Tokens.joined(by_id), GreedyModel(vocab)
    model = TokenizerModel(tokens, greedy, Reference.RWKV, Provenance(source))
    return with_roles(model, files, read_config(files), lambda content: None)


class RwkvReference(ReferenceTokenizer):
    """The published algorithm, which no library has: the longest token at each position."""

    library = "rwkv"
    version = "world"

    def __init__(self, data: bytes) -> None:
        self._tokens: dict[int, bytes] = {}
        for line in data.decode("utf-8").split("\n"):
            if line.strip():
                literal = line[line.index(" ") + 1 : line.rindex(" ")]
                value: str | bytes = ast.literal_eval(literal)
                self._tokens[int(line[: line.index(" ")])] = (
                    value if isinstance(value, bytes) else value.encode("utf-8")
                )
        self._ids = {token: number for number, token in self._tokens.items()}
        # The sizes of the tokens with the same first byte, longest first.
        sizes: defaultdict[bytes, set[int]] = defaultdict(set)
        for token in self._ids:
            sizes[token[:1]].add(len(token))
        self._sizes = {first: sorted(found, reverse=True) for first, found in sizes.items()}

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return [[*self._encoded(text.encode("utf-8"))] for text in texts]

    def _encoded(self, data: bytes) -> Iterator[int]:
        at = 0
        while at < len(data):
            sizes = self._sizes[data[at : at + 1]]
            size = next(size for size in sizes if data[at : at + size] in self._ids)
            yield self._ids[data[at : at + size]]
            at += size

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        """The bytes of the tokens, with U+FFFD for invalid UTF-8."""
        texts = (b"".join(map(self._tokens.__getitem__, ids)) for ids in batch)
        return [text.decode("utf-8", "replace") for text in texts]

    def token_bytes(self, id: int) -> bytes | None:
        return self._tokens[id]

    def ids(self) -> Sequence[int]:
        return sorted(self._tokens)


def _sniff(source: Input) -> bytes | None:
    lines = source.lines[:3]
    return source.data if lines and all(map(_LINE.fullmatch, lines)) else None


SOURCE = Source(
    "RWKV vocabulary",
    _sniff,
    lambda source, data: read_rwkv(data, source.name, source.files),
    lambda source, data: RwkvReference(data),
    files=("rwkv_vocab_*.txt",),
)
