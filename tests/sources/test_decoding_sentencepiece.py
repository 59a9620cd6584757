"""The rules of decoding can say what SentencePiece's own decoder does."""

from __future__ import annotations

import random

import pytest
import sentencepiece
from decoders import decode_only, streamed
from sentencepiece_training import train

from tokexport.model import Decoding, FirstIs, Token
from tokexport.runtime.tokenizer import Tokenizer, load

SENTENCES = [
    *("hello world", "the lighthouse", "a b c", "  two   spaces  ", "été 中文"),
    "hello the world of words",
] * 20


def trained(
    dummy_prefix: bool, remove_extra: bool, byte_fallback: bool, unk_surface: str
) -> sentencepiece.SentencePieceProcessor:
    model = train(
        SENTENCES,
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
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def ours(
    reference: sentencepiece.SentencePieceProcessor,
    drops: bool,
    remove_extra: bool,
    unk_surface: str,
) -> Tokenizer:
    """A file with the pieces of a model: control pieces are empty, U+2581 is a space, which is
    dropped at the start.
    """
    tokens = []
    for id in range(reference.get_piece_size()):
        piece = reference.id_to_piece(id)
        if reference.is_control(id):
            tokens.append(Token(b"", special=True))
        elif reference.is_unknown(id):
            tokens.append(Token(unk_surface.encode()))
        elif reference.is_byte(id):
            tokens.append(Token(bytes([int(piece[3:5], 16)]), fallback=True))
        else:
            first = (
                piece[1:].replace("▁", " ").encode() if drops and piece.startswith("▁") else None
            )
            tokens.append(Token(piece.replace("▁", " ").encode(), first=first))
    first_is = FirstIs.TEXT if remove_extra else FirstIs.CONTENT
    return load(
        decode_only(
            tokens, Decoding(byte_fallback=True, fallback_by_character=True, first_is=first_is)
        )
    )


@pytest.mark.parametrize("dummy_prefix", [True, False])
@pytest.mark.parametrize("remove_extra", [True, False])
@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("unk_surface", [" \u2047 ", "?"])
def test_ids_decode_as_the_library_decodes_them(
    dummy_prefix: bool, remove_extra: bool, byte_fallback: bool, unk_surface: str
) -> None:
    reference = trained(dummy_prefix, remove_extra, byte_fallback, unk_surface)
    tokenizer = ours(reference, dummy_prefix or remove_extra, remove_extra, unk_surface)
    dice = random.Random(1)
    ids = range(reference.get_piece_size())
    texts = [id for id in ids if not reference.is_byte(id)]
    pieces = [
        *("<0xE2>", "<0x96>", "<0x81>", "<0xF0>", "<0x9F>", "<0x41>", "<0xC3>", "<0xA9>", "▁"),
        *("▁▁", "<ctrl>", "<unk>"),
    ]
    often = [id for id in map(reference.piece_to_id, pieces) if id]
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
        assert tokenizer.decode(sequence) == expected, [
            reference.id_to_piece(id) for id in sequence
        ]
        assert streamed(tokenizer, sequence) == expected
