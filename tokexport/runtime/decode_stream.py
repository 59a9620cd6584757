"""Decoding one id at a time, as a model gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, final

from tokexport._core import Stream

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import Ids, Tokenizer


@final
class DecodeStream:
    """Turns ids into text as they come, and never gives half a character.

    ``step(id)`` adds one id and returns the text that is complete now, or ``None``: the bytes of an
    incomplete character wait for the next id, and so does what the next id decides (byte fallback,
    the end of a word). ``flush()`` ends the text: it returns what waited, or ``None``, and the
    stream starts afresh. All parts joined are ``tokenizer.decode(ids)``; only of a run of more than
    256 fallback bytes is the text given before it is known whether the run ends within a character.
    ``feed(ids)`` adds many and returns a text that may be empty. ``skip_special_tokens``: special
    tokens give nothing.

    ``step`` raises ``IdError`` for an id that is no token, and stays as it was. One stream serves
    one thread; a tokenizer has as many streams as are wanted.

    >>> stream = DecodeStream(tokenizer)
    >>> [stream.step(id) for id in tokenizer.encode("hello ☃")]
    ['hello', ' ', None, None, '☃']
    >>> stream.flush() is None
    True
    """

    __slots__ = ("feed", "flush", "step")

    # The native methods themselves: a Python method around them would take as long as they do.
    step: Callable[[int], str | None]
    feed: Callable[[Ids], str]
    flush: Callable[[], str | None]

    def __init__(self, tokenizer: Tokenizer, *, skip_special_tokens: bool = False) -> None:
        stream = Stream(tokenizer._core, skip_special_tokens, False)
        self.step = stream.step
        self.feed = stream.feed
        self.flush = stream.flush

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a DecodeStream cannot be pickled; pickle its tokenizer, and make a new one"
        )
