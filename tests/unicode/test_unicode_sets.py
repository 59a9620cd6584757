"""A class of a regular expression has the same members as in its engine."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import tokenizers
from repository import SLOW
from tiktoken_encodings import byte_encoding
from tokenizers import decoders, pre_tokenizers
from unicode_tables.engines import every_scalar_value, members_of

from tokexport import unicode
from tokexport.model import CharacterTest, Dialect
from tokexport.patterns.fancy import parse
from tokexport.patterns.tree import Characters
from tokexport.unicode import CodePoints, character_test_set, property_set, shorthand_set

EVERYTHING = every_scalar_value()


def matched(pattern: str, dialect: Dialect) -> CodePoints:
    """The matching characters. In Oniguruma, those that disappear when matches are replaced by
    nothing: a Split would show the same, but takes ten times as long.
    """
    if dialect is Dialect.ONIGURUMA:
        left = decoders.Replace(tokenizers.Regex(f"(?:{pattern})+"), "").decode([EVERYTHING])
        return members_of(EVERYTHING) & ~members_of(left)
    ids = byte_encoding(pattern).encode_to_numpy(EVERYTHING, disallowed_special=())
    return members_of(ids.astype(np.uint8).tobytes().decode())


bracketed = partial(shorthand_set, bracketed=True)
# Classes in the patterns of real tokenizers: a set, its name, and its spelling in a pattern.
CLASSES: list[tuple[Callable[[str, Dialect], CodePoints], str, str]] = [
    *(
        (property_set, name, rf"\p{{{name}}}")
        for name in ("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "Nd", "P", "S", "Z", "Han")
    ),
    *((shorthand_set, letter, rf"\{letter}") for letter in "sdwh"),
    *((bracketed, letter, rf"[\{letter}]") for letter in "sdwh"),
]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(("members", "name", "pattern"), CLASSES, ids=[row[2] for row in CLASSES])
def test_a_class_has_the_members_that_the_engine_matches(
    members: Callable[[str, Dialect], CodePoints], name: str, pattern: str, dialect: Dialect
) -> None:
    assert np.array_equal(members(name, dialect), matched(pattern, dialect))


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: compares every property")
@pytest.mark.parametrize("dialect", Dialect)
def test_every_property_has_the_members_that_the_engine_matches(dialect: Dialect) -> None:
    names = unicode._data().header["properties"][dialect.value]
    assert len(names) > 800
    for name in names:
        for in_brackets, pattern in ((False, rf"\p{{{name}}}"), (True, rf"[\p{{{name}}}]")):
            members = property_set(name, dialect, in_brackets)
            assert np.array_equal(members, matched(pattern, dialect)), pattern


def test_surrogates_are_in_no_set() -> None:
    for dialect in Dialect:
        assert not property_set("Any", dialect)[0xD800:0xE000].any()
        assert not property_set("Cn", dialect)[0xD800:0xE000].any()


def test_a_negated_property_has_all_other_characters() -> None:
    node = parse(r"\P{gc=L}")
    assert isinstance(node, Characters)
    assert np.array_equal(node.members, matched(r"\P{gc=L}", Dialect.FANCY_REGEX))
    assert not node.members[0xD800:0xE000].any()


def test_digits_isolates_the_numeric_characters() -> None:
    # Characters that are not digits stay with their neighbours.
    fenced = "aa" + "".join(f"{character}aa" for character in EVERYTHING)
    pre_tokens = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str(fenced)
    isolated = "".join(part for part, _ in pre_tokens if len(part) == 1)
    assert np.array_equal(character_test_set(CharacterTest.NUMERIC), members_of(isolated))


@pytest.mark.parametrize(
    ("test", "removing"),
    [
        (CharacterTest.PUNCTUATION, pre_tokenizers.Punctuation("removed")),
        (CharacterTest.WHITESPACE, pre_tokenizers.WhitespaceSplit()),
    ],
)
def test_punctuation_and_white_space_match_their_pre_tokenizers(
    test: CharacterTest, removing: pre_tokenizers.PreTokenizer
) -> None:
    left = members_of("".join(part for part, _ in removing.pre_tokenize_str(EVERYTHING)))
    assert np.array_equal(character_test_set(test), members_of(EVERYTHING) & ~left)


def test_a_set_is_shared_and_read_only() -> None:
    letters = property_set("L", Dialect.ONIGURUMA)
    assert letters is property_set("letter", Dialect.FANCY_REGEX)
    with pytest.raises(ValueError, match="read-only"):
        letters[0] = True
