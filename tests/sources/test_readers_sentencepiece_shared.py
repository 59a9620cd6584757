"""Real SentencePiece models mean what their library makes of them, before anything is compiled."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from references import reference_for
from repository import SLOW
from slow_encoder import SlowEncoder

from tokexport.sources import read

MODELS = (
    "albert-style-30k-clean/30k-clean.model",
    *(
        ("bpemb-en/en.wiki.bpe.vs100000.model",) if SLOW else ()
    ),  # 100,000 pieces, of the kinds that others have
    "llama2/tokenizer.model",
    "llama2c-tok512/tok512.model",
    "mistral-spm/mistral_instruct_tokenizer_240323.model.v3",
    "sentencepiece-test/test_ja_model.model",
    "spm-bpe-4000/spm.model",
    "spm-bpe-4002/spm.model",
    "spm-char-2000/spm.model",
    "spm-unigram-4001/spm.model",
    "spm-word-4000/spm.model",
    "torchtune-toys/m.model",
    "xlnet-base-cased/spiece.model",
)
PARTS = " \u2581\u00a0\u3000\t\n\x01\x00\u200b.,!aeiAＡé½ﬁ①ⅷ𝒳한中0\u0301\U0010ffff\ufffd"


@pytest.mark.parametrize("name", MODELS)
def test_a_real_model_gives_the_ids_of_the_library(name: str, shared: Path) -> None:
    path = shared / "tokenizers" / name
    model = read(path)
    encoder, reference = SlowEncoder(model), reference_for(path)
    dice = random.Random(name)
    pieces = [
        *PARTS,
        *PARTS,
        *(token.content.decode("utf-8", "ignore") for token in model.tokens if token),
    ]
    texts = ["", " ", "  a  b ", "\x01", "!" * 20, "Hello, world!", "[MASK]<s></s><unk><0x41>"]
    texts += [
        "".join(dice.choice(pieces if odd % 2 else PARTS) for _ in range(dice.randrange(1, 12)))
        for odd in range(80)
    ]
    for text in texts:
        assert encoder.encode(text) == reference.encode(text, False), text
