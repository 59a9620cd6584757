"""Learns a byte-level BPE tokenizer from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, get_args

import numpy as np

from tokexport.errors import TokexportError
from tokexport.limits import MAX_IDS
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.sources.tiktoken.ranks import regular_expression
from tokexport.training.counting import Text, count, word_counter
from tokexport.training.trained import BYTES, Merge, Trained

# Which of several most frequent pairs is merged: the least pair of ids (rustbpe); the same, where
# the 256 bytes have the order of GPT-2's vocabulary (BpeTrainer of tokenizers); the
# lexicographically greatest pair of byte strings (CS336); the first one in the texts (minbpe).
TieBreak = Literal["lowest-ids", "lowest-gpt2-ids", "greatest-bytes", "first-seen"]
TIE_BREAKS: Final[tuple[TieBreak, ...]] = get_args(TieBreak)

# Called with the name of a step, how far it has come, and the end of it; 0: not known.
Progress = Callable[[str, int, int], None]


def train_from_iterator(
    texts: Iterable[Text],
    vocab_size: int,
    *,
    pattern: str = "nanochat",
    special_tokens: Sequence[str] = (),
    tie_break: TieBreak = "lowest-ids",
    num_threads: int | None = None,
    progress: Progress = lambda step, done, end: None,
) -> Trained:
    """Learn a byte-level BPE tokenizer from texts, which are read once; memory grows with their
    distinct words alone. A text that is too long to be held may be an iterator of its parts.

    ``vocab_size`` counts the 256 bytes and the special tokens, whose ids come after the merges.
    ``pattern`` is a known name (``gpt2``, ``cl100k_base``, ``nanochat``, ...) or a regular
    expression. The result does not depend on ``num_threads`` (None: one a processor). Where no pair
    is left before ``vocab_size`` is reached, there are fewer merges, and ``note`` says so. Special
    tokens in a text are plain text.

    Raises ``TokexportError`` for a vocabulary that is too small or too large and for texts without
    a word, ``UnsupportedError`` for a pattern that is no known name or whose words cannot be
    counted, ``TextError`` for a text with a lone surrogate.

    >>> trained = train_from_iterator(["low lower lowest"], 260)
    >>> [merge.left + merge.right for merge in trained.merges]
    [b'lo', b'low', b' low', b' lowe']
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts must be several texts, not one; put it into a list")
    if tie_break not in TIE_BREAKS:
        raise TokexportError(f"tie_break {tie_break!r} is none of {', '.join(TIE_BREAKS)}")
    if len(set(special_tokens)) < len(special_tokens) or "" in special_tokens:
        raise TokexportError("special tokens must differ, and none may be empty")
    if num_threads is not None and num_threads < 1:
        raise TokexportError(f"num_threads is {num_threads}; use 1 or more")
    wanted = vocab_size - BYTES - len(special_tokens)
    if wanted < 0 or vocab_size > MAX_IDS:
        raise TokexportError(
            f"a vocabulary of {vocab_size:,} is too {'small' if wanted < 0 else 'large'}: the 256"
            f" bytes and {len(special_tokens):,} special tokens take {vocab_size - wanted:,} ids,"
            f" and {MAX_IDS:,} are the most"
        )
    expression = KNOWN[pattern].pattern if pattern in KNOWN else regular_expression(pattern)
    counter = word_counter(expression)
    for done in count(counter, texts, num_threads):
        progress("bytes counted", done, 0)
    if not counter.word_count():
        raise TokexportError("there is nothing to learn from: no text, or all texts are empty")
    numbers, text_tokens = counter.merges(
        wanted, tie_break, lambda done: progress("merges", done, wanted)
    )
    tokens = [bytes((byte,)) for byte in range(BYTES)]
    merges = []
    for left, right, times in np.reshape(numbers, (-1, 3)).tolist():
        merges.append(Merge(tokens[left], tokens[right], times))
        tokens.append(tokens[left] + tokens[right])
    note = None
    if len(merges) < wanted:
        note = (
            f"the texts have pairs for {len(merges):,} merges, not for {wanted:,}: the vocabulary"
            f" has {len(tokens) + len(special_tokens):,} tokens, not {vocab_size:,}"
        )
    return Trained(
        pattern=expression,
        merges=tuple(merges),
        special_tokens={name: id for id, name in enumerate(special_tokens, len(tokens))},
        words=counter.word_count(),
        distinct_words=counter.distinct_count(),
        text_bytes=counter.byte_count(),
        text_tokens=text_tokens,
        note=note,
    )
