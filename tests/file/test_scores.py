"""Scores are -ln(rank + 1) for each token that a merge produces, and -1e6 for other tokens."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import tokexport_reader
from bare_models import merge_rows, tokenizer_model

from tokexport.conversion import file_bytes
from tokexport.file.layout import SCORE, Tag
from tokexport.model import BytePairModel, UnigramModel
from tokexport.runtime.tokenizer import load


def sections(content: bytes) -> dict[bytes, bytes]:
    return dict(tokexport_reader.open_file(content).sections)


def bytes_and(*merged: bytes) -> dict[bytes, int]:
    tokens = [*(bytes([byte]) for byte in range(256)), *merged]
    return {token: number for number, token in enumerate(tokens)}


def file_of(vocab: dict[bytes, int], merges: Iterable[Sequence[int]]) -> bytes:
    return file_bytes(tokenizer_model(vocab, BytePairModel(vocab, merge_rows(merges))))


def test_a_merged_token_has_the_negative_logarithm_of_its_rank() -> None:
    # One widespread exporter looks up "he" among merges like "h e", so no token has a score.
    vocab = bytes_and(b"he", b"ll", b"hell", b"hello", b"h e")
    merges = [(b"h", b"e"), (b"l", b"l"), (b"he", b"ll"), (b"hell", b"o")]
    content = file_of(vocab, [(vocab[a], vocab[b], vocab[a + b]) for a, b in merges])
    ranks = {left + right: rank for rank, (left, right) in enumerate(merges)}
    expected = [-math.log(ranks[token] + 1) if token in ranks else -1e6 for token in vocab]
    scores = np.frombuffer(sections(content)[Tag.SCORES], SCORE)
    assert scores.tolist() == np.array(expected, SCORE).tolist()


def test_ranks_are_stored_only_if_ids_have_another_order() -> None:
    vocab = bytes_and(b"bc", b"ab")
    a, b, c = b"abc"
    by_id = file_of(vocab, ((b, c, 256), (a, b, 257)))
    by_rank = file_of(vocab, ((a, b, 257), (b, c, 256)))
    assert Tag.RANKS not in sections(by_id)
    ranks = np.frombuffer(sections(by_rank)[Tag.RANKS], "<u4")
    assert ranks[256:].tolist() == [1, 0]
    assert (ranks[:256] == 0xFFFFFFFF).all()


def test_scores_that_need_64_bits_are_stored_only_in_64_bits() -> None:
    for score, tag, absent in ((-0.1, Tag.DOUBLE_SCORES, Tag.SCORES), (-0.5, Tag.SCORES, None)):
        unigram = UnigramModel({b"a": 0, b"b": 1}, (score, -1.0), 0, -11.0)
        content = file_bytes(tokenizer_model((b"a", b"b"), unigram))
        assert tag in sections(content)
        assert absent is None or absent not in sections(content)
        actual = load(content).scores
        assert actual is not None
        assert actual.tolist() == [score, -1.0]
