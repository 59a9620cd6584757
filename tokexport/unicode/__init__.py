"""The code points in a class of a regular expression, exactly as in the reference engine.

The two engines differ on ``\\w`` and ``(?i)``, and neither has the Unicode version of Python. So
every table was made by running the engines on all 1,112,064 scalar values
(fixtures/unicode_tables), and is shipped in ``engines.dat``. Sets are arrays of shape (0x110000,),
True for a member, read-only and shared; surrogates are never members.
"""

import functools
from enum import Enum
from itertools import accumulate, islice
from typing import Final
from weakref import WeakValueDictionary

from tokexport.unicode.store import CODE_POINTS as CODE_POINTS
from tokexport.unicode.store import CodePoints as CodePoints
from tokexport.unicode.store import Reader, shipped


class Dialect(Enum):
    """The engine of a pattern, which decides what ``$``, ``\\s`` and ``(?i:`` mean."""

    ONIGURUMA = "oniguruma"  # tokenizer.json, as `tokenizers` compiles it (Ruby syntax, UTF-8)
    FANCY_REGEX = "fancy-regex"  # tiktoken


class CharacterTest(Enum):
    """Predicates on one character that ``tokenizers`` uses instead of a regular expression."""

    NUMERIC = "numeric"  # Digits: Rust's char::is_numeric
    PUNCTUATION = "punctuation"  # Punctuation, BertPreTokenizer
    WHITESPACE = "whitespace"  # WhitespaceSplit, BertPreTokenizer: Rust's char::is_whitespace


def _data() -> Reader:
    return shipped("engines.dat")


# The sets in use. Keeping all of them would take a megabyte each.
_SETS: Final[WeakValueDictionary[int, CodePoints]] = WeakValueDictionary()


def _set(number: int) -> CodePoints:
    members = _SETS.get(number)
    if members is None:
        members = _SETS[number] = _data().members(number)
    return members


def property_set(name: str, dialect: Dialect, bracketed: bool = False) -> CodePoints:
    r"""The members of ``\p{name}``; KeyError if the engine has no property of that name, or if it
    is written as in no tokenizer, as fancy-regex's ``\p{IsGreek}`` or ``\p{sc!=Greek}``.

    ``bracketed``: inside a class, as in ``[\p{name}]``. Oniguruma's ``\p{Word}`` differs.

    >>> int(property_set("Upper-case Letter", Dialect.ONIGURUMA).sum())
    1858
    """
    header = _data().header
    bare = "".join(character for character in name if character not in " -_")
    loose = bare.lower() if bare.isascii() else bare
    if name.lower() != loose and loose in header["exact_names"][dialect.value]:
        raise KeyError(name)
    number = header["properties"][dialect.value][loose]
    if bracketed:
        number = header["bracketed_properties"].get(dialect.value, {}).get(loose, number)
    return _set(number)


def shorthand_set(letter: str, dialect: Dialect, bracketed: bool = False) -> CodePoints:
    r"""The members of ``\s``, ``\d``, ``\w`` or ``\h``, by that letter; KeyError for others.

    ``bracketed``: inside a class. For Oniguruma ``\w`` (and so ``\W`` and ``\b``) has six code
    points that ``[\w]`` lacks: ²³¹¼½¾.

    >>> [int(shorthand_set("w", Dialect.ONIGURUMA, bracketed).sum()) for bracketed in (False, True)]
    [144671, 144665]
    """
    kind = "bracketed_shorthands" if bracketed else "shorthands"
    return _set(_data().header[kind][dialect.value][letter])


def character_test_set(test: CharacterTest) -> CodePoints:
    """The characters that a pre-tokenizer of ``tokenizers`` tests for without a regular expression.

    >>> bool(character_test_set(CharacterTest.PUNCTUATION)[ord("$")])
    True
    """
    return _set(_data().header["tests"][test.value])


@functools.cache
def case_groups(dialect: Dialect) -> dict[int, tuple[int, ...]]:
    """Every code point that matches others under ``(?i)``, with all that it matches, sorted.

    >>> case_groups(Dialect.ONIGURUMA)[ord("s")] == tuple(map(ord, "Ssſ"))
    True
    """
    # Each group: a size, then distances in order.
    numbers = iter(_data().sequence(_data().header["case"][dialect.value]))
    variants: dict[int, tuple[int, ...]] = {}
    for size in numbers:
        group = tuple(accumulate(islice(numbers, size)))
        variants.update(dict.fromkeys(group, group))
    return variants


def case_variants(code_point: int, dialect: Dialect) -> tuple[int, ...]:
    """Every single code point that matches this one under ``(?i)``, itself included, sorted.

    >>> [chr(variant) for variant in case_variants(ord("s"), Dialect.ONIGURUMA)]
    ['S', 's', 'ſ']
    """
    return case_groups(dialect).get(code_point, (code_point,))


def multi_character_folds() -> dict[tuple[int, ...], tuple[int, ...]]:
    """Folded sequences of two or three code points and the single ones that match them under
    ``(?i)`` in Oniguruma; fancy-regex has none.

    A sequence stands for all spellings by :func:`case_variants`.

    >>> [chr(single) for single in multi_character_folds()[ord("s"), ord("s")]]
    ['ß', 'ẞ']
    """
    # Each entry: length of the sequence, the sequence, number of single code points, those.
    numbers = iter(_data().sequence(_data().header["folds"][Dialect.ONIGURUMA.value]))
    return {tuple(islice(numbers, size)): tuple(islice(numbers, next(numbers))) for size in numbers}
