"""Methods of a tokenizer: from ids to text."""

from __future__ import annotations

from tokexport._core import Stream

TYPE_CHECKING = False  # as in tokenizer.py
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tokexport.runtime.decode_stream import DecodeStream
    from tokexport.runtime.tokenizer import Ids, Tokenizer


def decode(
    self: Tokenizer, ids: Ids, *, skip_special_tokens: bool = False, errors: str = "replace"
) -> str:
    """The text of a list, an array or any other sequence of ids.

    The text is that of the source's own library, which replaces invalid UTF-8 with U+FFFD; another
    value of ``errors`` treats it as ``bytes.decode`` does. Raises ``KeyError``, which holds the id,
    for an id that is not a token.

    >>> tokenizer.decode([259, 264, 300])
    'hello world<|end|>'
    >>> tokenizer.decode([259, 264, 300], skip_special_tokens=True)
    'hello world'
    """
    return self._core.decode(ids, skip_special_tokens, errors)


def decode_bytes(self: Tokenizer, ids: Ids, *, skip_special_tokens: bool = False) -> bytes:
    """The joined bytes of ids. Raises ``KeyError`` like :meth:`decode`.

    >>> tokenizer.decode_bytes([259, 264])
    b'hello world'
    """
    return self._core.decode_bytes(ids, skip_special_tokens)


def decode_batch(
    self: Tokenizer,
    batch: Iterable[Ids],
    *,
    skip_special_tokens: bool = False,
    errors: str = "replace",
) -> list[str]:
    """The text of each sequence of ids.

    >>> tokenizer.decode_batch([[259], [259, 264]])
    ['hello', 'hello world']
    """
    return [self._core.decode(ids, skip_special_tokens, errors) for ids in batch]


def decode_stream(self: Tokenizer, *, skip_special_tokens: bool = False) -> DecodeStream:
    """A :class:`DecodeStream`, which takes ids one at a time.

    >>> stream = tokenizer.decode_stream()
    >>> stream.step(259), stream.step(264), stream.flush()
    ('hello', ' world', None)
    """
    from tokexport.runtime.decode_stream import DecodeStream

    return DecodeStream(self, skip_special_tokens=skip_special_tokens)


def decode_bytes_stream(
    self: Tokenizer, parts: Iterable[Ids], *, skip_special_tokens: bool = False
) -> Iterator[bytes]:
    """Like :meth:`decode_bytes`, for ids that arrive in parts.

    >>> b"".join(tokenizer.decode_bytes_stream([[259], [264]]))
    b'hello world'
    """
    stream = Stream(self._core, skip_special_tokens, True)
    for part in parts:
        yield stream.feed(part)
    yield stream.flush() or b""


def decode_tokens_bytes(
    self: Tokenizer, ids: Ids, *, skip_special_tokens: bool = False
) -> list[bytes]:
    """The bytes that each id contributes to ``decode_bytes(ids)``.

    >>> tokenizer.decode_tokens_bytes([259, 264])
    [b'hello', b' world']
    """
    return self._core.decode_tokens_bytes(ids, skip_special_tokens)


def decode_single_token_bytes(self: Tokenizer, id: int) -> bytes:
    """The bytes of one id between others, UTF-8 or not, before edits of the whole text.

    Raises ``KeyError`` for an id that is not a token.

    >>> tokenizer.decode_single_token_bytes(264)
    b' world'
    """
    return self._core.token_bytes(id)


def decode_with_offsets(self: Tokenizer, ids: Ids) -> tuple[str, list[int]]:
    """The text of ids, and for each id the index of the character that contains its first byte.

    As in tiktoken. Raises ``UnicodeDecodeError`` if the bytes are not UTF-8.

    >>> tokenizer.decode_with_offsets(tokenizer.encode("hello ☃"))
    ('hello ☃', [0, 5, 6, 6, 6])
    """
    text = bytearray()
    offsets = []
    characters = 0  # counted by their first bytes
    for token in self._core.decode_tokens_bytes(ids, False):
        begins_inside = 0x80 <= token[0] < 0xC0 if token else False
        offsets.append(max(0, characters - begins_inside))
        characters += sum(not 0x80 <= byte < 0xC0 for byte in token)
        text += token
    return text.decode(), offsets
