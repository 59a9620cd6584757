"""What a table cannot say exactly is refused, with the pattern and the place in it."""

from __future__ import annotations

import pytest

from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split
from tokexport.patterns import compile_split

BOTH = [
    ("a(?<=bc)", 1, "a lookbehind over more than one character"),
    ("(?<!a*)b", 0, "a lookbehind over more than one character"),
    ("a(?<!(?<=b))", 1, "a lookbehind over more than one character"),
    ("a(?:bc)++", 1, "an atomic group or possessive quantifier on more than a set"),
    ("a(?>b|bc)d", 1, "an atomic group or possessive quantifier on more than a set"),
    ("a(?>b(?=c))", 1, "an atomic group or possessive quantifier on more than a set"),
    ("a(?:b??)*", 8, "a repeat of something that may be empty"),
    ("(?:a?){2}b", 6, "a repeat of something that may be empty"),
    (r"(a+)\1", 4, "a reference to a group"),
    (r"(?<n>a+)\k<n>", 8, "a reference to a group"),
    (r"a\G", 1, r"the search anchor \G"),
    ("(a)?b(?(1)c|d)", 5, "a condition, (?(...)"),
    ("(?(a)b|c)", 0, "a condition, (?(...)"),
    (r"(?<n>a)\g<n>", 7, "a call of a group"),
    ("a(?~b)", 1, "an absent group, (?~...)"),
    (r"a\Kb", 1, r"the match reset \K"),
    ("(?q)a", 0, "a group that begins with (?q"),
    ("ab)", 2, "an unmatched closing parenthesis"),
    ("a(b", 1, "an unmatched opening parenthesis"),
    ("a|*b", 2, "a '*' with nothing to repeat"),
    ("(?=a)+b", 5, "a quantifier on something that cannot be repeated"),
    ("a[b", 1, "an unclosed bracket expression"),
    (r"a\p{Klingon}", 1, "the property 'klingon'"),
    (r"a\p{L", 4, "no closing '}'"),
    (r"\u12", 0, r"an escape \u without"),
    (r"\x{D800}", 0, "the number 0xd800"),
    (r"\x{110000}", 0, "the number 0x110000"),
    ("a\\", 2, "the end of the pattern where more must follow"),
    ("a(?#b", 5, "the end of the pattern where more must follow"),
    ("a{100001}", 1, "a repeat of 100001"),
    ("(?:a{1000}){1000}", 0, "a pattern whose counted repeats unfold to more than 32768 steps"),
    (".{20000}", 0, "a pattern that needs more than 4096 states"),
    (
        "".join(chr(0x4E00 + number) + chr(0x100 + number) + "|" for number in range(255)) + "x",
        0,
        "different classes of characters",
    ),
]
ONIGURUMA = [
    (r"a\X", 1, r"a text segment \X"),
    (r"\ya", 0, r"a boundary of text segments \y"),
    (r"a\Y", 1, r"a boundary of text segments \Y"),
    ("(?<!a(?=b)b)d", 5, "a lookbehind that holds a lookahead"),
    ("a(?<=b(?=c(?<=bc))c)d", 6, "a lookbehind that holds a lookahead"),
    (r"(?<=b(?:a|c\Z))d", 11, "a lookbehind that holds a lookahead"),
    ("a^+b", 2, "a quantifier on something that cannot be repeated"),
    ("a{2}|{2}", 5, "a counted repeat of nothing"),
    ("(?:ab){1}+", 9, "a quantifier on something that cannot be repeated"),
    ("(?<1a>b)", 0, "a group named '1a'"),
    ("a(*FAIL)", 1, "a callout"),
    ("(?s)a", 0, "a group that begins with (?s"),
    ("(?W)a", 0, "a group that begins with (?W"),
    ("a[]", 1, "an empty bracket expression"),
    (r"[\w-a]", 3, "a range that begins with a set"),
    (r"[a-\w]", 2, "a range that ends with a set"),
    ("[b-a]", 2, "a range whose end is before its start"),
    ("[[:klingon:]]", 1, "the POSIX bracket 'klingon'"),
    (r"\x{61 62}", 0, r"an escape \x{...} that is not one number"),
    (r"\o{8}", 0, r"an escape \o{...} that is not one number"),
    (r"\cA", 0, r"the control escape \c"),
    (r"\xE4\xB8\xAD", 0, "the single byte 0xe4 of a character"),
    (r"[\200]", 1, "the single byte 0x80 of a character"),
]
FANCY_REGEX = [
    ("(?P<n>a)(?P>n)", 8, "a call of a group"),
    ("a(?:b*?|c){2,}", 10, "a repeat of something that may be empty"),
    ("a*", 0, "a possible match of the empty string"),
    (r"\b", 0, "a possible match of the empty string"),
    ("a|", 0, "a possible match of the empty string"),
    (r"\s*$", 0, "a possible match of the empty string"),
    ("(?=a)", 0, "a possible match of the empty string"),
    ("(?=(ab)+)", 0, "a possible match of the empty string"),
    ("a{3,2}", 1, "a repeat whose most is less than its least"),
    ("(?i)+a", 4, "a quantifier on something that cannot be repeated"),
    (r"\Qa\E", 0, r"the escape \Q"),
    (r"\b{middle}a", 0, r"the anchor \b{middle}"),
    (r"\B{start}a", 0, r"the anchor \B{start}"),
    ("(?<>a)", 0, "a group without a name in its brackets"),
    ("a(*FAIL)", 1, "a backtracking control verb"),
    ("(?-)a", 0, "a group that begins with (?)"),
    ("(?-u)a", 0, "a group that begins with (?u"),
    (r"[\1]", 1, "a reference to a group in brackets"),
    (r"[\q]", 1, r"the escape \q in brackets"),
    (r"a[\w-a]", 1, "a range that is not from one character up to another"),
    ("a[b-a]", 1, "a range that is not from one character up to another"),
    ("[^A-[:digit:]]", 0, "the set [^A-[:digit:]]"),
    (r"\x{", 0, r"an escape \x without its digits"),
]
CASES = [
    *((dialect, *case) for dialect in Dialect for case in BOTH),
    *((Dialect.ONIGURUMA, *case) for case in ONIGURUMA),
    *((Dialect.FANCY_REGEX, *case) for case in FANCY_REGEX),
]


@pytest.mark.parametrize(
    ("dialect", "pattern", "offset", "found"),
    CASES,
    ids=[f"{case[0].value} {case[1][:30]!a}" for case in CASES],
)
def test_a_pattern_that_cannot_be_exact_is_refused_at_its_offset(
    dialect: Dialect, pattern: str, offset: int, found: str
) -> None:
    with pytest.raises(UnsupportedError) as refused:
        compile_split(Split(pattern, dialect=dialect, path="pre_tokenizer.pattern.Regex"))
    message = str(refused.value)
    assert message.startswith(
        f"pre_tokenizer.pattern.Regex: the {dialect.value} pattern {pattern!r} with "
    )
    assert found.lower() in message.lower()
    assert f" at offset {offset} is not supported; " in message


@pytest.mark.parametrize("dialect", Dialect)
def test_groups_nested_beyond_all_measure_are_refused(dialect: Dialect) -> None:
    with pytest.raises(UnsupportedError, match="groups nested as deep"):
        compile_split(Split("(" * 5000 + "a" + ")" * 5000, dialect=dialect))
