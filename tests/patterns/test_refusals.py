"""Features that a table cannot express, or no tokenizer needs, are refused with their offset."""

import pytest

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Replace, Split
from tokexport.model.normalization.normalize import compile_replace

# Features of the engines that no published tokenizer uses.
UNUSED = [
    (r"a\Kb", 1, r"the escape \K"),
    ("(a)?b(?(1)c|d)", 5, "a group that begins with (?("),
    ("a(?~b)", 1, "a group that begins with (?~"),
    (r"(a)\g<1>", 3, r"the escape \g"),
    ("(?P>n)", 0, "a group that begins with (?P"),
    ("(?<n>a)", 0, "a group that begins with (?<"),
    ("(?'n'a)", 0, "a group that begins with (?'"),
    (r"(a)\k<1>", 3, r"the escape \k"),
    (r"a\X", 1, r"the escape \X"),
    (r"\ya", 0, r"the escape \y"),
    (r"a\Y", 1, r"the escape \Y"),
    (r"\R", 0, r"the escape \R"),
    (r"a\Z", 1, r"the escape \Z"),
    ("a(?#b)c", 1, "a group that begins with (?#"),
    ("[a[:alpha]]", 2, "a bracket that begins with [:"),
    ("[[:^Alpha:]]", 1, "a bracket that begins with [:"),
    ("(?x) a", 0, "a group that begins with (?x"),
    ("a(*FAIL)", 2, "a '*' with nothing to repeat"),
    ("a(?<=bc)", 1, "a lookbehind over more than one character"),
    ("(?<!a*)b", 0, "a lookbehind over more than one character"),
    ("a(?<!(?<=b))", 1, "a lookbehind over more than one character"),
    ("(?<!a(?=b)b)d", 0, "a lookbehind over more than one character"),
    ("a(?:bc)++", 1, "an atomic group or possessive quantifier on more than a set"),
    ("a(?>b|bc)d", 1, "an atomic group or possessive quantifier on more than a set"),
    ("a(?>b(?=c))", 1, "an atomic group or possessive quantifier on more than a set"),
    ("a(?:b??)*", 8, "a repeat of something that may be empty"),
    ("(?:a?){2}b", 6, "a repeat of something that may be empty"),
    (r"(..)\1", 4, "a reference to a group"),
    (r"(a+)\1", 4, "a reference to a group"),
    (r"(a|b)\1", 5, "a reference to a group"),
    (r"(.)\1", 3, "a reference to a group"),
    (r"([ab])+\1", 7, "a reference to a group"),
    (r"(?:(a)|b)\1", 9, "a reference to a group"),
    (r"(?i)([ab])\1", 10, "a reference to a group"),
    (r"(a\1)", 2, "a reference to a group"),
    (r"(a)|\1", 4, "a reference to a group"),
    (r"(a)\2", 3, "a reference to a group"),
    (r"(a)\10", 3, "a reference to a group"),
    (r"a\G", 1, r"an anchor \G in the middle of it"),
    (r"a?\Gb", 2, r"an anchor \G in the middle of it"),
    (r"(?:\Ga)+b", 3, r"an anchor \G in the middle of it"),
    (r"(?=\Ga)a", 3, r"an anchor \G in the middle of it"),
    (r"(?<!\G)a", 0, "a lookbehind over more than one character"),
    (r"(?>\Ga)", 0, "an atomic group or possessive quantifier on more than a set"),
    (r"\G|a", 0, r"the anchor \G and a possible match of the empty string"),
    ("a(?=b(?=cd))", 1, "a lookahead over more than one character that contains another one"),
    (r"\Ga?", 0, r"the anchor \G and a possible match of the empty string"),
]
BROKEN = [
    ("(?q)a", 0, "a group that begins with (?q"),
    ("(?m)a.", 0, "a group that begins with (?m"),
    ("(?s:a.)", 0, "a group that begins with (?s"),
    ("a{2,1}", 1, "a repeat whose maximum is less than its minimum"),
    ("(?-)a", 0, "a group that sets no option"),
    ("ab)", 2, "an unmatched closing parenthesis"),
    ("a(b", 1, "an unmatched opening parenthesis"),
    ("a|*b", 2, "a '*' with nothing to repeat"),
    ("(?=a)+b", 5, "a quantifier on something that cannot be repeated"),
    ("a[b", 1, "an unclosed bracket expression"),
    ("a[b-a]", 3, "a range that does not run from one character up to another"),
    (r"a\p{Klingon}", 1, "the property 'klingon'"),
    (r"a\p{L", 4, "no closing '}'"),
    (r"\u12", 0, r"an escape \u without its digits"),
    (r"\x{D800}", 0, "the number 0xd800"),
    (r"\x{110000}", 0, "the number 0x110000"),
    (r"\x{61 62}", 0, r"an escape \x without its digits"),
    (r"\Qa\E", 0, r"the escape \Q"),
    (r"[\1]", 1, r"the escape \1"),
    ("a\\", 2, "a premature end"),
    ("a{100001}", 1, "a repeat of 100001"),
    ("(?:a{1000}){1000}", 0, "counted repeats that unfold to more than 32768 steps"),
    (".{20000}", 0, "more than 4096 states"),
    (
        "".join(chr(0x4E00 + number) + chr(0x100 + number) + "|" for number in range(255)) + "x",
        0,
        "different classes of characters",
    ),
]
ONIGURUMA = [
    ("(?i)a|ss", 7, "text that Oniguruma matches under (?i) by more or fewer characters"),
    ("(?i)\u00df", 4, "text that Oniguruma matches under (?i) by more or fewer characters"),
    ("(?i)[\u00dfa]", 4, "text that Oniguruma matches under (?i) by more or fewer characters"),
    ("(?i)s(?:s)", 8, "text that Oniguruma matches under (?i) by more or fewer characters"),
    ("a^+b", 2, "a quantifier on something that cannot be repeated"),
    ("(?:ab){1}+", 9, "a quantifier on something that cannot be repeated"),
    ("a{2}|{2}", 5, "a counted repeat of nothing"),
    ("a[]", 1, "an empty bracket expression"),
    (r"[\w-a]", 3, "a range that does not run from one character up to another"),
    ("[[:alpha:]-z]", 10, "a range that does not run from one character up to another"),
    ("[a-[:alpha:]]", 2, "a range that does not run from one character up to another"),
    (r"[a-\w]", 2, "a range that does not run from one character up to another"),
    (r"\u{61}", 0, r"the escape \u"),
    (r"\o{101}", 0, r"the escape \o"),
    (r"\cA", 0, r"the escape \c"),
    (r"\xE4\xB8\xAD", 0, "the single byte 0xe4 of a character"),
]
FANCY_REGEX = [
    ("a*", 0, "a possible match of the empty string"),
    (r"\s*$", 0, "a possible match of the empty string"),
    ("(?=(ab)+)", 0, "a possible match of the empty string"),
    ("a{3,2}", 1, "a repeat whose maximum is less than its minimum"),
    ("(?i)+a", 4, "a quantifier on something that cannot be repeated"),
    ("(?U)a", 0, "a group that begins with (?U"),
    (r"\b{start}a", 0, r"an anchor \b{...}"),
    (r"\<a", 0, r"the escape \<"),
    ("[a--b]", 2, "a difference of sets"),
    ("[[:space:]]", 1, "a bracket that begins with [:"),
    (r"\p{alnum}", 0, "the property 'alnum'"),
    (r"a[\w-a]", 4, "a range that does not run from one character up to another"),
]
CASES = [
    *((dialect, *case) for dialect in Dialect for case in (*UNUSED, *BROKEN)),
    *((Dialect.ONIGURUMA, *case) for case in ONIGURUMA),
    *((Dialect.FANCY_REGEX, *case) for case in FANCY_REGEX),
]


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
