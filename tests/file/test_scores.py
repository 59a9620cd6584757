"""Scores are -ln(rank + 1) for each token that a merge produces, and -1e6 for other tokens."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import tokexport_reader
from bare_models import merge_rows, tokenizer_model

from tokexport.conversion import Options, file_bytes
from tokexport.file.layout import SCORE, Tag
from tokexport.model import BytePairModel, TokenizerModel, UnigramModel
from tokexport.runtime.tokenizer import load


def sections(content: bytes) -> dict[bytes, bytes]:
    return dict(tokexport_reader.open_file(content).sections)


def scores(content: bytes) -> list[float]:
    return [float(score) for score in np.frombuffer(sections(content)[Tag.SCORES], SCORE)]


def bytes_and(*merged: bytes) -> dict[bytes, int]:
    return {
        content: index
        for index, content in enumerate([*(bytes([byte]) for byte in range(256)), *merged])
    }


def model(vocab: dict[bytes, int], merges: Iterable[Sequence[int]] | None) -> TokenizerModel:
    rows = None if merges is None else merge_rows(merges)
    contents = sorted(vocab, key=vocab.__getitem__)
    return tokenizer_model(contents, BytePairModel(vocab, rows))


def exported_by_small_runtimes(
    vocab: dict[bytes, int], merges: list[tuple[bytes, bytes]]
) -> list[float]:
    """The scores that exporters for small C and Rust runtimes intend: by the rank of the merge that
    produces the token, or else the default.
    """
    ranks = {left + right: rank for rank, (left, right) in enumerate(merges)}
    expected = [-math.log(ranks[content] + 1) if content in ranks else -1e6 for content in vocab]
    return [float(score) for score in np.array(expected, np.float32)]


def test_a_merged_token_has_the_negative_logarithm_of_its_rank() -> None:
    vocab = bytes_and(b"he", b"ll", b"hell", b"hello")
    merges = [(b"h", b"e"), (b"l", b"l"), (b"he", b"ll"), (b"hell", b"o")]
    triples = tuple((vocab[left], vocab[right], vocab[left + right]) for left, right in merges)
    actual = scores(file_bytes(model(vocab, triples)))
    assert actual == exported_by_small_runtimes(vocab, merges)
    assert actual[vocab[b"he"]] == 0.0
    assert actual[vocab[b"hello"]] == np.float32(-math.log(4))


def test_a_merge_is_found_by_its_merged_token_not_by_its_text_with_a_space() -> None:
    # One widespread exporter stores its merges as "h e" but looks up "he", so no token has a score.
    vocab = bytes_and(b"he", b"h e")
    actual = scores(file_bytes(model(vocab, ((ord("h"), ord("e"), vocab[b"he"]),))))
    assert actual[vocab[b"he"]] != -1e6
    assert actual[vocab[b"h e"]] == -1e6


def test_a_token_without_a_merge_has_the_default_score() -> None:
    vocab = bytes_and(b"ab")
    actual = scores(file_bytes(model(vocab, ((ord("a"), ord("b"), 256),))))
    assert actual[:256] == [-1e6] * 256


def test_the_rank_of_a_rank_file_is_the_id() -> None:
    vocab = bytes_and(b"ab", b"abc")
    actual = scores(file_bytes(model(vocab, None)))
    assert actual[256:] == np.array([-math.log(257), -math.log(258)]).astype(np.float32).tolist()


def test_ranks_are_stored_only_if_ids_have_another_order() -> None:
    vocab = bytes_and(b"bc", b"ab")
    a, b, c = b"abc"
    by_id = file_bytes(model(vocab, ((b, c, 256), (a, b, 257))))
    by_rank = file_bytes(model(vocab, ((a, b, 257), (b, c, 256))))
    assert Tag.RANKS not in sections(by_id)
    ranks = np.frombuffer(sections(by_rank)[Tag.RANKS], "<u4")
    assert ranks[256:].tolist() == [1, 0]
    assert (ranks[:256] == 0xFFFFFFFF).all()


def test_scores_can_be_left_out() -> None:
    content = file_bytes(model(bytes_and(b"ab"), None), Options(scores=False))
    assert Tag.SCORES not in sections(content)


def test_scores_that_need_64_bits_are_stored_only_in_64_bits() -> None:
    for score, tag, absent in ((-0.1, Tag.DOUBLE_SCORES, Tag.SCORES), (-0.5, Tag.SCORES, None)):
        unigram = UnigramModel({b"a": 0, b"b": 1}, (score, -1.0), 0, -11.0)
        content = file_bytes(tokenizer_model((b"a", b"b"), unigram))
        assert tag in sections(content)
        assert absent is None or absent not in sections(content)
        actual = load(content).scores
        assert actual is not None
        assert actual.tolist() == [score, -1.0]
