"""The bulk engine merges long runs of one character like the reference libraries."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bulk_cores import compare, pair, tokens_of, used_for
from compared import ids_or_none
from json_parts import FUSE
from parts.cases import document
from reader_samples import read_document, reference
from repository import SLOW
from sentencepiece_training import small

from tokexport._core import Core
from tokexport.conversion import file_bytes
from tokexport.sources.sentencepiece.proto import NormalizerSpec, Piece, SentencePieceModel

MODELS = 600 if SLOW else 120
TEXTS = 10_000 if SLOW else 1_500
MARK = "\u2581"

# With and without ties, and with tokens of spaces that grow by one (Gemma 3) or double.
SHARED = (
    *("llama2/tokenizer.json", "llama2/tokenizer.model", "mistral-7b-v0.1/tokenizer.json"),
    *("mistral-spm/tokenizer.model.v1", "gemma3/tokenizer.json", "phi-3/tokenizer.json"),
    *("yi/tokenizer.json", "spm-bpe-4000/spm.model"),
)
# Characters whose runs have tokens, or whose bytes have, or that are not merged.
OTHERS = " a=-\n\t\u4e2d\u3002\u0e4f\U0001f9ff\u00e9"
NEARBY = ("x", "hello", " the", "\n", "\u4e2d\u6587", MARK, "</", " ", '"', "0", ".", ")", "\u0e4f")


def repeated(core: Core) -> list[str]:
    """The characters that a token repeats."""
    characters = set(OTHERS)
    for token in tokens_of(core):
        text = token.decode(errors="ignore")
        if text.encode() == token and len(text) > 1 and len(set(text)) == 1:
            characters.add(text[0])
    return sorted(characters)


def runs(r: random.Random, characters: list[str], neighbours: tuple[str, ...]) -> str:
    """Up to five runs, with other text in between."""

    def between() -> str:
        return "".join(r.choices(neighbours, k=r.choice((0, 0, 1, 2))))

    parts = [between()]
    for _ in range(r.choice((1, 1, 1, 2, 3, 5))):
        longest = r.choice((40, 300, 3_000))
        parts += [r.choice(characters) * r.randint(1, longest), between()]
    return "".join(parts)


@pytest.mark.parametrize("name", SHARED)
def test_runs_have_the_ids_of_the_core(shared_content: Callable[[str], bytes], name: str) -> None:
    engine, core = pair(shared_content(name))
    r = random.Random(len(name))
    characters = repeated(core)
    texts = [character * size for character in " a=" for size in range(1, 3_001)]
    texts += [runs(r, characters, NEARBY) for _ in range(TEXTS)]
    for text in texts:
        actual = engine.encode_numpy(text, (), False)
        assert np.array_equal(actual, core.encode_numpy(text, (), False)), text
    assert engine.uses_bulk


def pieces(r: random.Random) -> SentencePieceModel:
    """Spaces with equal scores, or pieces in any order of scores."""
    texts = {MARK, "a", "b"}
    for letter in (MARK, "a", "b"):
        texts |= {letter * n for n in range(2, r.choice((3, 8, 17))) if r.random() < 0.8}
    for _ in range(r.randrange(8)):
        texts.add("".join(r.choice((MARK, "a", "b")) * r.randint(1, 3) for _ in range(2)))
    order = sorted(texts)
    r.shuffle(order)
    if r.random() < 0.5:  # the longest is first, or last
        order.sort(key=len, reverse=r.random() < 0.5)
    is_tied = r.random() < 0.5
    ranked = [
        Piece(text, -1e9 if is_tied and set(text) == {MARK} else -float(rank))
        for rank, text in enumerate(order)
    ]
    prefix = r.random() < 0.5
    spec = NormalizerSpec(add_dummy_prefix=prefix, remove_extra_whitespaces=False)
    return small(*ranked, normalizer=spec)


def random_texts(r: random.Random) -> Iterator[str]:
    for _ in range(10):
        yield runs(r, [" ", "a", "b"], (" ", "a", "b", "ab"))
    yield r.choice(" ab") * r.randint(1_024, 20_000)


def test_random_pieces_produce_the_ids_of_sentencepiece() -> None:
    dice = map(random.Random, range(MODELS))
    assert sum(used_for(pieces(r), random_texts(r)) for r in dice) > MODELS // 2


def test_random_merges_produce_the_ids_of_tokenizers(tmp_path: Path) -> None:
    with_bulk = 0
    for seed in range(MODELS):
        r = random.Random(seed)
        known = [" ", "a", "b"]
        merges: list[list[str]] = []
        for _ in range(r.randint(1, 40)):
            left, right = r.choice(known), r.choice(known)
            allowed = len(set(left + right)) == 1 or r.random() < 0.2
            if allowed and len(left + right) < 20 and [left, right] not in merges:
                merges.append([left, right])
                known.append(left + right)
        r.shuffle(merges)
        model = {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(dict.fromkeys(known))},
            "merges": merges,
        }
        source = document(model, decoder=FUSE)
        encode = partial(ids_or_none, reference(source).encode)
        with_bulk += compare(file_bytes(read_document(source, tmp_path)), random_texts(r), encode)
    assert with_bulk > MODELS // 2
