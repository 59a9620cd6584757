"""Text ends at the first stop string, however it is divided into parts."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from c_harness import NEEDS_COMPILER
from engine_programs import output, stops_program
from hypothesis import example, given
from hypothesis import strategies as st

pytestmark = NEEDS_COMPILER
TEXTS = st.text("ab\u00e9", min_size=1, max_size=5)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stops_program(tmp_path_factory.mktemp("stops"))


def slow(stops: Sequence[str], text: str) -> str:
    """The text before the first complete stop string; the longest of those that end together."""
    for end in range(len(text) + 1):
        begins = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if begins:
            return f"{text[: min(begins)]}|stopped\n"
    return f"{text}|\n"


@example(["b", "ab"], ["ab"])
@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=8))
def test_the_text_is_written_up_to_the_first_stop_string(
    program: Path, stops: list[str], parts: list[str]
) -> None:
    assert output(program, *stops, "--", *parts).decode() == slow(stops, "".join(parts))
