"""Lists of ids consist of ints that all tokenizers share and that are never freed."""

import gc

import tokenizers
from references import converted
from runtime_samples import content, tokenizer
from tokenizers import models, pre_tokenizers

from tokexport.runtime.tokenizer import load

TEXT = "the light house 12345 渡船 🙂 " * 40


def test_the_ints_are_shared_by_tokenizers() -> None:
    first, second = load(content("ranks")), load(content("ranks"))
    ids = first.encode(TEXT)
    assert max(ids) > 256  # CPython shares smaller ints itself
    assert all(a is b for a, b in zip(ids, second.encode(TEXT), strict=True))


def test_ints_outlive_their_lists_and_their_tokenizer() -> None:
    subject = load(content("ranks"))
    ids = subject.encode(TEXT)
    expected, first = [int(str(number)) for number in ids], ids[0]
    for _ in range(1000):
        subject.encode(TEXT)  # each list gives back a reference to each of its ints
    del subject
    gc.collect()
    assert ids == expected
    del ids
    gc.collect()
    assert first == expected[0]
    assert tokenizer("ranks").encode(TEXT) == expected


def test_ids_that_are_too_large_to_be_shared_are_ints_of_their_own() -> None:
    largest = (1 << 20) + 1
    reference = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1, "z": largest}, "a"))
    reference.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ids = converted(reference).encode("z b a z")
    assert ids == reference.encode("z b a z").ids == [largest, 1, 0, largest]
    assert ids[0] is not ids[3]
