"""Oracles for tests of the pattern compiler: the engines, and a slow runner for the tables."""

import random
from collections.abc import Iterable, Sequence

import numpy as np
from tiktoken_encodings import byte_encoding
from tokenizers import Regex, pre_tokenizers

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import Dialect, Split
from tokexport.patterns import MATCH_ENDS, SplitProgram


def find_parts(program: SplitProgram, text: str) -> list[tuple[int, int, bool]]:
    """The matches and gaps of a text: (start, end, is a match), one symbol at a time, without a
    memo.

    A program with 256 classes reads the text's UTF-8 bytes. An empty match divides the gap around
    it.
    """
    symbols = symbols_of(program, text)
    parts: list[tuple[int, int, bool]] = []
    gap = start = 0
    while start < len(symbols):
        end = program.match_end(symbols, start, searched=start == gap)
        if end is None:
            start += 1
            continue
        if gap < start:
            parts.append((gap, start, False))
        if start < end:
            parts.append((start, end, True))
        gap = end
        start = max(end, start + 1)
    if gap < len(symbols):
        parts.append((gap, len(symbols), False))
    return parts


def symbols_of(program: SplitProgram, text: str) -> list[int]:
    """The symbols that the automaton reads: the input classes of a text, or its labels."""
    return program.read(text.encode() if len(program.classes) == 256 else text)


def matches(program: SplitProgram, text: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end, is_match in find_parts(program, text) if is_match]


def strings(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


def spans_of(program: SplitProgram, text: str) -> list[tuple[int, int]]:
    """All matches and gaps."""
    return [(start, end) for start, end, _ in find_parts(program, text)]


def steps_taken(program: SplitProgram, text: str) -> tuple[int, list[tuple[int, int]]]:
    """The number of symbols read by a runtime that remembers where one of the first n_memo states
    led to no match; and the matches.
    """
    classes = symbols_of(program, text)
    transitions = program.transitions.data
    failed: set[tuple[int, int]] = set()
    spans = []
    start = searched_from = 0
    steps = (program.labels is not None) * len(text)
    while start < len(text):
        starts = program.starts
        if program.search_starts is not None and start == searched_from:
            starts = program.search_starts
        state, end = int(starts[classes[start - 1] if start else program.n_classes]), None
        passed: list[tuple[int, int]] = []
        for position in range(start, len(text) + 1):
            steps += 1
            transition = transitions[
                state, classes[position] if position < len(text) else program.n_classes
            ]
            if transition & MATCH_ENDS:
                end, passed = position, []
            state = transition & ~MATCH_ENDS
            if not state or (position + 1, state) in failed:
                break
            if state <= program.n_memo:
                passed.append((position + 1, state))
        failed.update(passed)
        if end is not None and end > start:
            spans.append((start, end))
            searched_from = end
        start = max(end or 0, start + 1)
    return steps, spans


class Oniguruma:
    """The engine of `tokenizers`; it refuses a pattern with an exception."""

    def __init__(self, pattern: str) -> None:
        self._split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
        self._cut = pre_tokenizers.Split(Regex(pattern), "isolated")

    def matches(self, text: str) -> list[tuple[int, int]]:
        return [span for _, span in self._split.pre_tokenize_str(text)]

    def parts(self, text: str) -> list[tuple[int, int]]:
        """Matches and gaps; an empty match divides a gap."""
        return [span for _, span in self._cut.pre_tokenize_str(text)]


def fancy_matched(pattern: str, texts: Sequence[str]) -> list[list[str]]:
    """The strings that tiktoken's engine matches in each text.

    tiktoken exposes tokens, not matches. So every substring of the texts is made a token, and each
    match is one token.
    """
    substrings = {
        text[start:end].encode()
        for text in texts
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
    }
    encoding = byte_encoding(pattern, sorted(token for token in substrings if len(token) > 1))
    return [
        [encoding.decode([token]) for token in encoding.encode_ordinary(text)] for text in texts
    ]


def engine_matched(pattern: str, dialect: Dialect, texts: Sequence[str]) -> list[list[str]]:
    """The strings that the engine of a dialect matches in each text."""
    if dialect is Dialect.FANCY_REGEX:
        return fancy_matched(pattern, texts)
    engine = Oniguruma(pattern)
    return [strings(text, engine.matches(text)) for text in texts]


NEIGHBOURS = (
    " \t\n\r\x0b\x85\xa0\u2028\u3000"
    "019߀२½²Ⅷ"
    "aAsSkKlLrRvVeEtTmMdDé\u017f\u212a\u01c5ʰ中한あ\u0e01"
    "'\u2019.,/-_!#\u2581\u0301\u0903\U0001f600\U0001f44d\u200d"
)


def alphabet_of(program: SplitProgram, seed: int = 0) -> str:
    """One or two characters of each class, and characters that patterns mention."""
    generator = random.Random(seed)
    characters = []
    classes = program.classes.array()
    by_class = np.argsort(classes, kind="stable")
    for members in np.split(by_class, np.cumsum(np.bincount(classes))[:-1]):
        members = members[(members < 0xD800) | (members >= 0xE000)]
        if len(members):
            characters += [chr(members[0]), chr(members[generator.randrange(len(members))])]
    return "".join(dict.fromkeys([*characters, *NEIGHBOURS]))


def random_texts(alphabet: str, count: int, longest: int, seed: int = 0) -> Iterable[str]:
    """Random strings, half of them with few distinct characters, so that runs are common."""
    generator = random.Random(seed)
    for number in range(count):
        few = "" if number % 2 else "".join(generator.choices(alphabet, k=generator.randint(1, 5)))
        letters = few or alphabet
        yield "".join(generator.choices(letters, k=generator.randint(1, longest)))


def assert_parts_of_oniguruma(
    pattern: str, alphabets: Sequence[str], count: int, longest: int
) -> None:
    """Compares matches and gaps in random texts of each alphabet, and of one that the program
    suggests, with those of the engine of `tokenizers`, which may give up on one text in a hundred.
    """
    program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
    given_up = 0
    for alphabet in (alphabet_of(program), *alphabets):
        for text in random_texts(alphabet, count, longest):
            try:
                expected = engine.parts(text)
            except BaseException as error:  # a panic, after ten million tries in one match
                if "retry-limit-in-match" not in str(error):
                    raise
                given_up += 1
                continue
            assert spans_of(program, text) == expected, (pattern, text)
    assert given_up <= len(alphabets) * count // 100


def assert_parts_after_byte_level(pattern: str, alphabet: str, longest: int) -> None:
    """The same after ByteLevel, where each character of the text is a byte."""
    program = compile_split(Split(pattern, on_bytes=True))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    chain = pre_tokenizers.Sequence([byte_level, split])
    for text in random_texts(alphabet, 300, longest):
        lengths = [len(part) for part, _ in chain.pre_tokenize_str(text)]
        assert [end - start for start, end, _ in find_parts(program, text)] == lengths, text


def assert_matches_of_fancy_regex(
    pattern: str, alphabets: Sequence[str], count: int, longest: int
) -> None:
    """The same with the matches of the engine of `tiktoken`."""
    program = compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
    for alphabet in (alphabet_of(program), *alphabets):
        texts = list(random_texts(alphabet, count, longest))
        for text, matched in zip(texts, fancy_matched(pattern, texts), strict=True):
            assert strings(text, matches(program, text)) == matched, (pattern, text)
