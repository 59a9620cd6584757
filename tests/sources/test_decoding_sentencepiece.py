"""The file of a SentencePiece model decodes any ids like the library, also in a stream."""

import random

import pytest
import sentencepiece
from decoders import streamed
from sentencepiece_training import model_of, train

from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import load
from tokexport.sources.sentencepiece.proto import parse_model


@pytest.mark.parametrize("dummy_prefix", [True, False])
@pytest.mark.parametrize("remove_extra", [True, False])
@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("unk_surface", [" \u2047 ", "?"])
def test_ids_decode_as_in_the_library(
    dummy_prefix: bool, remove_extra: bool, byte_fallback: bool, unk_surface: str
) -> None:
    model = train(
        model_type="bpe",
        vocab_size=330 if byte_fallback else 60,
        character_coverage=0.98,
        byte_fallback=byte_fallback,
        add_dummy_prefix=dummy_prefix,
        remove_extra_whitespaces=remove_extra,
        unk_surface=unk_surface,
        user_defined_symbols=["▁", "▁▁", "<user>", "x▁y"],
        control_symbols=["<ctrl>"],
    )
    reference = sentencepiece.SentencePieceProcessor(model_proto=model)
    tokenizer = load(file_bytes(model_of(parse_model(model, "x.model"))))
    dice = random.Random(1)
    ids = range(reference.get_piece_size())
    texts = [id for id in ids if not reference.is_byte(id)]
    pieces = "<0xE2> <0x96> <0x81> <0xF0> <0x9F> <0x41> <0xC3> <0xA9> ▁ ▁▁ <ctrl> <unk>"
    often = [id for id in map(reference.piece_to_id, pieces.split()) if id]
    sequences = [
        [],
        *([id] for id in ids),
        *([first, second] for first in often for second in often),
    ]
    sequences += [
        [dice.choice(dice.choice((often, texts, texts, ids))) for _ in range(dice.randrange(1, 12))]
        for _ in range(3000)
    ]
    for sequence in sequences:
        expected = reference.decode(sequence)
        assert tokenizer.decode(sequence) == expected, reference.id_to_piece(sequence)
        assert streamed(tokenizer, sequence) == expected
