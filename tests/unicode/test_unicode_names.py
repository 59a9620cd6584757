"""A property is found by names that its engine accepts, except for some of fancy-regex's
spellings that no tokenizer has: ``IsGreek``, ``gc:L``, ``gc!=L`` and letters outside ASCII.
"""

import random
import re

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW
from tiktoken_encodings import byte_encoding

from tokexport import unicode
from tokexport.model import Dialect
from tokexport.unicode import property_set


def engine_accepts(pattern: str, dialect: Dialect) -> bool:
    try:
        if dialect is Dialect.ONIGURUMA:
            tokenizers.Regex(pattern)
        else:
            byte_encoding(pattern)
    except Exception:  # each binding raises its own, and tokenizers a bare Exception
        return False
    return True


def is_known(name: str, dialect: Dialect) -> bool:
    try:
        property_set(name, dialect)
    except KeyError:
        return False
    return True


def is_left_out(name: str, dialect: Dialect) -> bool:
    """Whether a name is one of those spellings."""
    has_prefix = any(part.lower().startswith("is") for part in re.split("[=:!]", name))
    is_unusual = has_prefix or not name.isascii() or not {":", "!"}.isdisjoint(name)
    return dialect is Dialect.FANCY_REGEX and is_unusual


def check_name(name: str, dialect: Dialect) -> None:
    # The pattern reader handles \p{^L}.
    plain = name if name.startswith("^^") else name.removeprefix("^")
    is_accepted = engine_accepts(rf"\p{{{name}}}", dialect)
    if is_left_out(plain, dialect):
        assert not is_known(plain, dialect)
    else:
        assert is_known(plain, dialect) == is_accepted


def names(dialect: Dialect) -> list[str]:
    return sorted(unicode._data().header["properties"][dialect.value])


@st.composite
def spelled(draw: st.DrawFn) -> str:
    """A name with other case and separators, sometimes with a letter dropped or added."""
    name = draw(st.sampled_from(sorted({*names(Dialect.ONIGURUMA), *names(Dialect.FANCY_REGEX)})))
    parts = []
    for character in name:
        parts.append(draw(st.sampled_from((character, character, character.upper()))))
        parts.append(draw(st.sampled_from(("",) * 12 + ("_", " ", "-"))))
    changed = draw(
        st.sampled_from(("", "", "", "", "is", "Is", "i s", "In", "x", "é", "^", "\u212a", "İ"))
    )
    at = draw(st.just(0) | st.integers(0, len(parts)))
    return "".join(parts[:at]) + changed + "".join(parts[at:])


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=5000 if SLOW else 150)
@given(name=spelled())
def test_a_name_is_known_if_the_engine_accepts_it(dialect: Dialect, name: str) -> None:
    check_name(name, dialect)


NAMES = """
    Letter L lu LC Uppercase_Letter Han Hani Latin Cyrl Any Assigned ASCII Alphabetic White_Space
    Emoji XID_Start Cased Lowercase Word Punct Alnum Is_L isc Cs Surrogate L& LL Unknown
    In_Basic_Latin InBasicLatin PosixPunct alnum_ isword BLANK blan\u212a C-s Gree\u212a İsL Latİn
    Cntrl_ ^L^ gc=L gc:L gc!=L General_Category=Letter sc=Greek Script=Grek scx=Greek sc!=Han
    age=6.0 Age=V6_0 age=5 gcb=Extend wb=Extend sb=Close blk=Basic_Latin ccc=230 Alphabetic=Yes
    L=L gc= =L gc==L Lété Newline Block Age
"""


@pytest.mark.parametrize("name", ["", " ", "Al num", " cs", "L\t", *NAMES.split()])
def test_a_plausible_name_is_known_if_the_engine_accepts_it(name: str) -> None:
    for dialect in Dialect:
        check_name(name, dialect)


@pytest.mark.parametrize("dialect", Dialect)
def test_different_spellings_are_one_set(dialect: Dialect) -> None:
    for name in random.Random(0).sample(names(dialect), 50):
        assert property_set(f" {name.upper()}_-", dialect) is property_set(name, dialect)
    assert property_set("L", dialect) is property_set("Letter", dialect)
