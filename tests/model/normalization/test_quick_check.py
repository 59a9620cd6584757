"""The quick check of the C runtime, and its vectors in the Python extension, skip nothing that a
normal form changes: normalized texts and their offsets equal those of ``tokenizers``.
"""

import functools
import random

import pytest
from bulk_cores import NEVER, ids
from compared import Compared
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import BYTE_LEVEL, document, read_document
from repository import SLOW
from slow_normalizer import interesting
from tokenizers import normalizers

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.model import NormalForm
from tokexport.model.normalization.normal_forms import normalization_tables

FORMS = [form.value for form in NormalForm if not form.is_of_unicode_17]
SCALARS = [chr(point) for point in (*range(0xD800), *range(0xE000, 0x110000)) if point != 0x0A]
# Neighbours of each scalar value: letters, composites, marks of three classes, jamo, and a
# character that composes with the letter before it.
NEIGHBOURS = (
    *("a", "é", "ṩ", "か", "中", "e\u0323", "\u0301", "\u0316", "\u0323", "\u0338", "\u0345"),
    *("\u3099", "\u09c7", "\u09be", "\u0f71", "\u1100", "\u1161", "\u11a8", "가", "각"),
    *("\U00011099", "\U000110ba"),
)
# Texts that the vectors skip, by sizes of characters.
FILLS = ("a", "a b ", "é", "ж", "ก", "中", "か", "，", "\u2019", "क", "가", "😀", "\U00011099")


@functools.cache
def fields(form: str) -> dict[str, object]:
    """A tokenizer whose ids are the bytes of the normalized text."""
    unsplit = BYTE_LEVEL | {"use_regex": False}
    return document(normalizer={"type": form}, pre_tokenizer=unsplit)


@pytest.fixture(scope="module", params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def cores(form: str, tmp_path_factory: pytest.TempPathFactory) -> list[Core]:
    """Cores with each vector width, the widest one also with the bulk engine for every text."""
    data = file_bytes(read_document(fields(form), tmp_path_factory.mktemp("quick")))
    return [
        *(Core(data, "core", NEVER, width) for width in split_widths()),
        Core(data, "engine", 0),
    ]


@pytest.fixture(scope="module")
def compared(form: str, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return Compared(fields(form), tmp_path_factory.mktemp("compared"))


def check(form: str, cores: list[Core], texts: list[str]) -> None:
    """Compares texts joined by line feeds, which separate them."""
    text = "\n".join(texts)
    expected = getattr(normalizers, form)().normalize_str(text)
    for core in cores:
        normalized = bytes(ids(core, text)).decode()
        if normalized != expected:
            triples = zip(texts, normalized.split("\n"), expected.split("\n"), strict=True)
            wrong = [text for text, left, right in triples if left != right]
            raise AssertionError(ascii(wrong[:10]))


INTERESTING = [*map(chr, interesting())]
COMPOSING = normalization_tables(NormalForm.NFC)
CHANGED = st.one_of(
    st.sampled_from(INTERESTING),
    st.sampled_from([*map(chr, COMPOSING.combining_classes)]),
    st.sampled_from([chr(second) for _, second in COMPOSING.compositions]),
    st.sampled_from("\u212b\u2126\u1e9b\u0958\u0344\u0f73\ufb1déa"),
)
FILLED = st.builds(lambda fill, count: fill * count, st.sampled_from(FILLS), st.integers(0, 40))
TEXTS = st.lists(st.one_of(FILLED, CHANGED, CHANGED, CHANGED), max_size=12).map("".join)


def test_every_scalar_value_beside_others(form: str, cores: list[Core]) -> None:
    characters = SCALARS if SLOW else [*INTERESTING, *SCALARS[::61]]
    for neighbour in ("", *NEIGHBOURS):
        check(form, cores, [neighbour + character for character in characters])
        check(form, cores, [character + neighbour for character in characters])
    for before, after in (("a", "\u0323"), ("a", "\u0301"), ("a\u0301", "\u0323")):
        check(form, cores, [before + character + after for character in characters])


def test_every_scalar_value_at_the_start_of_a_text(form: str, cores: list[Core]) -> None:
    for character in SCALARS if SLOW else INTERESTING:
        for text in (character, character + "\u0323"):
            check(form, cores, [text])


def test_changes_at_each_position_of_a_vector(form: str, cores: list[Core]) -> None:
    rng = random.Random(5)
    changing = ["\u0301", "e\u0301", "\u212b", "\u0958", "각", "\u1100\u1161", "\u3099", "か\u3099"]
    texts = [
        "x" * start + fill * count + change + fill * rng.randint(0, 40)
        for fill in FILLS
        for change in changing
        for start in range(4)
        for count in range(34)
    ]
    check(form, cores, texts)
    for text in rng.sample(texts, 2_000):
        check(form, cores, [text])


@settings(max_examples=2_000 if SLOW else 300)
@given(text=TEXTS)
def test_random_texts(form: str, cores: list[Core], text: str) -> None:
    check(form, cores, [text])


@settings(max_examples=1_000 if SLOW else 150)
@given(text=TEXTS)
def test_offsets_of_random_texts(compared: Compared, text: str) -> None:
    assert compared.check(text)


@pytest.mark.parametrize(
    "text",
    ["a" + "\u0301" * 300_000, "\u0323\u0301" * 200_000, "\u1161" * 300_000, "\u09be" * 300_000],
)
def test_long_runs_without_a_cut(form: str, cores: list[Core], text: str) -> None:
    check(form, cores, [text])
