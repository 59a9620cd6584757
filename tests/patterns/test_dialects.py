"""The syntax of each dialect, compared with the engine that defines it: one case per line."""

import pytest
from regex_oracle import Oniguruma, engine_matched, matches, strings
from tokenizers import Regex, normalizers

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split
from tokexport.patterns import oniguruma, tree
from tokexport.patterns.casefold import folds_to_several
from tokexport.unicode import case_variants, multi_character_folds

# A pattern, a text, and the matches in it.
ONIGURUMA = [
    # ^ and $ are always line anchors, and there is no line after the last line feed.
    ("a$", "a\na\r\na", ["a", "a"]),
    ("^a|^\n", "a\n\na\n", ["a", "\n", "a"]),
    (r"\n^|a", "a\n", ["a"]),
    (r"\Aa|b\z", "aab\nb", ["a", "b"]),
    ("a.", "a\nab", ["ab"]),
    # {n,m}+ repeats the repeat; {n}? is optional; {,m} starts at 0.
    ("a{1,2}+b", "aaab", ["aaab"]),
    ("xa{2}?b", "xb xab xaab", ["xb", "xaab"]),
    ("xa{,2}b", "xb xaab xaaab", ["xb", "xaab"]),
    ("a{,}", "a{,}", ["a{,}"]),
    ("a{x|{", "a{x{", ["a{x", "{"]),
    ("a++b|a", "aab", ["aab"]),
    ("a?+ab|b", "aab", ["aab"]),
    ("a+?b??b", "aabb", ["aab"]),
    # An option applies to all further alternatives of its group.
    ("a(?i)b|c", "aBaCC", ["aB", "aC"]),
    ("(?:a(?i)b|c)d", "aCdaCD", ["aCd"]),
    ("(?i:a(?-i)b)", "AbAB", ["Ab"]),
    # Sets: nested, intersected, a hyphen where it can be no range.
    ("[a-w&&[^c-g]z]+", "abcghwz", ["ab", "hw"]),
    ("[^a-z&&[aeiou]]+", "xyz1e", ["xyz1"]),
    ("[a-c-e]+", "a-d-e", ["a-", "-e"]),
    ("[-a]+|[b-]+", "-a-b-", ["-a-", "b-"]),
    ("[!--]+", "!,-.", ["!,-"]),
    ("[]a]+", "]a[", ["]a"]),
    ("[^]a]+", "]a[", ["["]),
    (r"[\]\-\[]+", "]-[", ["]-["]),
    ("[a&&]b|c", "abc", ["c"]),
    ("[[:^alpha:][:upper:]-]+|[^[:space:]]", "aB-1 ", ["a", "B-1 "]),
    ("[[:lower:]&&[^c-z]]+|[:ps]", "abcp:", ["ab", "p", ":"]),
    ("(?i)[[:xdigit:]]+", "aG\u0430F1", ["a", "F1"]),
    # Escapes.
    (r"\p{Han}\P{^L}\p{^Lu}", "中aa中aA", ["中aa"]),
    (r"\h+", "fFgG9", ["fF", "9"]),
    # Neighbours.
    (r"\s+(?!\S)|\s+", "a   b  ", ["  ", " ", "  "]),
    (r"\b\w|\B\w", "ab c", ["a", "b", "c"]),
    (r"\w\b", "ab é中 ", ["b", "中"]),
    (r"(?<!\w)a|(?<=^|-)b", "a aab-b", ["a", "a", "b"]),
    ("a(?=b*)|b(?=c+|$)", "abbcb", ["a", "b", "b"]),
    # Folding: Unicode's for one character, and some sequences.
    ("(?i)'s|k", "'S'ſK\u212a", ["'S", "'ſ", "K", "\u212a"]),
    # Characters fold together across groups if they are in one list of its tree.
    ("(?i)s+", "ßss", ["ss"]),
    ("(?i)[^ß]x", "ssxßxẞxax", ["sx", "ax"]),
    ("(?i)(?<=k)a", "kaKa\u212aaxa", ["a", "a", "a"]),
]
FANCY_REGEX = [
    # ^ and $ match at the ends of the text, and the dot no line feed.
    ("a$", "a\na", ["a"]),
    ("^a", "a\na", ["a"]),
    ("a.|b.", "a\nb\nab", ["ab"]),
    # {n,m}+ is possessive.
    ("a{1,2}+ab", "aaab", ["aaab"]),
    ("a{1,2}+ab|a", "aab", ["a", "a"]),
    ("xa{2}?b", "xb xaab", ["xaab"]),
    ("xa{,2}b", "xb xaab xaaab", ["xb", "xaab"]),
    ("xa{,}b", "xbxab", ["xb", "xab"]),
    ("a{x|{", "a{x{", ["a{x", "{"]),
    # An option applies to further alternatives, and beyond a group that sets no options.
    ("a(?i)b|c", "aBaCC", ["aB", "C", "C"]),
    ("(a(?i)b)c", "aBC", ["aBC"]),
    ("(?:a(?i)b)c", "aBCaBc", ["aBc"]),
    # Sets: operators have equal precedence, from the left; a remapped property.
    ("[a-]+|[-b]+|[^]]", "a-b]c", ["a-", "b", "c"]),
    (r"\pL\PL", "a1ab", ["a1"]),
    (r"\p{sc=Greek}+|\p{Script=Latin}+", "αβab", ["αβ", "ab"]),
    # Escapes.
    (r"\x41\x{1F600}\u00E9\U0001F600\t\e", "A😀é😀\t\x1b", ["A😀é😀\t\x1b"]),
    (r"(?i)\é|\x{e9}x", "éÉÉx", ["é", "Éx"]),
    # Neighbours.
    (r"\s++$|\s+(?!\S)|\s", "a   b  ", ["  ", " ", "  "]),
    (r"(?<!\w)a|(?<=^|-)b", "a aab-b", ["a", "a", "b"]),
    # Folding applies to single characters, before each negation.
    ("(?i)'s|k", "'S'ſK\u212a", ["'S", "'ſ", "K", "\u212a"]),
    ("(?i)ss|ß", "ßssẞ", ["ß", "ss", "ẞ"]),
    (r"(?i)\p{Lu}", "aA1", ["a", "A"]),
    (r"(?i)[^\p{Lu}]", "aA1", ["1"]),
    ("(?i)[^a&&[^b]]", "AabB", ["b", "B"]),
]


@pytest.mark.parametrize(
    ("dialect", "pattern", "text", "expected"),
    [
        *((Dialect.ONIGURUMA, *case) for case in ONIGURUMA),
        *((Dialect.FANCY_REGEX, *case) for case in FANCY_REGEX),
    ],
)
def test_the_engine_and_the_compiler_agree_with_the_table_on_a_pattern(
    dialect: Dialect, pattern: str, text: str, expected: list[str]
) -> None:
    assert engine_matched(pattern, dialect, [text]) == [expected]
    program = compile_split(Split(pattern, dialect=dialect))
    assert strings(text, matches(program, text)) == expected


@pytest.mark.parametrize(
    "pattern",
    [*(r"\w", r"[\w]", r"[^\w]", r"[\W]", r"\W"), *(r"\p{Word}", r"[\p{Word}]", r"[\w&&[^a]]")],
)
def test_word_characters_of_oniguruma_differ_in_brackets(pattern: str) -> None:
    program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
    for character in "²³¹¼½¾a_9 ñ中.\u200c\u200d":
        assert matches(program, character) == engine.matches(character), hex(ord(character))


POSIX = "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit"


@pytest.mark.parametrize("name", POSIX.split())
@pytest.mark.parametrize("sign", ["", "^"])
def test_a_posix_bracket_has_the_members_that_oniguruma_gives_it(name: str, sign: str) -> None:
    scalars = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    pattern = f"[[:{sign}{name}:]]"
    others = normalizers.Replace(Regex(pattern), "").normalize_str(scalars)
    node = oniguruma.parse(pattern)
    assert isinstance(node, tree.Characters)
    members = node.members.tolist()
    assert others == "".join(one for one in scalars if not members[ord(one)])
    assert 0 < len(others) < len(scalars)


def test_no_folding_of_several_characters_is_missing() -> None:
    """Exactly the foldings to fewer or more characters in Oniguruma are refused."""
    for sequence, singles in multi_character_folds().items():
        spelled = "".join(chr(part) for part in sequence)
        upper = "".join(chr(case_variants(part, Dialect.ONIGURUMA)[0]) for part in sequence)
        separate = "|".join(spelled)
        for text in (spelled, upper, f"(?:{spelled[0]}){spelled[1:]}", chr(singles[0])):
            with pytest.raises(UnsupportedError, match="more or fewer characters"):
                compile_split(Split(f"(?i){text}"))
        with pytest.raises(UnsupportedError, match="more or fewer characters"):
            compile_split(Split(f"(?i)[a{chr(singles[-1])}]"))
        assert not folds_to_several((ord("0"), sequence[0])), spelled
        assert len(compile_split(Split(f"(?i){separate}")).transitions) == 3, spelled
