"""A text that arrives in parts is cut where a cut changes offsets after it, too: each block begins
with some of the text before it, and gives the offsets of the whole.
"""

import random
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from references import converted
from sentencepiece_training import model_of, small, unigram
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from unicode_tables.charsmap import charsmap_of

import tokexport
from tokexport.conversion import file_bytes
from tokexport.runtime import offset_blocks
from tokexport.sources.sentencepiece.proto import Algorithm, NormalizerSpec, Piece, PieceType

WORDS = ("the ", "the ", "theme ", "  ", "é", ".", "\x01", "then\n", "e\u0301 ", " 🙂 ", "<s>")


def of_a_charsmap() -> tokexport.Tokenizer:
    """As T5: what is dropped at the start of a text moves all its offsets."""
    vocab = [(token, -float(number)) for number, token in enumerate(["<unk>", "▁", *"theman. é"])]
    theirs = Tokenizer(models.Unigram([*vocab, ("▁the", -1.0)], unk_id=0))
    theirs.normalizer = normalizers.Precompiled(charsmap_of({"\x01": "", "e\u0301": "é"}))
    theirs.pre_tokenizer = pre_tokenizers.Metaspace()
    theirs.add_special_tokens(["<s>"])
    return converted(theirs)


def of_a_prefix() -> tokexport.Tokenizer:
    """As Llama 2."""
    vocab = {token: id for id, token in enumerate(["<unk>", "▁", *"theman.é", "▁t", "he", "▁the"])}
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he")]
    theirs = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True))
    theirs.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return converted(theirs)


def of_trimming() -> tokexport.Tokenizer:
    """As Roberta: one space that begins the text is not trimmed."""
    alphabet = {letter: id for id, letter in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    theirs = Tokenizer(models.BPE(alphabet | {"Ġt": 256, "he": 257}, [("Ġ", "t"), ("h", "e")]))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ends = ("<s>", 258), ("</s>", 259)
    theirs.add_special_tokens(["<s>", "</s>"])
    theirs.post_processor = processors.RobertaProcessing(*ends[::-1], trim_offsets=True)
    return converted(theirs)


def of_a_symbol_with_a_space() -> tokexport.Tokenizer:
    """As SentencePiece: all tokens in a user-defined piece have its offsets."""
    letters = [Piece(letter, -9.0) for letter in "theman.é\u2581"]
    symbol = Piece("e t", 0.0, PieceType.USER_DEFINED)
    source = small(*letters, symbol, normalizer=NormalizerSpec())
    return tokexport.load(file_bytes(model_of(source)))


def of_sums() -> tokexport.Tokenizer:
    """As T5's spiece.model: "he" and its letters differ by less than a rounded sum."""
    scores = dict.fromkeys("theman.é\u2581", -300.0)
    scores |= {"he": -600.001, "em": -600.002, "\u2581t": -599.999}
    return tokexport.load(file_bytes(model_of(unigram(scores))))


def of_words() -> tokexport.Tokenizer:
    """Unknown words are one id, whose offsets go on after a cut."""
    words = (Piece(f"\u2581{word}", -1.0) for word in ("the", "then", "."))
    source = small(*words, algorithm=Algorithm.WORD, normalizer=NormalizerSpec())
    return tokexport.load(file_bytes(model_of(source)))


MADE = (of_words, of_sums, of_a_symbol_with_a_space, of_a_charsmap, of_a_prefix, of_trimming)


def compared(
    tokenizer: tokexport.Tokenizer, text: str, template: bool, unit: Literal["char", "byte"]
) -> list[offset_blocks.Block]:
    """The blocks of a text that arrives in parts, if they are equal to the whole."""
    expected = tokenizer.encode_with_offsets_to_numpy(
        text, allowed_special="all", add_special_tokens=template, unit=unit
    )
    data = text.encode()
    parts = (data[at : at + 9] for at in range(0, len(data), 9))
    found = [
        *offset_blocks.offset_blocks(
            tokenizer, parts, allowed_special="all", add_special_tokens=template, unit=unit
        )
    ]
    assert np.concatenate([block.ids for block in found]).tolist() == expected.ids.tolist()
    offsets = np.concatenate([block.offsets for block in found])
    assert offsets.tolist() == expected.offsets.tolist(), text
    assert sum(block.size for block in found) == len(data)
    return found


@pytest.mark.parametrize("made", MADE)
def test_blocks_give_the_offsets_of_the_whole(
    made: Callable[[], tokexport.Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = made()
    r = random.Random(made.__name__)
    blocks = 0
    for number in range(200):
        words = WORDS if number % 2 else [word for word in WORDS if word != "\x01"]
        text = "".join(r.choices(words, k=r.randrange(80)))
        monkeypatch.setattr(offset_blocks, "BLOCK", r.choice((10, 50)))
        blocks += len(compared(tokenizer, text, r.random() < 0.5, r.choice(("char", "byte"))))
    # No cut between "e" and a space, nor among unknown words.
    assert blocks > (250 if made in (of_a_symbol_with_a_space, of_words) else 800)


@pytest.mark.parametrize("unit", ["char", "byte"])
@pytest.mark.parametrize("start", ["", "\x01", "\x01\x01 ", "\x01\u00e9", "\x01<s>", "<s>\x01"])
def test_characters_that_are_dropped_at_the_start_move_the_offsets_of_all_blocks(
    start: str, unit: Literal["char", "byte"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_blocks, "BLOCK", 10)
    text = start + "the th\u00e9me\n \U0001f642 man\x01 " * 30
    blocks = compared(of_a_charsmap(), text, False, unit)
    assert (len(blocks) > 10) == (start != "<s>\x01")  # not where a token is before them


def test_a_text_whose_characters_may_be_left_out_is_one_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each moves the offsets of all characters after it: BPE without an unknown token."""
    some_bytes = [f"<0x{byte:02X}>" for byte in range(256) if chr(byte) not in ".\xc3"]
    vocab = {token: id for id, token in enumerate([*"thm\u0301\U0001f642\u4e2d", *some_bytes])}
    tokenizer = converted(Tokenizer(models.BPE(vocab, [], byte_fallback=True)))
    monkeypatch.setattr(offset_blocks, "BLOCK", 10)
    r = random.Random(3)
    for _ in range(200):
        text = "".join(r.choices((*WORDS, "\u4e2d", "\U0001f642" * 2, "\u0301"), k=80))
        assert len(compared(tokenizer, text, False, r.choice(("char", "byte")))) == 1
