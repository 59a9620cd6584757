"""Pre-tokens of bytes that are cut where no merge crosses, with lookups of whole characters, get
the ids of tiktoken, in the C core and in the bulk engine, with ranks in any order.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from bulk_cores import ids, pair
from random_added_tokens import with_merges
from reader_samples import CHARACTERS, document, read_document, reference, spelled
from repository import SLOW
from tiktoken_encodings import byte_encoding

from tokexport.compiler.merges.byte_crossings import byte_crossings
from tokexport.compiler.merges.canonical import canonical_merges
from tokexport.compiler.merges.crossings import hash_characters
from tokexport.compiler.tables import Crossings
from tokexport.conversion import file_bytes
from tokexport.model import BytePairModel, Vocabulary
from tokexport.sources import read

MODELS = 100 if SLOW else 10
LETTERS = "ab\u00e9\u0436\u4e2d\u6587\u3042\U0001f600"
BYTES = tuple(bytes((byte,)) for byte in range(256))


def parts_of(letter: str) -> list[bytes]:
    """The tokens that merge the bytes of a letter."""
    encoded = letter.encode()
    return [encoded[:size] for size in range(2, len(encoded) + 1)]


def encoding(r: random.Random, *, in_order: bool, halves: bool) -> tiktoken.Encoding:
    """Most letters have a token, and so have many pairs and triples of letters; ``halves``: also
    tokens that end or begin within a letter. ``in_order``: a token follows its parts.
    """
    letters = [letter for letter in LETTERS if r.random() < 0.9]
    tokens = [part for letter in letters for part in parts_of(letter)]
    joined = ["".join(two) for two in product(letters, repeat=2) if r.random() < 0.3]
    joined += [word + r.choice(letters) for word in joined if r.random() < 0.3]
    tokens += [word.encode() for word in joined]
    if halves:
        cut = (word.encode() for word in joined)
        tokens += [word[r.randint(0, 1) : r.randint(2, len(word))] for word in cut]
    tokens = [token for token in tokens if len(token) > 1]
    if not in_order:
        r.shuffle(tokens)
    return byte_encoding(r"\S+|\s+", tokens)


def texts(r: random.Random) -> Iterator[str]:
    # The engine starts to merge by characters after some kilobytes, and merges short words with
    # letters of one or two bytes from their bytes.
    for longest in (5, 30, 300):
        words = ("".join(r.choices(LETTERS, k=r.randint(1, longest))) for _ in range(3_000))
        yield " ".join(words)[:20_000]


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("in_order", [True, False])
def test_random_vocabularies_produce_the_ids_of_tiktoken(in_order: bool, halves: bool) -> None:
    r = random.Random(in_order * 2 + halves)
    cut = 0
    for number in range(MODELS):
        library = encoding(r, in_order=in_order, halves=halves)
        data = file_bytes(read(library))
        cut += b"XPRS" in data[:1024]
        engine, core = pair(data)
        for text in texts(r):
            assert ids(engine, text) == ids(core, text) == library.encode_ordinary(text), number
            for word in text.split(" ")[:50]:
                assert ids(core, word) == library.encode_ordinary(word), word
    assert cut == MODELS if in_order else cut < MODELS


@pytest.mark.parametrize("missing", [b"\xf1", b"\xf1\xe4", b"\xc3\xf0\xf1", b"\x80", b"a"])
def test_bytes_without_a_token_are_dropped_as_by_tokenizers(missing: bytes) -> None:
    """U+50000 and U+60041 begin with F1, as no letter does: StarCoder 2 and SmolLM lack it."""
    letters = f"{LETTERS}\U00050000\U00060041"
    r = random.Random(missing)
    with_cuts = 0
    for _ in range(3 * MODELS):
        words = ["".join(r.choices(letters, k=r.randint(1, 3))).encode() for _ in range(60)]
        # Also what follows a byte that is dropped, alone and joined to other letters.
        words += [word.translate(None, missing) for word in words]
        words += [word[r.randint(0, 1) : len(word) - r.randint(0, 1)] for word in words]
        letters_of_bytes = (CHARACTERS[byte] for byte in range(256) if byte not in missing)
        single = {letter: number for number, letter in enumerate(letters_of_bytes)}
        model = with_merges(r, single, map(spelled, sorted(words, key=len)))
        library = reference(document(model=model))
        data = file_bytes(read(library))
        with_cuts += b"XPRS" in data[:1024]
        engine, core = pair(data)
        for longest in (3, 12, 100):
            picked = ("".join(r.choices(letters, k=r.randint(1, longest))) for _ in range(300))
            text = " ".join(picked)[:6_000]
            assert ids(engine, text) == ids(core, text) == library.encode(text).ids
    assert bool(with_cuts) == (min(missing) >= 0xC0)


def crossings_of(tokens: Sequence[str | bytes]) -> Crossings | None:
    """The crossings of the merges of these tokens; None without XPRS."""
    encoded = [token.encode() if isinstance(token, str) else token for token in tokens]
    vocab = {token: number for number, token in enumerate(dict.fromkeys((*BYTES, *encoded)))}
    merges = canonical_merges(BytePairModel(vocab, merges=None))
    return byte_crossings(Vocabulary.of(vocab), merges.rules, merges.first)


def crossed(*tokens: str | bytes) -> tuple[set[tuple[bytes, bytes]], set[int]]:
    """The pairs of bytes (not ASCII) beside a boundary that a merge of partial characters crosses,
    and the places of crossed pairs in the map.
    """
    crossings = crossings_of(tokens)
    assert crossings is not None
    dense = crossings.dense.copy()
    assert dense[:128, :128].all()
    dense[:128, :128] = False
    pairs = {(BYTES[left], BYTES[right]) for left, right in np.argwhere(dense)}
    return pairs, {*np.flatnonzero(crossings.hashed)}


def hashed_pair(left: str, right: str) -> int:
    first, second = (np.array([ord(letter)], np.uint64) for letter in (left, right))
    return int(hash_characters(first, second, 9)[0])


def test_a_pair_of_whole_characters_is_crossed() -> None:
    both = crossed(*parts_of("\u4e2d"), *parts_of("\u6587"), "\u4e2d\u6587")
    assert both == (set(), {hashed_pair("\u4e2d", "\u6587")})


def test_a_token_that_ends_within_a_character_is_recorded_by_its_bytes() -> None:
    start = "\u4e2d".encode()[:1]
    pairs, hashed = crossed(*parts_of("\u00e9"), "a\u00e9", b"a" + start, "\u00e9a")
    assert pairs == {(b"a", start)}
    assert hashed == {hashed_pair("a", "\u00e9"), hashed_pair("\u00e9", "a")}


def test_bytes_beyond_the_last_code_point_are_not_a_character() -> None:
    beyond = [b"\xf7\xbf", b"\xf7\xbf\xbf", b"\xf7\xbf\xbf\xbf"]
    pairs, _ = crossed(*parts_of("\u00e9"), "\u00e9a", *beyond, b"a" + beyond[-1])
    assert pairs == {(b"a", b"\xf7")}


def test_a_merge_ranked_before_the_character_it_joins_prevents_crossings() -> None:
    e = parts_of("\u00e9")
    assert crossings_of([*e, "b\u00e9", "ab"]) is not None
    assert crossings_of(["b\u00e9", "ab", *e]) is None


# Overlong or invalid UTF-8: by their payload bits, the bytes would be \u00e9, or the letter a.
@pytest.mark.parametrize(
    "lookalike",
    [b"\xe0\x83\xa9", b"\xf0\x80\x83\xa9", b"\xf8\x80\x83\xa9", b"\xc1\xa1", b"\xe0\x81\xa1"],
)
@pytest.mark.parametrize("letter_last", [False, True])
def test_bytes_that_only_look_like_a_character_are_not_that_character(
    letter_last: bool, lookalike: bytes, tmp_path: Path
) -> None:
    """The token of such bytes is the last one, but the first to be merged."""
    e = "\u00e9".encode()
    letter, joined = [(e[:1], e[1:])], [(b"a", e), (b"x", b"a"), (e, b"b")]
    looks = [(lookalike[:size], lookalike[size : size + 1]) for size in range(1, len(lookalike))]
    rules = [*looks, *((*joined, *letter) if letter_last else (*letter, *joined))]
    tokens = [*BYTES, *(left + right for left, right in (*letter, *joined, *looks))]
    vocab = {spelled(token): number for number, token in enumerate(tokens)}
    merges = [[*map(spelled, rule)] for rule in rules]
    source = document(model={"vocab": vocab, "merges": merges})
    content, library = file_bytes(read_document(source, tmp_path)), reference(source)
    engine, core = pair(content)
    r = random.Random(3)
    words = ("".join(r.choices("ax\u00e9b", k=r.randint(1, 60))) for _ in range(1_000))
    for text in ("xa\u00e9", " ".join(words)):
        assert ids(engine, text) == ids(core, text) == library.encode(text).ids
    assert engine.uses_bulk


def test_a_vocabulary_without_merges_may_have_crossings() -> None:
    vocab = {token: number for number, token in enumerate((*BYTES, "\u00e9a".encode()))}
    merges = canonical_merges(BytePairModel(vocab, merges=np.zeros((0, 3), np.uint32)))
    assert byte_crossings(Vocabulary.of(vocab), merges.rules, merges.first) is not None


def test_tokens_of_single_characters_and_of_ascii_have_no_crossings() -> None:
    assert crossings_of(["ab", "abc", *parts_of("\u00e9"), *parts_of("\u4e2d")]) is None
