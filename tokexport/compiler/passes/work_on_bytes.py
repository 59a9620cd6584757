"""Bytes in place of GPT-2's alphabet: an equivalent tokenizer that does not spell bytes out.

A source that maps each byte to a character declares a step (SpellBytes), and everything after it,
the model included, sees these characters. They correspond one to one to the bytes, so BPE and the
splits before it can work on the bytes: the text is half as long, and single bytes need no lookup.
Where the two can be distinguished (by a Replace after the step, or an affix in other letters), or
the model is not BPE, the tokenizer is left unchanged.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tokexport.model import (
    BytePairModel,
    CharacterRuns,
    CharacterSymbols,
    PreTokenizerStep,
    SpellBytes,
    Split,
    TokenizerModel,
    Vocabulary,
)
from tokexport.model.byte_alphabet import BYTES_OF_TEXT, all_to_bytes, to_bytes


def work_on_bytes(model: TokenizerModel) -> TokenizerModel:
    """The equivalent tokenizer, or the same one."""
    before, after, added_edges = model.normalizer, model.pre_tokenizer, False
    if SpellBytes() in model.normalizer:
        before = model.normalizer[:-1]
        # In the normalized text, white space is a letter and the content of a token is spelled.
        added_edges = any(
            token.normalized
            and (token.single_word or token.lstrip or token.rstrip or token.verbatim)
            for token in model.added_tokens
        )
        kept: tuple[PreTokenizerStep, ...] = ()
    elif SpellBytes() in model.pre_tokenizer:
        index = model.pre_tokenizer.index(SpellBytes())
        kept, after = model.pre_tokenizer[:index], model.pre_tokenizer[index + 1 :]
    else:
        return model
    splits = _splits_of_bytes(after)
    inner = _byte_pair(model.model) if isinstance(model.model, BytePairModel) else None
    if SpellBytes() in before or added_edges or splits is None or inner is None:
        return model
    return replace(model, normalizer=before, pre_tokenizer=(*kept, *splits), model=inner)


def _splits_of_bytes(steps: Sequence[PreTokenizerStep]) -> tuple[Split, ...] | None:
    """The steps for bytes; None where one is not a split that looks at each character alone."""
    splits = [step for step in steps if isinstance(step, Split)]
    if len(splits) < len(steps) or any(isinstance(step.pattern, CharacterRuns) for step in splits):
        return None
    return tuple(replace(step, on_bytes=True) for step in splits)


def _byte_pair(model: BytePairModel) -> BytePairModel | None:
    """BPE over bytes. A byte without a token becomes the unknown token, which must not merge then;
    it does not become a token such as ``<0x0A>``.
    """
    if model.characters is None or model.merges is None:
        return None
    spelled = Vocabulary.of(model.vocab)
    strings, is_spelled = all_to_bytes(spelled.strings)
    # A string outside the alphabet never occurs in the text.
    vocab = Vocabulary(strings, spelled.ids).at(np.flatnonzero(is_spelled))
    single = vocab.at(np.flatnonzero(vocab.strings.sizes == 1)).strings
    lacks_bytes = not BYTES_OF_TEXT.issubset(single.data)
    affixes = model.characters.prefix, model.characters.suffix
    prefix, suffix = (to_bytes(affix.decode()) for affix in affixes)
    parts = model.merges[:, :2]
    unknown_merges = model.unk_id is not None and bool((parts == model.unk_id).any())
    falls_back = model.characters.byte_ids is not None
    if prefix is None or suffix is None or (lacks_bytes and (falls_back or unknown_merges)):
        return None
    characters = CharacterSymbols(prefix, suffix, of_bytes=True) if prefix or suffix else None
    known = np.zeros(1 + max(int(ids.max(initial=0)) for ids in (parts, vocab.ids)), np.bool_)
    known[vocab.ids] = True
    reachable = known[parts].all(axis=1)
    return replace(
        model,
        vocab=vocab,
        merges=model.merges[reachable],
        unknown_stops=model.unknown_stops and (characters is not None or lacks_bytes),
        characters=characters,
    )
