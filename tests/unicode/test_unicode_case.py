"""Matches under ``(?i)``, of single code points and of sequences, equal those of the engines."""

import itertools

import numpy as np
import pytest
import tokenizers
from regex_oracle import Oniguruma
from repository import SLOW
from tiktoken_encodings import byte_encoding
from tokenizers import decoders

from tokexport.model import Dialect
from tokexport.unicode import case_variants, multi_character_folds, property_set

UNTOUCHED_BY_CASE = "0 '中"
PROPERTIES = ("Cased", "Changes_When_Casemapped", "Changes_When_Casefolded")
SETS = [property_set(name, Dialect.ONIGURUMA) for name in PROPERTIES]
CASED = "".join(map(chr, np.flatnonzero(np.any(SETS, axis=0))))
FOLDS = multi_character_folds()
SINGLES = "".join(sorted(chr(single) for singles in FOLDS.values() for single in singles))


def escaped(text: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in text)


def matches(pattern: str, text: str, dialect: Dialect) -> list[str]:
    if dialect is Dialect.ONIGURUMA:
        return [text[start:end] for start, end in Oniguruma(pattern).matches(text)]
    return list(bytes(byte_encoding(pattern).encode_ordinary(text)).decode())


def whole_lines(pattern: str, lines: list[str]) -> set[str]:
    """The lines that Oniguruma matches from end to end."""
    return {*matches(rf"^(?i:{pattern})$", "\n".join(lines), Dialect.ONIGURUMA)}


def spellings(sequence: tuple[int, ...]) -> set[str]:
    """A folded sequence with each of its characters in all cases."""
    variants = (case_variants(code_point, Dialect.ONIGURUMA) for code_point in sequence)
    return {"".join(map(chr, spelling)) for spelling in itertools.product(*variants)}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("template", ["(?i:{})", "(?i:[{}])"])
def test_variants_equal_the_matches_of_the_engine(template: str, dialect: Dialect) -> None:
    cased = CASED if SLOW else CASED[::27]
    lines = "\n".join(CASED + UNTOUCHED_BY_CASE)
    for character in (*cased, *UNTOUCHED_BY_CASE, *"sSſkKK", *SINGLES):
        matched = matches(template.format(escaped(character)), lines, dialect)
        assert tuple(map(ord, matched)) == case_variants(ord(character), dialect), character


@pytest.mark.parametrize("dialect", Dialect)
def test_a_variant_has_the_same_variants(dialect: Dialect) -> None:
    for code_point in range(0x110000):
        variants = case_variants(code_point, dialect)
        assert code_point in variants
        assert len(variants) == 1 or all(
            case_variants(variant, dialect) == variants for variant in variants
        )


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: matches every scalar value")
def test_a_character_without_variants_matches_no_other() -> None:
    """Any two code points differ in a bit: classes with and without each bit reveal any match."""
    alone = [
        c
        for c in (*range(0xD800), *range(0xE000, 0x110000))
        if len(case_variants(c, Dialect.ONIGURUMA)) == 1
    ]
    text = "".join(map(chr, alone))
    for start in range(0, len(alone), 8192):  # Oniguruma allows 10,000 ranges in a class
        block = alone[start : start + 8192]
        for bit in range(21):
            for value in (0, 1):
                half = [c for c in block if c >> bit & 1 == value]
                if half and len(half) < len(block):
                    ranges = "".join(
                        f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in runs(half)
                    )
                    left = decoders.Replace(tokenizers.Regex(f"(?i:[{ranges}])"), "").decode([text])
                    assert len(left) == len(text) - len(half)


def runs(code_points: list[int]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(code_points) != 1)
    return [
        (code_points[first], code_points[last])
        for first, last in zip([0, *(edges + 1)], [*edges, len(code_points) - 1], strict=True)
    ]


def test_oniguruma_has_every_full_case_folding_of_unicode() -> None:
    assert len(FOLDS) == 73
    assert len(SINGLES) == 104
    for sequence, singles in FOLDS.items():
        assert {chr(single).casefold() for single in singles} == {"".join(map(chr, sequence))}


@pytest.mark.parametrize("length", [2, 3])
def test_a_code_point_matches_the_spellings_of_its_fold_and_no_other_sequence(length: int) -> None:
    members = itertools.chain(*(sequence for sequence in FOLDS if len(sequence) >= length))
    variants = itertools.chain(*(case_variants(member, Dialect.ONIGURUMA) for member in members))
    alphabet = sorted({*map(chr, variants), "a", "'"})
    lines = ["".join(line) for line in itertools.product(alphabet, repeat=length)]
    for sequence, singles in FOLDS.items():
        expected = spellings(sequence) if len(sequence) == length else set()
        for single in singles[: None if length == 2 else 1]:
            assert whole_lines(escaped(chr(single)), lines) == expected, hex(single)


def test_a_sequence_matches_its_single_code_points_and_no_other() -> None:
    members = sorted({code_point for sequence in FOLDS for code_point in sequence})
    for pair in itertools.product(members, repeat=2):
        matched = matches(f"(?i:{escaped(''.join(map(chr, pair)))})", SINGLES, Dialect.ONIGURUMA)
        assert tuple(map(ord, matched)) == FOLDS.get(pair, ()), pair
    for sequence, singles in FOLDS.items():
        for spelling in spellings(sequence):
            matched = matches(f"(?i:{escaped(spelling)})", SINGLES, Dialect.ONIGURUMA)
            assert tuple(map(ord, matched)) == singles
