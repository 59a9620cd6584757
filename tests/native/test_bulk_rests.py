"""Where user-defined pieces are found in normalized text, and a space is put before each text, a
long text is cut outside these pieces: by threads and as a stream it has the ids of the whole.
"""

import random

from bulk_cores import NEVER, ids
from random_piece_models import MARK
from sentencepiece_training import library_of, model_of, small

from tokexport._core import Core
from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import load
from tokexport.sources.sentencepiece.proto import NormalizerSpec, Piece, PieceType

PIECES = [
    *(Piece(letter, -9.0) for letter in f"ab<x>é{MARK}"),
    *(Piece(text, -float(rank)) for rank, text in enumerate((f"{MARK}a", "ab", f"{MARK}ab"))),
    *(
        Piece(text, 0.0, PieceType.USER_DEFINED)
        for text in ("<x>", f"b{MARK}<", f"é{MARK * 2}", f"{MARK}<a")
    ),
]
SOURCE = small(*PIECES, normalizer=NormalizerSpec(remove_extra_whitespaces=False))
WORDS = (
    *("a", "ab", " a", " ab", "<x>", "<", "x>", "b <", "é", "  ", " ", MARK, "b", "é" + MARK),
    MARK + "<a",
)


def test_threads_and_streams_have_the_ids_of_the_library() -> None:
    text = "".join(random.Random(5).choices(WORDS, k=500_000))
    content = file_bytes(model_of(SOURCE))
    expected = ids(Core(content, "core", NEVER), text)
    assert expected[:100_000] == library_of(SOURCE).encode(text)[:100_000]
    tokenizer = load(content)
    assert tokenizer.encode_batch([text], num_threads=2) == [expected]
    for size in (5000, 300_000):
        parts = (text[at : at + size] for at in range(0, len(text), size))
        found = [ids.tolist() for ids in tokenizer.encode_stream(parts)]
        assert [id for ids in found for id in ids] == expected
        assert len([*filter(None, found)]) > 2  # it was cut
