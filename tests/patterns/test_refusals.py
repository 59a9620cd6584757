"""Features that a table cannot express, or no tokenizer needs, are refused with their offset."""

from collections.abc import Iterator

import pytest

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Replace, Split
from tokexport.model.normalization.normalize import compile_replace

# What is refused, in patterns with a » before it. {:.2} stands for the two characters after the ».
Refused = dict[str, list[str]]
# Features of the engines that no published tokenizer uses.
UNUSED: Refused = {
    "the escape {:.2}": [
        *(r"a»\Kb", r"(a)»\g<1>", r"(a)»\k<1>", r"a»\X", r"»\ya", r"a»\Y", r"»\R", r"a»\Z")
    ],
    "a group that begins with {:.3}": [
        *("(a)?b»(?(1)c|d)", "a»(?~b)", "»(?P>n)", "»(?<n>a)", "»(?'n'a)", "a»(?#b)c", "»(?x) a")
    ],
    "a bracket that begins with [:": ["[a»[:alpha]]", "[»[:^Alpha:]]"],
    "a '*' with nothing to repeat": ["a(»*FAIL)"],
    "a lookbehind over more than one character": [
        *("a»(?<=bc)", "»(?<!a*)b", "a»(?<!(?<=b))", "»(?<!a(?=b)b)d", r"»(?<!\G)a")
    ],
    "an atomic group or possessive quantifier on more than a set": [
        *("a»(?:bc)++", "a»(?>b|bc)d", "a»(?>b(?=c))", r"»(?>\Ga)")
    ],
    "a repeat of something that may be empty": ["a(?:b??)»*", "(?:a?)»{2}b"],
    "a reference to a group": [
        *(r"(..)»\1", r"(a+)»\1", r"(a|b)»\1", r"(.)»\1", r"([ab])+»\1", r"(?:(a)|b)»\1"),
        *(r"(?i)([ab])»\1", r"(a»\1)", r"(a)|»\1", r"(a)»\2", r"(a)»\10"),
    ],
    r"an anchor \G in the middle of it": [r"a»\G", r"a?»\Gb", r"(?:»\Ga)+b", r"(?=»\Ga)a"],
    r"the anchor \G and a possible match of the empty string": [r"»\G|a", r"»\Ga?"],
    "a lookahead over more than one character that contains another one": ["a»(?=b(?=cd))"],
}
BROKEN: Refused = {
    "a group that begins with {:.3}": ["»(?q)a", "»(?m)a.", "»(?s:a.)"],
    "a repeat whose maximum is less than its minimum": ["a»{2,1}"],
    "a group that sets no option": ["»(?-)a"],
    "an unmatched closing parenthesis": ["ab»)"],
    "an unmatched opening parenthesis": ["a»(b"],
    "a '*' with nothing to repeat": ["a|»*b"],
    "a quantifier on something that cannot be repeated": ["(?=a)»+b"],
    "an unclosed bracket expression": ["a»[b"],
    "a range that does not run from one character up to another": ["a[b»-a]"],
    "the property 'klingon'": [r"a»\p{Klingon}"],
    "no closing '}}'": [r"a\p{»L"],
    r"an escape \u without its digits": [r"»\u12"],
    "the number 0xd800": [r"»\x{D800}"],
    "the number 0x110000": [r"»\x{110000}"],
    r"an escape \x without its digits": [r"»\x{61 62}"],
    "the escape {:.2}": [r"»\Qa\E", r"[»\1]"],
    "a premature end": ["a\\»"],
    "a repeat of 100001": ["a»{100001}"],
    "counted repeats that unfold to more than 32768 steps": ["»(?:a{1000}){1000}"],
    "more than 4096 states": ["».{20000}"],
    "different classes of characters": [
        "»"
        + "".join(f"{chr(0x4E00 + number)}{chr(0x100 + number)}|" for number in range(255))
        + "x"
    ],
}
ONIGURUMA: Refused = {
    "text that Oniguruma matches under (?i) by more or fewer characters": [
        *("(?i)a|s»s", "(?i)»\u00df", "(?i)»[\u00dfa]", "(?i)s(?:»s)")
    ],
    "a quantifier on something that cannot be repeated": ["a^»+b", "(?:ab){1}»+"],
    "a counted repeat of nothing": ["a{2}|»{2}"],
    "an empty bracket expression": ["a»[]"],
    "a range that does not run from one character up to another": [
        *(r"[\w»-a]", "[[:alpha:]»-z]", "[a»-[:alpha:]]", r"[a»-\w]")
    ],
    "the escape {:.2}": [r"»\u{61}", r"»\o{101}", r"»\cA"],
    "the single byte 0xe4 of a character": [r"»\xE4\xB8\xAD"],
}
FANCY_REGEX: Refused = {
    "a possible match of the empty string": ["»a*", r"»\s*$", "»(?=(ab)+)"],
    "a repeat whose maximum is less than its minimum": ["a»{3,2}"],
    "a quantifier on something that cannot be repeated": ["(?i)»+a"],
    "a group that begins with {:.3}": ["»(?U)a"],
    r"an anchor \b{{...}}": [r"»\b{start}a"],
    "the escape {:.2}": [r"»\<a"],
    "a difference of sets": ["[a»--b]"],
    "a bracket that begins with [:": ["[»[:space:]]"],
    "the property 'alnum'": [r"»\p{alnum}"],
    "a range that does not run from one character up to another": [r"a[\w»-a]"],
}


def cases() -> Iterator[tuple[Dialect, str, int, str]]:
    """Each pattern with its dialect, and the offset and the name of what is refused."""
    for dialect, own in ((Dialect.ONIGURUMA, ONIGURUMA), (Dialect.FANCY_REGEX, FANCY_REGEX)):
        for table in (UNUSED, BROKEN, own):
            for construct, patterns in table.items():
                for before, _, after in (pattern.partition("»") for pattern in patterns):
                    yield dialect, before + after, len(before), construct.format(after)


CASES = [*cases()]


@pytest.mark.parametrize(
    ("dialect", "pattern", "offset", "construct"),
    CASES,
    ids=[f"{case[0].value} {case[1][:30]!a}" for case in CASES],
)
def test_a_pattern_that_cannot_be_exact_is_refused_at_its_offset(
    dialect: Dialect, pattern: str, offset: int, construct: str
) -> None:
    with pytest.raises(UnsupportedError) as refused:
        compile_split(Split(pattern, dialect=dialect, path="pre_tokenizer.pattern.Regex"))
    error = refused.value
    assert error.path == "pre_tokenizer.pattern.Regex"
    assert error.problem.startswith(f"the {dialect.value} pattern {pattern!r} has ")
    assert construct.lower() in error.problem.lower()
    assert error.problem.endswith(f" at offset {offset}")
    assert error.hint


@pytest.mark.parametrize("dialect", Dialect)
def test_excessively_nested_groups_are_refused(dialect: Dialect) -> None:
    with pytest.raises(UnsupportedError, match="groups nested too deep"):
        compile_split(Split("(" * 5000 + "a" + ")" * 5000, dialect=dialect))


def test_a_replacement_has_neither_search_start_nor_labels() -> None:
    with pytest.raises(UnsupportedError, match=r"the anchor \\G in a replacement"):
        compile_replace(Replace(r"\Ga", "b", literal=False))
    with pytest.raises(UnsupportedError, match="a lookahead over more than one character in a"):
        compile_replace(Replace("a(?=bc)", "b", literal=False))
