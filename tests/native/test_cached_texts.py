"""Short texts that are cached whole get the same ids again, whatever was encoded in between."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from bulk_cores import NEVER
from golden_files import NAMES, content
from random_added_tokens import WORDS, of_bytes, of_characters, with_tokens
from reader_samples import reference
from repository import SLOW

from tokexport._core import Core
from tokexport.conversion import file_bytes
from tokexport.errors import TokexportError
from tokexport.sources import read

BULK_FROM = 128  # the default; from this size on, the bulk engine is used
ROUNDS = 40_000 if SLOW else 4_000


def found(core: Core, text: str | bytes, *options: Any) -> Any:
    """Ids, or the error."""
    try:
        if isinstance(text, bytes):
            return core.encode_bytes(text, *options)
        return core.encode(text, *options)
    except (TokexportError, UnicodeError) as error:
        return str(error)


def texts(r: random.Random, words: tuple[str, ...]) -> Iterator[str]:
    """Texts of up to 200 bytes, half of them again, many of the same length."""
    seen: list[str] = [""]
    for _ in range(ROUNDS):
        text = r.choice(seen)
        if r.random() < 0.5:
            size = r.choice((1, 2, 7, 8, 9, 31, 63, 64, 65, 127, 128, 200))
            text = "".join(r.choices(words, k=size))[:size]
        elif text and r.random() < 0.3:  # differs in one character
            at = r.randrange(len(text))
            text = text[:at] + r.choice("ab ") + text[at + 1 :]
        seen.append(text)
        yield text


def check(data: bytes, r: random.Random, words: tuple[str, ...], *contents: str) -> None:
    """Both kinds of calls, with and without a template; ``contents``: of added tokens."""
    plain, caching = Core(data, "core", NEVER), Core(data, "core", BULK_FROM)
    for text in texts(r, (*words, *contents * 3)):
        options = r.choice(((), "all", contents[:1])), r.random() < 0.5
        for given in (text, text.encode() + b"\xff" * (r.random() < 0.1)):
            assert found(caching, given, *options) == found(plain, given, *options), options


@pytest.mark.parametrize("make", [of_bytes, of_characters])
def test_random_added_tokens(make: Callable[[random.Random], dict[str, Any]]) -> None:
    r = random.Random(make.__name__)
    for _ in range(5):
        fields = with_tokens(r, make(r))
        contents = [token["content"] for token in fields["added_tokens"]]
        check(file_bytes(read(reference(fields))), r, WORDS, *contents)


@pytest.mark.parametrize("name", NAMES)
def test_golden_files(name: str) -> None:
    words = ("the", " ", "a", "b", "\u00e9", "\u4e2d\u6587", "\u2581", "1", "\n", "\ufdfa", "<s>")
    check(content(name), random.Random(name), words)
