"""Stanford's CS336, assignment 1: the BPE functions that its adapters require.

The pattern is GPT-2's, with tiktoken's character classes. Texts are first divided at special
tokens; of two that begin at the same position, the longer one is taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError, reading
from tokexport.limits import check_id
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    Dialect,
    Provenance,
    Reference,
    Split,
    Token,
    TokenizerModel,
    TokenKind,
)
from tokexport.output import resolve, write_file
from tokexport.runtime.tokenizer import load
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.training import train_from_iterator
from tokexport.training.files import decoded

Merge = tuple[bytes, bytes]

PART: Final = 1 << 20  # bytes of a file read at once
CHUNK: Final = 1 << 12  # characters and ids that exist at once as Python objects
_BYTES: Final = tuple(bytes((byte,)) for byte in range(256))


def run_train_bpe(
    input_path: str | os.PathLike[str],
    vocab_size: int,
    special_tokens: Sequence[str],
    *,
    num_threads: int | None = None,
) -> tuple[dict[int, bytes], list[Merge]]:
    """Learns a vocabulary of ``vocab_size`` ids and its merges from a UTF-8 text file.

    The special tokens have the first ids, followed by the 256 bytes, then the merges in the order
    in which they were learned. Of equally frequent pairs the greatest is merged, by the bytes of
    its left and then of its right token. The file is read in parts, and the result does not depend
    on ``num_threads`` (None: one per processor). Raises TokexportError like
    ``train_from_iterator``, SourceError if the file is not UTF-8.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     count = file.write("low lower<|end|>lowest")
    ...     file.flush()
    ...     vocab, merges = run_train_bpe(file.name, 260, ["<|end|>"])
    >>> merges, vocab[0], vocab[259]
    ([(b'o', b'w'), (b'l', b'ow'), (b'low', b'e')], b'<|end|>', b'lowe')
    """
    trained = train_from_iterator(
        [_decoded(input_path)],
        vocab_size,
        pattern="gpt2",
        special_tokens=special_tokens,
        split_special=True,
        tie_break="greatest-bytes",
        num_threads=num_threads,
    )
    special = (name.encode() for name in special_tokens)
    merges = [(merge.left, merge.right) for merge in trained.merges]
    return dict(enumerate((*special, *_BYTES, *map(b"".join, merges)))), merges


def get_tokenizer(
    vocab: Mapping[int, bytes], merges: Sequence[Merge], special_tokens: Sequence[str] | None = None
) -> Tokenizer:
    """The tokenizer of a vocabulary, of merges in the order in which they were learned, and of
    special tokens; special tokens outside the vocabulary get the next ids.

    Raises UnsupportedError if its ids would not be certain: for a vocabulary that lacks a byte or
    has a token twice, and for merges out of order.
    """
    return Tokenizer(vocab, merges, special_tokens)


class Tokenizer:
    """A BPE tokenizer as the assignment describes it.

    >>> vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"he", 257: b"<|end|>"}
    >>> tokenizer = Tokenizer(vocab, [(b"h", b"e")], ["<|end|>"])
    >>> tokenizer.encode("hehe!<|end|>")
    [256, 256, 33, 257]
    >>> list(tokenizer.encode_iterable(["h", "ehe!<|e", "nd|>"]))
    [256, 256, 33, 257]
    >>> tokenizer.decode([256, 33, 257])
    'he!<|end|>'
    """

    def __init__(
        self,
        vocab: Mapping[int, bytes],
        merges: Sequence[Merge],
        special_tokens: Sequence[str] | None = None,
    ) -> None:
        if isinstance(special_tokens, str):
            raise TypeError("special_tokens must be several special tokens, not str")
        self._file = file_bytes(_model(vocab, merges, tuple(dict.fromkeys(special_tokens or ()))))
        self._tokenizer = load(self._file, check=False)
        # Allocates the memory for encoding now, so that no text allocates more.
        list(self.encode_iterable(("a",)))

    def encode(self, text: str) -> list[int]:
        """The ids of a text. Raises UnicodeEncodeError for a lone surrogate."""
        return self._tokenizer.encode(text, allowed_special="all")

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        """The ids of a text that arrives in parts, such as the lines of an open file: those of the
        joined parts. Memory use does not grow with the text.
        """
        short = (part[at : at + CHUNK] for part in iterable for at in range(0, len(part), CHUNK))
        for ids in self._tokenizer.encode_stream(short, allowed_special="all"):
            for at in range(0, len(ids), CHUNK):
                yield from ids[at : at + CHUNK].tolist()

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, with U+FFFD for invalid UTF-8. KeyError for an id without a token."""
        return self._tokenizer.decode(ids)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the tokexport file, which ``tokexport.load`` opens. Raises TokexportError if the
        file exists (unless ``force``) or cannot be written.
        """
        write_file(resolve(path, force=force), self._file, force=force)


def _model(
    vocab: Mapping[int, bytes], merges: Sequence[Merge], special_tokens: Sequence[str]
) -> TokenizerModel:
    ids = _ids(vocab, special_tokens)
    special = {name: ids[name.encode()] for name in special_tokens}
    reachable = {byte: ids[byte] for byte in _BYTES}
    triples = []
    for index, (left, right) in enumerate(merges):
        merged = left + right
        for part in (left, right):
            if part not in reachable:
                raise _refusal(index, f"needs {part!r}, which no earlier merge produces")
        if merged in reachable:
            raise _refusal(index, f"produces {merged!r}, which an earlier merge produces")
        if merged not in ids:
            raise _refusal(index, f"produces {merged!r}, which is not in the vocabulary")
        triples.append((ids[left], ids[right], ids[merged]))
        reachable[merged] = ids[merged]
    tokens: list[Token | None] = [None] * (max(ids.values()) + 1)
    for content, id in ids.items():
        tokens[id] = Token(content)
    for name, id in special.items():
        kind = TokenKind.MODEL if name.encode() in reachable else TokenKind.ADDED
        tokens[id] = Token(name.encode(), kind, special=True)
    pattern = KNOWN["gpt2"].pattern
    return TokenizerModel(
        tokens=tuple(tokens),
        model=BytePairModel(reachable, np.array(triples, np.int64).reshape(-1, 3)),
        reference=Reference.TOKENIZERS,
        provenance=Provenance("CS336"),
        pre_tokenizer=(
            Split(pattern, Behavior.REMOVED, True, Dialect.FANCY_REGEX, path="pattern"),
        ),
        added_tokens=tuple(AddedToken(id, name, special=True) for name, id in special.items()),
    )


def _ids(vocab: Mapping[int, bytes], special_tokens: Sequence[str]) -> dict[bytes, int]:
    """The ids of the tokens, including special ones."""
    ids: dict[bytes, int] = {}
    for id, content in vocab.items():
        check_id("vocab", id)
        if id < 0:
            raise UnsupportedError("vocab", f"the id {id} is negative", "ids begin with 0")
        if content in ids:
            raise UnsupportedError(
                "vocab",
                f"the ids {ids[content]} and {id} are both {content!r}",
                "give each token one id",
            )
        ids[content] = id
    missing = [byte for byte in _BYTES if byte not in ids]
    if missing:
        raise UnsupportedError(
            "vocab",
            f"{len(missing)} of the 256 bytes are not tokens, the first of them {missing[0]!r}",
            "add a token for each, so that every text has ids",
        )
    for name in special_tokens:
        if not name:
            raise UnsupportedError("special_tokens", "one of them is empty", "leave it out")
        ids.setdefault(name.encode(), max(ids.values()) + 1)
    return ids


def _refusal(index: int, problem: str) -> UnsupportedError:
    hint = "give the merges in the order in which they were learned, with their vocabulary"
    return UnsupportedError(f"merges[{index}]", f"it {problem}", hint)


def _decoded(path: str | os.PathLike[str]) -> Iterator[str]:
    """The text of a file in parts, with unchanged line ends."""
    with reading(path), open(path, "rb") as file:
        yield from decoded(iter(lambda: file.read(PART), b""), os.fspath(path))
