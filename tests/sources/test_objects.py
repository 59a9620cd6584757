"""A tokenizer object has the ids and the text of the object itself, not of the file it saves."""

import random
from typing import Any

import numpy as np
import pytest
import tokenizers
from references import converted, reference_for
from tokenizers.models import Unigram

from tokexport.errors import UnsupportedError
from tokexport.sources import read
from tokexport.sources.reference import Mode
from tokexport.sources.serde_number import serde_number

PIECES = ("▁", "a", "aa", "aaa", "b", "bb", "c", "cc", "ab", "▁a", "▁c")


def unigram(dice: random.Random) -> tokenizers.Tokenizer:
    """A tokenizer whose scores are 32-bit floats, or any doubles: `tokenizers` reads about a
    quarter of them from a file as their neighbours.
    """
    width: Any = dice.choice((np.float32, np.float64))
    scores = [float(width(-dice.uniform(2, 14))) for _ in PIECES]
    return tokenizers.Tokenizer(Unigram([("<unk>", 0.0), *zip(PIECES, scores, strict=True)], 0))


def ties(dice: random.Random) -> list[str]:
    """Texts with repeated tokens, whose paths have equal scores except for rounding."""
    return [
        "".join(dice.choice(PIECES) * dice.randrange(1, 4) for _ in range(6)) for _ in range(30)
    ]


def test_a_unigram_object_has_its_own_ids_where_scores_nearly_tie() -> None:
    dice, compared, not_of_the_file = random.Random(1), 0, 0
    for _ in range(120):
        theirs, texts = unigram(dice), ties(dice)
        saved = tokenizers.Tokenizer.from_str(theirs.to_str())
        file, reference = converted(theirs), reference_for(theirs)
        wanted = [encoding.ids for encoding in theirs.encode_batch(texts)]
        assert file.encode_batch(texts) == wanted == reference.encode_batch(texts, Mode.IDS)
        compared += len(texts)
        not_of_the_file += sum(saved.encode(x).ids != y for x, y in zip(texts, wanted, strict=True))
    assert compared == 3600
    assert not_of_the_file > 10


def test_the_scores_of_an_object_are_its_own_doubles() -> None:
    dice = random.Random(2)
    scores = [dice.uniform(-20, 0) for _ in range(500)]
    scores += [float(np.float32(score)) for score in scores]
    scores += [dice.uniform(-1, 1) * 10.0 ** dice.randrange(-320, 300) for _ in range(500)]
    theirs = tokenizers.Tokenizer(Unigram([(str(n), score) for n, score in enumerate(scores)], 0))
    assert [*read(theirs).model.scores] == scores  # type: ignore[union-attr]
    assert sum(serde_number(repr(score)) != score for score in scores) > 100


def test_the_reference_leaves_the_settings_of_an_object_as_they_are() -> None:
    theirs = unigram(random.Random(4))
    theirs.enable_truncation(3, stride=1, strategy="only_first", direction="left")
    theirs.enable_padding(length=4, pad_id=1, pad_token="x", direction="left")
    theirs.encode_special_tokens = True
    before = theirs.truncation, theirs.padding
    reference = reference_for(theirs)
    assert len(reference.encode("abcabcabc", special=True)) > 4
    assert len(reference.encode("", special=False)) == 0
    assert (theirs.truncation, theirs.padding) == before
    assert theirs.encode_special_tokens


def test_sampling_is_refused() -> None:
    theirs = unigram(random.Random(6))
    theirs.model.alpha = 0.5
    with pytest.raises(UnsupportedError, match="sampling is not supported"):
        read(theirs)
