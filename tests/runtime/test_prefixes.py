"""Ids by prefix equal those of a scan, and each belongs to exactly one child of a node."""

import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import golden_files
import numpy as np
import pytest
from bare_models import tokenizer_model
from hypothesis import given, settings
from hypothesis import strategies as st

import tokexport
from tokexport.conversion import Options, file_bytes
from tokexport.errors import FormatError
from tokexport.file.layout import Tag
from tokexport.model import BytePairModel, Token, TokenKind
from tokexport.runtime.prefixes import PrefixNode
from tokexport.sources import read

INDEXED = Options(decode_only=True, prefix_index=True)
CONTENTS = st.lists(
    st.sampled_from([b"", b"a", b"b", b"\0", b"\xff", b"ab", b"ba"]), max_size=4
).map(b"".join)
# BPE over bytes with holes; WordPiece and Unigram, whose first and last tokens have other bytes.
SHARED = ("gpt2", "bert-base-uncased", "t5-small")


def opened(contents: Sequence[bytes | None]) -> tokexport.Tokenizer:
    """A file of some tokens; None is a hole."""
    tokens = (None if content is None else Token(content, TokenKind.ADDED) for content in contents)
    model = tokenizer_model(tokens, BytePairModel({}, None))
    return tokexport.load(file_bytes(model, INDEXED))


def by_scan(tokenizer: tokexport.Tokenizer, prefix: bytes) -> list[int]:
    """The ids with a prefix, sorted by their bytes and by id."""
    matches = []
    for id in range(tokenizer.n_vocab):
        try:
            content = tokenizer.decode_single_token_bytes(id)
        except KeyError:
            continue
        if content.startswith(prefix):
            matches.append((content, id))
    return [id for _, id in sorted(matches)]


def check_node(tokenizer: tokexport.Tokenizer, node: PrefixNode) -> list[PrefixNode]:
    """The children of a node, which have all of its ids except those that end there."""
    contents = [tokenizer.decode_single_token_bytes(int(id)) for id in node.ids]
    assert len(node) == len(contents)
    ending = [id for id, token in zip(node.ids, contents, strict=True) if token == node.prefix]
    assert [*node.ending] == ending
    children = [*node.children()]
    assert [*node.ending, *chain(*(child.ids for child in children))] == [*node.ids]
    bytes_after = sorted({token[len(node.prefix)] for token in contents if token != node.prefix})
    prefixes = [node.prefix + bytes([byte]) for byte in bytes_after]
    assert [child.prefix for child in children] == prefixes
    assert [node.child(byte) for byte in bytes_after] == children
    return children


@settings(max_examples=200)
@given(st.lists(st.none() | CONTENTS, min_size=1, max_size=40), CONTENTS)
def test_ids_by_prefix_equal_those_of_a_scan(contents: list[bytes | None], prefix: bytes) -> None:
    tokenizer = opened(contents)
    assert tokenizer.prefix_ids(prefix).tolist() == by_scan(tokenizer, prefix)
    assert tokenizer.prefix_trie(prefix).prefix == prefix


@given(st.lists(st.none() | CONTENTS, min_size=1, max_size=40))
def test_a_walk_over_the_trie_visits_every_id_once(contents: list[bytes | None]) -> None:
    tokenizer = opened(contents)
    nodes, visited = [tokenizer.prefix_trie()], []
    while nodes:
        node = nodes.pop()
        visited += node.ending.tolist()
        nodes += check_node(tokenizer, node)
    assert sorted(visited) == [id for id, content in enumerate(contents) if content is not None]


@pytest.mark.parametrize("name", SHARED)
def test_prefixes_in_real_vocabularies_equal_those_of_a_scan(shared: Path, name: str) -> None:
    model = read(shared / "tokenizers" / name / "tokenizer.json")
    content = file_bytes(model, Options(prefix_index=True))
    tokenizer = tokexport.load(content)
    everything = by_scan(tokenizer, b"")
    assert tokenizer.prefix_ids(b"").tolist() == everything
    contents = [tokenizer.decode_single_token_bytes(id) for id in everything]
    r = random.Random(1)
    for token in [*r.sample(contents, 150), b" ", b"##", b"<", b"\xe2\x96"]:
        prefix = token[: r.randint(1, 4)]
        pairs = zip(everything, contents, strict=True)
        expected = [id for id, content in pairs if content.startswith(prefix)]
        assert tokenizer.prefix_ids(prefix).tolist() == expected
        check_node(tokenizer, tokenizer.prefix_trie(prefix))
    growth = len(content) - len(file_bytes(model))
    assert 4 * len(everything) <= growth < 4 * len(everything) + 128


def test_a_file_without_the_index_says_how_to_convert_again() -> None:
    with pytest.raises(FormatError, match="convert the source again with --prefix-index"):
        tokexport.load(golden_files.content("ranked")).prefix_ids(b"a")


def test_a_wrong_index_causes_wrong_ids_or_an_error() -> None:
    original = tokexport.load(golden_files.content("holes"))
    r = random.Random(7)
    codes = []
    for _ in range(300):
        numbers = original.prefix_ids(b"").copy()
        for _ in range(r.choice([1, 5, 200])):
            numbers[r.randrange(len(numbers))] = r.choice([0, 5, 264, 266, 267, 0xFFFFFFFF])
        changed = {Tag.SORTED_IDS: numbers.astype(np.dtype("<u4")).tobytes()}
        tokenizer = tokexport.load(golden_files.rebuilt("holes", changed))
        try:
            for prefix in (b"", b"t", b"xyzzyx", b"<|"):
                assert len(tokenizer.prefix_ids(prefix)) <= tokenizer.token_count
                assert len([*tokenizer.prefix_trie(prefix).children()]) <= 256
        except FormatError as error:
            codes.append(error.code)
    assert {*codes} == {-37}
    assert 10 < len(codes) < 290


def test_a_prefix_is_bytes() -> None:
    with pytest.raises(TypeError, match="prefix must be bytes, not str"):
        opened([b"a"]).prefix_ids("a")  # type: ignore[arg-type]
