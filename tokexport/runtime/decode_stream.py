"""Decoding one id at a time, as a model emits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, final

from tokexport._core import Stream
from tokexport.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import Ids


@final
class DecodeStream:
    """Turns ids into text as they arrive, and never returns half a character.

    ``step(id)`` adds one id and returns the text that is now complete, or ``None``: the bytes of an
    incomplete character are pending until the next id, and so is anything that the next id decides
    (byte fallback, the end of a word). ``flush()`` ends the text: it returns what is pending, or
    ``None``, and resets the stream. The joined parts are ``tokenizer.decode(ids)``, except that the
    text of a run of more than 256 fallback bytes is returned before it is known whether the run
    ends within a character. ``feed(ids)`` adds many ids and returns a text, possibly empty. With
    ``skip_special_tokens`` special tokens produce no text.

    ``step`` raises ``IdError`` for an id that is not a token, and leaves the stream unchanged. A
    stream is for one thread; a tokenizer can have any number of streams.

    >>> stream = DecodeStream(tokenizer)
    >>> [stream.step(id) for id in tokenizer.encode("hello ☃")]
    ['hello', ' ', None, None, '☃']
    >>> stream.flush() is None
    True
    """

    __slots__ = ("feed", "flush", "step")

    # The native methods themselves: a Python wrapper would take as long as they do.
    step: Callable[[int], str | None]
    feed: Callable[[Ids], str]
    flush: Callable[[], str | None]

    def __init__(self, tokenizer: Tokenizer, *, skip_special_tokens: bool = False) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"tokenizer must be a Tokenizer, not {type(tokenizer).__name__}")
        stream = Stream(tokenizer._core, skip_special_tokens, False)
        self.step = stream.step
        self.feed = stream.feed
        self.flush = stream.flush

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DecodeStream cannot be pickled; pickle its tokenizer and make a new one")
