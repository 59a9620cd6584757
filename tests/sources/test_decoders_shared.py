"""Real tokenizers of every kind decode as the reference does, in one call and in a stream."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import tokenizers
from decoders import decode_only
from repository import SLOW

from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.decoder import read_decoder
from tokexport.sources.tokenizer_json.decoder_chain import decode_forms

SHARED = os.environ.get("TOKEXPORT_SHARED", "")
# Their decoder and their kinds of added tokens are those of others, which have fewer tokens.
TWINS = {
    *("bert-base-uncased", "deepseek-v3", "falcon", "gemma3", "gpt-oss", "gte-small", "llama3"),
    *("mistral-7b-v0.1", "mistral-nemo", "modernbert", "mpt", "olmo-dolma2", "qwen2.5", "qwen3"),
    *("starcoder2", "xlm-roberta"),
}
ALL = (
    sorted(path.parent.name for path in (Path(SHARED) / "tokenizers").glob("*/tokenizer.json"))
    if SHARED
    else []
)
NAMES = [name for name in ALL if SLOW or name not in TWINS]
SEQUENCES = 20_000 if SLOW else 500

pytestmark = pytest.mark.skipif(not SHARED, reason="TOKEXPORT_SHARED is not set")


def file_of(path: Path, reference: tokenizers.Tokenizer) -> Tokenizer:
    """A file that decodes the vocabulary and the added tokens of a tokenizer.json."""
    vocab = reference.get_vocab(with_added_tokens=False)
    added = reference.get_added_tokens_decoder()
    special = {token.content for token in added.values() if token.special}
    spelling = {id: token for token, id in vocab.items()} | {
        id: token.content for id, token in added.items()
    }
    for id, token in added.items():
        if token.normalized and reference.normalizer is not None:
            spelling[id] = reference.normalizer.normalize_str(token.content)
    root = parse(path.read_bytes(), path.name)
    decoded = decode_forms(spelling, read_decoder(root))
    decoded.tokens.special[[id for id, text in spelling.items() if text in special]] = True
    return load(decode_only(decoded.tokens, decoded.decoding))


@pytest.mark.parametrize("name", NAMES or ["no"])
def test_a_real_tokenizer_decodes_as_the_reference_does(name: str) -> None:
    path = Path(SHARED) / "tokenizers" / name / "tokenizer.json"
    try:
        reference = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:
        pytest.skip(f"the reference refuses it: {error}")
    tokenizer = file_of(path, reference)
    ids = sorted({*reference.get_vocab().values(), *reference.get_added_tokens_decoder()})
    dice = random.Random(name)
    few = [*ids[:300], *ids[-20:]]
    inside = dice.sample(ids, min(len(ids), 10 * SEQUENCES))
    alone = ids if SLOW else [*few, *dice.sample(ids, min(len(ids), 20_000))]
    sequences = [[id] for id in alone] + [[dice.choice(few), id, dice.choice(ids)] for id in inside]
    sequences += [
        [dice.choice(dice.choice((few, ids))) for _ in range(dice.randrange(2, 30))]
        for _ in range(SEQUENCES)
    ]
    for skip in (False, True):
        expected = reference.decode_batch(sequences, skip_special_tokens=skip)
        found = tokenizer.decode_batch(sequences, skip_special_tokens=skip)
        wrong = [
            case for case in zip(sequences, expected, found, strict=True) if case[1] != case[2]
        ]
        assert not wrong, wrong[:3]
        for ids_, text in zip(sequences[-SEQUENCES:], expected[-SEQUENCES:], strict=True):
            stream = DecodeStream(tokenizer, skip_special_tokens=skip)
            assert "".join(part or "" for part in (*map(stream.step, ids_), stream.flush())) == text
