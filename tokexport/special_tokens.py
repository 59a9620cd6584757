"""What the model of a tokenizer holds and the runtime returns, which does not import the model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in the text before the model runs."""

    # The id that the reference emits, not always the one that the source declares.
    id: int
    # Matched in the text or, if `normalized`, normalized and matched after the normalizer.
    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    # With `normalized`: matched without being normalized (SentencePiece's user-defined pieces).
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class SpecialIds:
    """Ids with a role."""

    bos: int | None = None
    eos: int | None = None
    pad: int | None = None
    unk: int | None = None
    # Every id that ends generation, sorted.
    stop: tuple[int, ...] = ()
