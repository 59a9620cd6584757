"""Spaces stay spaces: an equivalent tokenizer in which U+2581 and the space are swapped.

Where a step replaces every U+0020 by U+2581, let s be the exchange of the two characters in a text.
Apply s twice after that step, which changes nothing. The step followed by one s is the replacement
of U+2581 by U+0020; the other s is moved into all later steps and the vocabulary. So English text
stays ASCII and needs no copy, and most keys equal what their tokens decode to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from tokexport.compiler.passes.dead_splits import LITERAL
from tokexport.model import (
    Append,
    BytePairModel,
    CharacterMap,
    CharacterTest,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    Split,
    TokenizerModel,
    Tokens,
    UnigramModel,
    Vocabulary,
)

SPACE: Final = " "
MARK: Final = "\u2581"
_EXCHANGE: Final = str.maketrans(SPACE + MARK, MARK + SPACE)
# They look at each character alone, and neither match nor produce the two.
_BLIND_MAPS: Final = frozenset((CharacterMap.LOWERCASE, CharacterMap.STRIP_ACCENTS))
_BLIND_TESTS: Final = frozenset((CharacterTest.NUMERIC, CharacterTest.PUNCTUATION))

_Step = TypeVar("_Step", bound=NormalizerStep | PreTokenizerStep)


def swap_space_marker(model: TokenizerModel) -> TokenizerModel:
    """The equivalent tokenizer, or the same one where it has no such step, or where a later step
    distinguishes the two other than by a literal text. Verbatim added tokens get the exchanged
    content, as the text in which they are matched is exchanged.

    >>> exchanged("\u2581the"), exchanged("a b")
    (' the', 'a\u2581b')
    """
    inner, trimming = _exchanged_model(model), model.offset_trimming
    if inner is None or (trimming is not None and trimming.passes):
        return model  # trimming asks whether an added token stands for spaces
    normalizer, added = _turned_steps(model.normalizer), model.added_tokens
    if normalizer is not None:
        added = tuple(
            replace(token, content=exchanged(token.content)) if token.verbatim else token
            for token in added
        )
        # White space beside an added token is matched in the normalized text.
        strips = any(token.normalized and (token.lstrip or token.rstrip) for token in added)
        splits = None if strips else _exchanged_steps(model.pre_tokenizer)
    else:
        normalizer, splits = model.normalizer, _turned_steps(model.pre_tokenizer)
    if splits is None:
        return model
    model = replace(model, model=inner, added_tokens=added)
    return replace(model, normalizer=normalizer, pre_tokenizer=splits)


def exchanged(text: str) -> str:
    return text.translate(_EXCHANGE)


def _turned_steps(steps: Sequence[_Step]) -> tuple[_Step, ...] | None:
    """The steps with the replacement reversed and the later steps exchanged, if possible."""
    for position, step in enumerate(steps):
        if (
            isinstance(step, Replace)
            and step.literal
            and (step.pattern, step.content) == (SPACE, MARK)
        ):
            after = _exchanged_steps(steps[position + 1 :])
            if after is None:
                return None
            turned = replace(step, pattern=MARK, content=SPACE)
            return (*_without_marks(steps[:position]), turned, *after)
    return None


def _without_marks(steps: Sequence[_Step]) -> tuple[_Step, ...]:
    """The steps before the replacement. A mark that the last one adds becomes a space here."""
    last = steps[-1] if steps else None
    if isinstance(last, Prepend | Append) and not getattr(last, "unless_present", False):
        return (*steps[:-1], replace(last, content=last.content.replace(MARK, SPACE)))
    return tuple(steps)


def _exchanged_steps(steps: Sequence[_Step]) -> tuple[_Step, ...] | None:
    found = [_exchanged_step(step) for step in steps]
    return None if None in found else tuple(step for step in found if step is not None)


def _exchanged_step(step: _Step) -> _Step | None:
    if isinstance(step, Replace) and step.literal:
        return replace(step, pattern=exchanged(step.pattern), content=exchanged(step.content))
    if isinstance(step, Prepend | Append):
        return replace(step, content=exchanged(step.content))
    if isinstance(step, Split) and not step.on_bytes:
        if not isinstance(step.pattern, str):
            return step if step.pattern in _BLIND_TESTS else None
        is_literal = LITERAL.fullmatch(step.pattern)
        return replace(step, pattern=exchanged(step.pattern)) if is_literal else None
    return step if step in _BLIND_MAPS else None


def _exchanged_model(model: TokenizerModel) -> BytePairModel | UnigramModel | None:
    inner = model.model
    if isinstance(inner, BytePairModel):
        characters = inner.characters
        if characters is None or characters.of_bytes or characters.prefix or characters.suffix:
            return None
        byte_ids = characters.byte_ids
    elif isinstance(inner, UnigramModel):
        byte_ids = inner.byte_ids
    else:
        return None
    if byte_ids is not None and MARK.encode() not in inner.vocab:
        return None  # the bytes of the mark are not those of a space
    if (
        isinstance(inner, BytePairModel)
        and inner.unk_id is None
        and (byte_ids is None or None in byte_ids)
    ):
        # Spans after a dropped character are off by its bytes: the mark has three.
        return None
    vocab = _exchanged_vocab(inner.vocab)
    # Usually tokens decode to exactly these keys, which are then shared.
    contents = Tokens.of(model.tokens).contents
    if vocab.strings.data == contents.data and np.array_equal(vocab.strings.ends, contents.ends):
        vocab = Vocabulary(contents, vocab.ids)
    return replace(inner, vocab=vocab)


def _exchanged_vocab(vocab: Mapping[bytes, int]) -> Vocabulary:
    """The vocabulary with the two exchanged in all keys, via a byte that never occurs in UTF-8."""

    def change(keys: bytes) -> bytes:
        space, mark, other = SPACE.encode(), MARK.encode(), b"\xfe"
        return keys.replace(space, other).replace(mark, space).replace(other, mark)

    known = Vocabulary.of(vocab)
    return Vocabulary(known.strings.changed(change), known.ids)
