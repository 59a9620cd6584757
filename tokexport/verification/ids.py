"""Every id decoded: its bytes, its text, and sequences of ids that no text gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import Dice

EVERY_ID: Final = "ids decoded"
BYTES: Final = "bytes of ids"
UNKNOWN: Final = "ids that are refused"
SEQUENCES: Final = "id sequences decoded"
STREAMS: Final = "id sequences decoded one at a time"
REFUSED: Final = "KeyError"


def check_ids(comparison: Comparison, ids: Sequence[int]) -> None:
    """Ids that the reference knows decode alike; single bytes only where no edit follows."""
    edited = "EDIT" in comparison.sections
    for id in () if edited else ids:
        expected = comparison.reference.token_bytes(id)
        if expected is not None:
            found = _bytes(comparison, id)
            comparison.value(BYTES, f"id:{id}", "bytes of a token", (id,), expected, found)
    comparison.decodes(EVERY_ID, [(f"id:{id}", (id,)) for id in ids])


def check_other_ids(comparison: Comparison) -> None:
    """Every id up to the file's last one that the reference does not know is refused."""
    known = {*comparison.reference.ids()}
    for id in range(comparison.tokenizer.n_vocab + 2):
        if id not in known:
            found = _bytes(comparison, id)
            action = "decode an id that no token has"
            comparison.value(UNKNOWN, f"id:{id}", action, (id,), REFUSED, found)


def check_sequences(comparison: Comparison, indexes: Sequence[int]) -> None:
    """Random ids side by side, halves of characters among them."""
    known = comparison.reference.ids()
    cases = [
        (f"ids:{index}", tuple(_sequence(Dice(comparison.seed, "ids", index), known)))
        for index in indexes
    ]
    comparison.decodes(SEQUENCES, cases)
    comparison.decodes(STREAMS, cases, stream=True)


def _bytes(comparison: Comparison, id: int) -> bytes | str:
    try:
        return comparison.tokenizer.decode_single_token_bytes(id)
    except KeyError:
        return REFUSED


def _sequence(dice: Dice, known: Sequence[int]) -> Iterator[int]:
    """Ids from all over, or from the first 256, where many vocabularies have their single bytes."""
    for _ in range(dice.few(12)):
        yield known[dice.below(min(256, len(known)))] if dice.chance(0.3) else dice.pick(known)
