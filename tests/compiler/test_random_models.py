"""A random Unigram, WordPiece or WordLevel model produces the ids of the reference, and fails if
the reference fails.
"""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import tokexport_reader
from compared import ids_or_none
from random_models import tokenizer_json
from reader_samples import read_document, reference
from repository import SLOW

from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import load

SEEDS_PER_TEST = 50
SEEDS = range(2_000 if SLOW else 200)


@pytest.mark.parametrize("first", SEEDS[::SEEDS_PER_TEST])
def test_the_ids_equal_those_of_the_reference(first: int, tmp_path: Path) -> None:
    compared: Counter[str] = Counter()
    for seed in range(first, first + SEEDS_PER_TEST):
        source, texts = tokenizer_json(seed)
        library, content = reference(source), file_bytes(read_document(source, tmp_path))
        tokenizer, file = load(content), tokexport_reader.open_file(content)
        for number, text in enumerate(texts):
            ids = ids_or_none(library.encode, text)
            assert ids_or_none(tokenizer.encode, text) == ids, (seed, text)
            compared["stopped" if ids is None else "same"] += 1
            if number < 5:
                specified = ids_or_none(partial(tokexport_reader.encode, file), text.encode())
                assert specified == ids, (seed, text)
    assert compared["same"] > 100 * SEEDS_PER_TEST
    assert compared["stopped"] > 0
