"""What each dialect means by its signs, held against the engine that defines it, one case a line."""

from __future__ import annotations

import pytest
from regex_oracle import Oniguruma, fancy_matched, matches
from repository import SLOW

from tokexport.model import Dialect, Split
from tokexport.patterns import compile_split
from tokexport.unicode import case_variants, multi_character_folds

# A pattern, a text, and the matches in it.
ONIGURUMA = [
    # ^ and $ are line anchors always, and there is no line after the last line feed.
    ("a$", "a\na\r\na", ["a", "a"]),
    ("^a|^\n", "a\n\na\n", ["a", "\n", "a"]),
    (r"\n^|a", "a\n", ["a"]),
    (r"\Aa|b\z", "aab\nb", ["a", "b"]),
    # (?m) lets the dot match a line feed; \O always does, \N never.
    ("a.", "a\nab", ["ab"]),
    ("(?m)a.", "a\nab", ["a\n", "ab"]),
    (r"(?m:a\N)|\Ob", "a\nb", ["\nb"]),
    # {n,m}+ repeats the repeat; {m,n} with n < m is possessive; {n}? is optional; {,m} begins at
    # none.
    ("a{1,2}+b", "aaab", ["aaab"]),
    ("a{2,1}ab", "aab aaab", ["aaab"]),
    ("xa{2}?b", "xb xab xaab", ["xb", "xaab"]),
    ("xa{,2}b", "xb xaab xaaab", ["xb", "xaab"]),
    ("a{,}", "a{,}", ["a{,}"]),
    ("a{x|{", "a{x{", ["a{x", "{"]),
    ("a++b|a", "aab", ["aab"]),
    ("a?+ab|b", "aab", ["aab"]),
    ("(?>a|ab)c|b", "abcac", ["b", "ac"]),
    ("a+?b??b", "aabb", ["aab"]),
    # An option reaches over all further alternatives of its group.
    ("a(?i)b|c", "aBaCC", ["aB", "aC"]),
    ("(?:a(?i)b|c)d", "aCdaCD", ["aCd"]),
    ("(?i:a(?-i)b)", "AbAB", ["Ab"]),
    ("(?x) a b # c\n| c", "abc", ["ab", "c"]),
    (r"(?x)a\ b[ ]", "a b ", ["a b "]),
    ("a(?#b\\)c)d", "ad", ["ad"]),
    # Sets: nested, intersected, POSIX, a hyphen where it can be no range.
    ("[a-w&&[^c-g]z]+", "abcghwz", ["ab", "hw"]),
    ("[^a-z&&[aeiou]]+", "xyz1e", ["xyz1"]),
    ("[[:alpha:]_]+", "a_1é", ["a_", "é"]),
    ("[[:^alpha:]]+", "a_1é", ["_1"]),
    ("[a-c-e]+", "a-d-e", ["a-", "-e"]),
    ("[-a]+|[b-]+", "-a-b-", ["-a-", "b-"]),
    ("[!--]+", "!,-.", ["!,-"]),
    ("[]a]+", "]a[", ["]a"]),
    ("[^]a]+", "]a[", ["["]),
    (r"[\]\-\[]+", "]-[", ["]-["]),
    (r"[\n\t\x41\x{4e2d}\u00e9\101\b]+", "\n\tA中é\x08B", ["\n\tA中é\x08"]),
    ("[a&&]b|c", "abc", ["c"]),
    # Escapes.
    (r"\x41\x{1F600}\u00E9\t\e\0", "A\U0001f600é\t\x1b\0", ["A\U0001f600é\t\x1b\0"]),
    (r"\o{101}|\012", "A\n", ["A", "\n"]),
    (r"\R", "\r\n\n\r\x85a", ["\r\n", "\n", "\r", "\x85"]),
    (r"\R\n|a", "\r\na\r\n\n", ["a", "\r\n\n"]),
    (r"\p{Han}\P{^L}\p{^Lu}", "中aa中aA", ["中aa"]),
    (r"\h+", "fFgG9", ["fF", "9"]),
    (r"\#\-\&\~\!\%\pL", "#-&~!%pL", ["#-&~!%pL"]),
    # Neighbours.
    (r"\s+(?!\S)|\s+", "a   b  ", ["  ", " ", "  "]),
    (r"\b\w|\B\w", "ab c", ["a", "b", "c"]),
    (r"\w\b", "ab é中 ", ["b", "中"]),
    (r"(?<!\w)a|(?<=^|-)b", "a aab-b", ["a", "a", "b"]),
    ("a(?=b*)|b(?=c+|$)", "abbcb", ["a", "b", "b"]),
    (r"(?<=a*)b(?!(?:c|d)e*)", "bbcbd", ["b"]),
    # Folding: Unicode's for one character, and some sequences.
    ("(?i)'s|k", "'S'ſK\u212a", ["'S", "'ſ", "K", "\u212a"]),
    ("(?i)strasse", "STRAßESTRAẞEstraſSe", ["STRAßE", "STRAẞE", "straſSe"]),
    ("(?i)ß.", "ßxssxSsxx", ["ßx", "ssx", "Ssx"]),
    ("(?i)ffi", "ﬃFFIﬀi", ["ﬃ", "FFI"]),
    ("(?i:s)(?i:s)|(?i)s(s)", "ßss", ["ss"]),
    ("(?i)s(?:s)|x", "ßx", ["ß", "x"]),
    # What is folded together across groups is what stands in one list of its tree.
    ("(?i)(?:as)s", "aßass", ["aß", "ass"]),
    (r"(?i)(?:a\x73)s|(?:[a]s)s", "aßass", ["ass"]),
    ("(?i)x(?:[a]s)s", "xaßxass", ["xaß", "xass"]),
    ("(?i)s{1}sx", "ßxssx", ["ßx", "ssx"]),
    ("(?i)s(?:)sx|xss?x", "ßxxßx", []),
    ("(?i)s+", "ßss", ["ss"]),
    ("(?i)[ß]x", "ssxßxẞx", ["ssx", "ßx", "ẞx"]),
    ("(?i)[^ß]x", "ssxßxẞxax", ["sx", "ax"]),
    (r"(?i)\p{Lu}|[\p{Lu}]x", "aAax", ["A", "ax"]),
    ("(?i)(?<=k)a", "kaKa\u212aaxa", ["a", "a", "a"]),
]
FANCY_REGEX = [
    # ^ and $ are those of the text, unless (?m); (?s) lets the dot match a line feed.
    ("a$", "a\na", ["a"]),
    ("^a", "a\na", ["a"]),
    ("(?m)a$|^b", "a\nab\nb\n", ["a", "b"]),
    ("(?m)\n^", "a\n", ["\n"]),
    ("(?mR)a$|^\n?b", "a\r\nb\ra", ["a", "b", "a"]),
    ("(?R)a.", "a\ra\na\r\nab", ["ab"]),
    ("a.|(?s)b.", "a\nb\nab", ["b\n", "ab"]),
    (r"(?s:a\N)|\Ob", "a\nb", ["\nb"]),
    # {n,m}+ is possessive.
    ("a{1,2}+ab", "aaab", ["aaab"]),
    ("a{1,2}+ab|a", "aab", ["a", "a"]),
    ("xa{2}?b", "xb xaab", ["xaab"]),
    ("xa{,2}b", "xb xaab xaaab", ["xb", "xaab"]),
    ("xa{,}b", "xbxab", ["xb", "xab"]),
    ("a{x|{", "a{x{", ["a{x", "{"]),
    ("(?U)a+|b+?", "aabb", ["a", "a", "bb"]),
    ("(?>a|ab)c|b", "abcac", ["b", "ac"]),
    # An option reaches over further alternatives, and out of a group that sets no options.
    ("a(?i)b|c", "aBaCC", ["aB", "C", "C"]),
    ("(a(?i)b)c", "aBC", ["aBC"]),
    ("(?:a(?i)b)c", "aBCaBc", ["aBc"]),
    ("(?x) a b # c\n| c [ ]", "abc ", ["ab", "c "]),
    ("(?x)a +b{ 2 , 3 }", "aabbbb", ["aabbb"]),
    ("a(?#b\\)c)+d", "aad", ["aad"]),
    # Sets: the operators bind equally, from the left; a remapped property; ASCII names.
    ("[a-w&&[^c-g]--b]+", "abcghw", ["a", "hw"]),
    ("[a-d~~c-f]+", "abcdef", ["ab", "ef"]),
    ("[[:alpha:]_]+", "a_1é", ["a_"]),
    ("[[:loower:]]+", "lower:1", ["lower:"]),
    ("[a-]+|[-b]+|[^]]", "a-b]c", ["a-", "b", "c"]),
    (r"[\p{^alnum}\p{^blank}]+", "a1 \t-", ["-"]),
    (r"\p{graph}+|\p{cs}", "a b\t", ["a", "b"]),
    (r"[\h\n\x41\x{4e2d}\u00e9\b]+", "fF\nA中é\x08G", ["fF\nA中é\x08"]),
    (r"\pL\PL", "a1ab", ["a1"]),
    (r"\p{sc=Greek}+|\p{Script:Latin}+", "αβab", ["αβ", "ab"]),
    # Escapes.
    (
        r"\x41\x{1F600}\u00E9\U0001F600\t\e",
        "A\U0001f600é\U0001f600\t\x1b",
        ["A\U0001f600é\U0001f600\t\x1b"],
    ),
    (r"\R", "\r\n\n\r\x85a", ["\r\n", "\n", "\r", "\x85"]),
    (r"(?i)\é|\x{e9}x", "éÉÉx", ["é", "Éx"]),
    # Neighbours.
    (r"\s++$|\s+(?!\S)|\s", "a   b  ", ["  ", " ", "  "]),
    (r"\b{start}\w|\w\b{end}", "abc de", ["a", "c", "d", "e"]),
    (r"\<\w+|\w\b{end-half}", "abc", ["abc"]),
    (r"\b{start-half}.", "a-", ["a"]),
    (r"\w\>|\B\w", "abc", ["b", "c"]),
    (r"(?<!\w)a|(?<=^|-)b", "a aab-b", ["a", "a", "b"]),
    # Folding is one character at a time, and comes before each negation.
    ("(?i)'s|k", "'S'ſK\u212a", ["'S", "'ſ", "K", "\u212a"]),
    ("(?i)ss|ß", "ßssẞ", ["ß", "ss", "ẞ"]),
    (r"(?i)\p{Lu}", "aA1", ["a", "A"]),
    (r"(?i)[^\p{Lu}]", "aA1", ["1"]),
    ("(?i)[^a&&[^b]]", "AabB", ["b", "B"]),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), ONIGURUMA)
def test_oniguruma_means_by_a_pattern_what_the_table_means(
    pattern: str, text: str, expected: list[str]
) -> None:
    assert [text[start:end] for start, end in Oniguruma(pattern).matches(text)] == expected
    assert [
        text[start:end] for start, end in matches(compile_split(Split(pattern)), text)
    ] == expected


@pytest.mark.parametrize(("pattern", "text", "expected"), FANCY_REGEX)
def test_fancy_regex_means_by_a_pattern_what_the_table_means(
    pattern: str, text: str, expected: list[str]
) -> None:
    assert fancy_matched(pattern, [text]) == [expected]
    program = compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
    assert [text[start:end] for start, end in matches(program, text)] == expected


def test_every_folding_of_several_characters_is_that_of_oniguruma_both_ways() -> None:
    for number, (sequence, singles) in enumerate(multi_character_folds(Dialect.ONIGURUMA).items()):
        spelled = "".join(chr(part) for part in sequence)
        upper = "".join(chr(case_variants(part, Dialect.ONIGURUMA)[0]) for part in sequence)
        text = "|".join(
            [*map(chr, singles), spelled, upper, spelled[0], spelled[1:], spelled + spelled[0]]
        )
        literals = (
            spelled,
            upper,
            chr(singles[0]),
            f"[{chr(singles[-1])}]",
            f"[^{chr(singles[0])}]",
        )
        for literal in literals if SLOW else (literals[number % 5], literals[(number + 2) % 5]):
            pattern = f"(?i){literal}"
            assert matches(compile_split(Split(pattern)), text) == Oniguruma(pattern).matches(
                text
            ), (pattern, text)
