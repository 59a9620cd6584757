"""Decodes every id, and sequences of ids that no text encodes to; encodes every token."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from tokexport.sources.reference import Mode
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import Dice

EVERY_ID: Final = "ids decoded"
BYTES: Final = "bytes of ids"
UNKNOWN: Final = "ids that are refused"
SEQUENCES: Final = "id sequences decoded"
STREAMS: Final = "id sequences decoded one at a time"
REFUSED: Final = "no such id"
TOKENS: Final = "tokens encoded"
ADDED: Final = "added tokens encoded"
# Bytes that complete the part of a character that a token begins with (a continuation) or ends with
# (a lead).
# fmt: off
LEADS: Final = (
    b"\xc3", b"\xd7", b"\xe4", b"\xe4\xb8", b"\xe2\x80", b"\xed\x9e", b"\xe0\xa4", b"\xf0\x9f",
    b"\xf0\x9f\x98", b"\xf0", b"\xf3\xa0", b"\xf4\x8f\xbf",
)
TAILS: Final = (
    b"\x80", b"\xa9", b"\xbf", b"\x80\x80", b"\xa4\xa9", b"\x9f\x98\x80", b"\x90\x80\x80",
    b"\xbf\xbf",
)
# The character after a token never joins it, so that the token itself must be merged.
CONTEXTS: Final = ("{0}", " {0}", "{0}{0}", "x{0}x", "{0}\ua66e", "{0}\u00a4", "{0}\u2003x")
ADDED_CONTEXTS: Final = (
    "{0}", " {0}", "{0} ", "  {0}  ", "\n\t{0}\r\n ", "x{0}x", "é{0}中", "_{0}1", "'{0}'s",
    ".{0}.", "{0}{0}", "{0} {0}", "x {0} x", "\xa0{0}\xa0", "\u3000{0}\u2028", "\u200b{0}\u200b",
    "e\u0301{0}\u0301", "\ufeff{0}\x00", "{0}{1}", "{1}{0}", "{2}{0}", "{0}{3}", "{2}{3}",
    "<{0}>", "{0}\n\n{0}",
)
# fmt: on


def check_ids(comparison: Comparison, items: Sequence[int]) -> None:
    """Compares ids of the reference decoded one by one; as bytes only if no edit follows."""
    edited = "EDIT" in comparison.sections
    for id in () if edited else items:
        expected = comparison.reference.token_bytes(id)
        if expected is not None:
            found = _bytes(comparison, id)
            comparison.value(BYTES, f"id:{id}", "bytes of a token", (id,), expected, found)
    comparison.decodes(EVERY_ID, [(f"id:{id}", (id,)) for id in items])


def check_other_ids(comparison: Comparison) -> None:
    """Checks that ids up to the file's last that the reference does not know are refused."""
    known = {*comparison.reference.ids()}
    for id in range(comparison.tokenizer.n_vocab + 2):
        if id not in known:
            found = _bytes(comparison, id)
            action = "decode an id that no token has"
            comparison.value(UNKNOWN, f"id:{id}", action, (id,), REFUSED, found)


def check_sequences(comparison: Comparison, items: Sequence[int]) -> None:
    """Compares sequences of random ids, halves of characters among them."""
    known, seed = comparison.reference.ids(), comparison.seed
    cases = [(f"ids:{n}", tuple(_sequence(Dice(seed, "ids", n), known))) for n in items]
    comparison.decodes(SEQUENCES, cases)
    comparison.decodes(STREAMS, cases, stream=True)


def _bytes(comparison: Comparison, id: int) -> bytes | str:
    try:
        return comparison.tokenizer.decode_single_token_bytes(id)
    except KeyError:
        return REFUSED


def _sequence(dice: Dice, known: Sequence[int]) -> Iterator[int]:
    """Ids of the whole range, or of the first 256, often the vocabulary's single bytes."""
    for _ in range(dice.few(12)):
        yield known[dice.below(min(256, len(known)))] if dice.chance(0.3) else dice.pick(known)


def check_tokens(comparison: Comparison, items: Sequence[int]) -> None:
    """Compares tokens of the model; one that is not UTF-8 is encoded inside whole characters."""
    cases = (
        (f"token:{id}", context.format(text))
        for id in items
        if isinstance(content := _bytes(comparison, id), bytes)  # else it differs when decoded
        for text in whole_texts(content)
        for context in CONTEXTS
    )
    comparison.texts(TOKENS, cases, (Mode.TEXT,))


def whole_texts(content: bytes) -> list[str]:
    """The text of a token's bytes, or up to three texts that complete its partial characters.

    >>> whole_texts(b"ab"), whole_texts(b"\\xa9x")
    (['ab'], ['éx', 'שx', '丩x'])
    """
    completed = (lead + content + tail for lead in (b"", *LEADS) for tail in (b"", *TAILS))
    texts: list[str] = []
    for data in completed:
        try:
            texts.append(data.decode())
        except UnicodeDecodeError:
            continue
        if data == content or len(texts) == 3:
            break
    return texts


def check_added_tokens(comparison: Comparison, items: Collection[int]) -> None:
    """Added tokens in every mode: alone, doubled, cut, and next to characters and each other."""
    added = comparison.reference.added_tokens()
    pairs = [(token.id, token.content, added[n - 1].content) for n, token in enumerate(added)]
    cases = (
        (f"added:{id}", context.format(content, other, content[:-1], content[1:]))
        for id, content, other in pairs
        if id in items
        for context in ADDED_CONTEXTS
    )
    comparison.texts(ADDED, cases, comparison.reference.modes, decode=True)
