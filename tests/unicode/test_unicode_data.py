"""The shipped tables are those of their generator, and all that patterns and normalizers use."""

import importlib.util
from importlib import metadata, resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository import SLOW, printed
from unicode_tables import generate
from unicode_tables.writer import Writer, set_to_numbers

from tokexport.unicode.store import CODE_POINTS, Reader, set_from_numbers

GENERATED = ("engines.dat", "characters.dat", "normal_forms.dat")
FILES = (*GENERATED, "normal_forms_17.dat")
PINNED, PINNED_17 = generate.PINNED, {"tokenizers": generate.PINNED_17}

USE_EVERYTHING = """
import sys, types
class Forbidden(types.ModuleType):
    def __getattr__(self, name):
        raise AssertionError(f"{self.__name__}.{name} is used")
sys.modules["unicodedata"] = Forbidden("unicodedata")
for library in ("tokenizers", "tiktoken", "regex"):
    sys.modules[library] = None  # an import of it now fails
from tokexport import unicode
from tokexport.model.normalization import normal_forms
from tokexport.model import CharacterTest, Dialect, NormalForm
for dialect in Dialect:
    print(unicode.property_set("L", dialect).sum(), unicode.shorthand_set("s", dialect).sum())
    print(unicode.case_variants(0x73, dialect), len(unicode.multi_character_folds()))
for test in CharacterTest:
    print(unicode.character_test_set(test).sum())
for form in NormalForm:
    print(len(normal_forms.normalization_tables(form).decompositions))
"""


def shipped(name: str) -> bytes:
    return resources.files("tokexport.unicode").joinpath(name).read_bytes()


def test_the_tables_need_neither_the_unicode_of_python_nor_a_reference_library() -> None:
    assert printed("-c", USE_EVERYTHING).split("\n")[:2] == ["141028 25", "(83, 115, 383) 73"]


def test_the_tables_are_small_enough_to_ship() -> None:
    assert sum(len(shipped(name)) for name in FILES) < 300_000


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: takes two minutes")
@pytest.mark.parametrize(("packages", "names"), [(PINNED, GENERATED), (PINNED_17, FILES[3:])])
def test_the_generator_produces_the_shipped_bytes(
    packages: dict[str, str], names: tuple[str, ...]
) -> None:
    for package, version in packages.items():
        if importlib.util.find_spec(package) is None or metadata.version(package) != version:
            pytest.skip(f"needs {package} {version}")
    assert generate.generate() == {name: shipped(name) for name in names}


@given(st.lists(st.lists(st.integers(0, 2**40)), max_size=8))
def test_sequences_are_read_as_they_were_written(sequences: list[list[int]]) -> None:
    writer = Writer()
    numbers = [writer.add(sequence) for sequence in sequences]
    reader = Reader(writer.file({"numbers": numbers}))
    assert [reader.sequence(number) for number in reader.header["numbers"]] == sequences


@given(st.lists(st.tuples(st.integers(0, CODE_POINTS), st.integers(0, CODE_POINTS)), max_size=6))
def test_a_set_is_read_as_it_was_written(ranges: list[tuple[int, int]]) -> None:
    members = np.zeros(CODE_POINTS, np.bool_)
    for start, stop in ranges:
        members[start:stop] ^= True
    assert np.array_equal(set_from_numbers(set_to_numbers(members)), members)


def test_the_order_of_keys_in_the_header_does_not_change_the_bytes() -> None:
    writer = Writer()
    writer.add([1, 2])
    assert writer.file({"a": 1, "b": 2}) == writer.file({"b": 2, "a": 1})
