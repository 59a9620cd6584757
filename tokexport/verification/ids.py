"""Every id decoded: its bytes, its text, and sequences of ids that no text gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokexport.verification.comparison import Comparison, chunked
from tokexport.verification.generators import Dice

EVERY_ID: Final = "ids decoded"
BYTES: Final = "bytes of ids"
UNKNOWN: Final = "ids that are refused"
SEQUENCES: Final = "id sequences decoded"
STREAMS: Final = "id sequences decoded one at a time"
REFUSED: Final = "KeyError"


def check_ids(comparison: Comparison, only: int | None = None) -> None:
    """Every id that the reference knows decodes alike; every other one up to the file's last id is
    refused.

    If the whole text is edited, the bytes of an id are those before that, and no library says
    them.
    """
    edited = "EDIT" in comparison.sections
    known = list(comparison.reference.ids())
    for group in chunked(known if only is None else [only], 4000):
        for id in group:
            expected = comparison.reference.token_bytes(id)
            if expected is not None and not edited:
                comparison.value(
                    BYTES,
                    f"id:{id}",
                    "bytes of a token",
                    expected,
                    _bytes(comparison, id),
                    ids=(id,),
                )
        comparison.decodes(EVERY_ID, [(f"id:{id}", (id,)) for id in group])
        comparison.progress(EVERY_ID, group[-1], known[-1])
    holes = (
        sorted(set(range(comparison.tokenizer.n_vocab + 2)) - set(known)) if only is None else []
    )
    for id in holes:
        comparison.value(
            UNKNOWN,
            f"id:{id}",
            "decode an id that no token has",
            REFUSED,
            _bytes(comparison, id),
            ids=(id,),
        )


def check_sequences(comparison: Comparison, count: int, only: int | None = None) -> None:
    """Random ids side by side, halves of characters among them."""
    known = comparison.reference.ids()
    indexes = range(count) if only is None else (only,)
    for group in chunked(indexes, 4000):
        cases = [
            (f"ids:{index}", tuple(_sequence(Dice(comparison.seed, "ids", index), known)))
            for index in group
        ]
        comparison.decodes(SEQUENCES, cases)
        comparison.streams(STREAMS, cases)
        comparison.progress(SEQUENCES, group[-1], count)


def _bytes(comparison: Comparison, id: int) -> bytes | str:
    try:
        return comparison.tokenizer.decode_single_token_bytes(id)
    except KeyError:
        return REFUSED


def _sequence(dice: Dice, known: Sequence[int]) -> Iterator[int]:
    """Ids from all over, or from the first 256, where many vocabularies have their single bytes."""
    for _ in range(dice.few(12)):
        yield known[dice.below(min(256, len(known)))] if dice.chance(0.3) else dice.pick(known)
