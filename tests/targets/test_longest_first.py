"""llama.cpp finds longest added tokens first: a warning shows a text, `verify` its ids."""

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import reference_for
from repository import ROOT, script

from tokexport.sources.tokenizer_json.document import added_token
from tokexport.targets.longest_first import cut_otherwise, find, longest_first
from tokexport.targets.registry import TARGETS
from tokexport.targets.write import write_target

GOLDEN = script(ROOT / "formats" / "golden_targets.py")
TEXTS = ["".join(letters) for size in range(1, 9) for letters in product("ab", repeat=size)]
TOKENS = st.lists(st.text("ab", min_size=1, max_size=4), unique_by=len, min_size=1, max_size=4)


@given(tokens=TOKENS, first=st.integers(0, 4), n_special=st.integers(0, 4))
def test_a_text_is_shown_if_and_only_if_there_is_one(
    tokens: list[str], first: int, n_special: int
) -> None:
    groups, special = [tokens[:first], tokens[first:]], tokens[:n_special]

    def differs(text: str) -> bool:
        ours = find(text, groups), find(text, groups, special)
        named = tokens, [token for token in tokens if token not in special]
        return ours != tuple(find(text, longest_first(found)) for found in named)

    shown = cut_otherwise(groups, special)
    assert (shown is not None) == any(map(differs, TEXTS))
    assert shown is None or differs(shown)


@pytest.mark.parametrize(
    ("tokens", "text", "library", "llamacpp"),
    [
        (("<a>", ">>bc"), "<a>>bc", [269, 62, 98, 99], [60, 97, 270]),
        (("<a>", ">b"), "<a>b", [269, 98], [269, 98]),
        (("  ", "   "), "     ", [270, 269], [270, 269]),
        (("|||a|||", "|||bc|||"), "|||a|||bc|||", [269, 98, 99, *[124] * 3], [*[124] * 3, 97, 270]),
    ],
)
def test_an_overlap_is_a_warning_and_has_the_ids_of_llamacpp(
    tokens: tuple[str, str], text: str, library: list[int], llamacpp: list[int], tmp_path: Path
) -> None:
    pytest.importorskip("gguf")
    document = GOLDEN.byte_document() | {"normalizer": None}
    document["added_tokens"] = [
        added_token(269 + n, token, special=False) for n, token in enumerate(tokens)
    ]
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    losses = write_target(tmp_path / "tokenizer.json", "gguf", tmp_path / "it.gguf").losses
    assert [loss.part.name for loss in losses] == ["ADDED_TOKENS"] * (library != llamacpp)
    assert all(f'cuts "{text}" otherwise' in loss.meaning for loss in losses)
    assert reference_for(tmp_path / "tokenizer.json").encode(text, True) == library
    assert TARGETS["gguf"].runtime(tmp_path / "it.gguf", {}).encode(text) == llamacpp
