"""A random string is a function of seed, generator and index alone."""

import hashlib

import pytest
from repository import called

from tokexport.verification.generators import GENERATORS, SHARES, Dice, Vocabulary, make, plan

WORDS = "the quick brown é 中 fox's 12 ( \n jumps"
TOKENS = (*WORDS.encode().split(b" "), b"\xe4\xb8", b"\x80", b" ")
VOCABULARY = Vocabulary(TOKENS, ("<|end|>", "[MASK]", "<s>", "s>é"))


def strings(name: str, vocabulary: Vocabulary, seed: int, count: int) -> list[str]:
    return [make(name, vocabulary, seed, index) for index in range(count)]


def digest(count: int) -> str:
    text = "\0".join(one for name in GENERATORS for one in strings(name, VOCABULARY, 1, count))
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_strings_equal_the_recorded_ones() -> None:
    assert digest(40) == "2df5a1010deb5391612841f87dca6c256412af9e992eb5f2af04019d2e4cf22f"


def test_another_hash_seed_makes_the_same_strings() -> None:
    expected = digest(40)
    for seed in ("0", "12345"):
        assert called(__file__, "digest(40)", PYTHONHASHSEED=seed) == expected


@pytest.mark.parametrize("name", list(GENERATORS))
def test_a_string_depends_only_on_its_index(name: str) -> None:
    together = strings(name, VOCABULARY, 3, 60)
    assert [make(name, VOCABULARY, 3, index) for index in reversed(range(60))] == together[::-1]


@pytest.mark.parametrize("name", list(GENERATORS))
def test_another_seed_makes_other_valid_strings(name: str) -> None:
    first, second = (strings(name, VOCABULARY, seed, 200) for seed in (1, 2))
    assert first != second
    assert len(set(first)) > 60
    assert all(string.encode() is not None for string in first)


def test_repeats_are_dense_around_a_hundred_bytes_and_reach_three_hundred() -> None:
    sizes = [
        len(max(string.split(" "), key=len).encode())
        for string in strings("repeats", VOCABULARY, 0, 4000)
    ]
    for size in (99, 100, 101):
        assert sizes.count(size) > 20
    assert sum(size < 90 for size in sizes) > 200
    assert sum(110 < size <= 300 for size in sizes) > 400
    assert max(sizes) > 2000


def test_code_points_come_from_every_plane_and_from_both_sides_of_class_boundaries() -> None:
    points = {
        ord(point) for string in strings("code-points", VOCABULARY, 0, 6000) for point in string
    }
    assert {point >> 16 for point in points} == set(range(17))
    assert {0x0, 0x85, 0xA0, 0x17F, 0x200B, 0x2028, 0x212A, 0xFEFF, 0xFFFF, 0x10FFFF} <= points
    assert not points & set(range(0xD800, 0xE000))


def test_added_tokens_occur_whole_doubled_cut_and_beside_spaces_and_letters() -> None:
    generated = list(strings("added-tokens", VOCABULARY, 0, 3000))
    parts = ("<|end|>", "<|end|><|end|>", " <|end|>", "<|end|>\n", "a[MASK]", "[MASK]a", "<s>é")
    for part in (*parts, "<|END|>", "s>e\u0301"):
        assert any(part in string for string in generated), part
    assert any("<|end|" in string and "<|end|>" not in string for string in generated)


def test_contractions_occur_in_every_case_and_with_letters_that_fold_to_them() -> None:
    generated = "".join(strings("apostrophes", VOCABULARY, 0, 3000))
    for part in ("'s", "'S", "'ll", "'LL", "'Re", "'\u017f", "\u2019s", "'\ufb06"):
        assert part in generated, part


def test_the_plan_has_the_requested_number_of_strings() -> None:
    assert sum(SHARES.values()) == 100
    for total in (0, 1, 99, 12345, 100_000):
        assert sum(plan(total, VOCABULARY).values()) == total
        reduced = plan(total, Vocabulary(TOKENS))
        assert sum(reduced.values()) == total
        assert "added-tokens" not in reduced


def test_strings_of_a_tokenizer_without_added_tokens_can_be_made() -> None:
    assert len(list(strings("mixed", Vocabulary(TOKENS), 0, 500))) == 500


def test_dice_are_fair_and_stay_within_their_limits() -> None:
    dice = Dice("fair")
    rolls = [dice.below(6) for _ in range(6000)]
    assert set(rolls) == set(range(6))
    assert all(800 < rolls.count(side) < 1200 for side in range(6))
    assert {dice.between(3, 5) for _ in range(200)} == {3, 4, 5}
    few = [dice.few(9) for _ in range(4000)]
    assert set(few) == set(range(1, 10))
    assert few.count(1) > few.count(9) * 3
