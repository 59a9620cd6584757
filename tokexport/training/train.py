"""Learns a byte-level BPE tokenizer from texts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, SupportsIndex, get_args

import numpy as np

from tokexport.errors import TokexportError
from tokexport.limits import MAX_IDS, MAX_TOKEN_BYTES
from tokexport.model import SpecialIds
from tokexport.model.byte_alphabet import to_bytes
from tokexport.training.counting import Text, WordCounts, checked
from tokexport.training.trained import BYTES, ROLES, Merge, Trained

# Which of several most frequent pairs is merged: the smallest pair of ids (rustbpe); the same, with
# the 256 bytes in the order of GPT-2's vocabulary (BpeTrainer of tokenizers); the
# lexicographically greatest pair of byte strings (CS336); the first one in the texts (minbpe).
TieBreak = Literal["lowest-ids", "lowest-gpt2-ids", "greatest-bytes", "first-seen"]
TIE_BREAKS: Final[tuple[TieBreak, ...]] = get_args(TieBreak)

# Ids after the learned tokens; or, in a mapping, the given ids.
SpecialTokens = Sequence[str] | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Roles:
    """The special tokens with a role: before a text, after a text, padding of a batch, and those
    that end a generation in addition to ``eos``.

    >>> roles = Roles(eos="<|e|>")
    >>> trained = train_from_iterator(["a"], 257, special_tokens=["<|e|>"], roles=roles)
    >>> trained.special_ids
    SpecialIds(bos=None, eos=256, pad=None, unk=None, stop=(256,))
    """

    bos: str | None = None
    eos: str | None = None
    pad: str | None = None
    stop: tuple[str, ...] = ()


NO_ROLES: Final = Roles()

# Called with the name of a step, its progress, and its total; 0: unknown.
Progress = Callable[[str, int, int], None]


def train_from_iterator(
    texts: Iterable[Text],
    vocab_size: int,
    *,
    pattern: str = "nanochat",
    special_tokens: SpecialTokens = (),
    split_special: bool = False,
    roles: Roles = NO_ROLES,
    tie_break: TieBreak = "lowest-ids",
    num_threads: int | None = None,
    progress: Progress = lambda step, done, end: None,
) -> Trained:
    """Learns a byte-level BPE tokenizer from texts, which are read once; memory grows only with
    their distinct words. A text too long for memory may be an iterator of its parts.

    ``vocab_size`` includes the 256 bytes and the special tokens, whose ids follow the merges, or
    are those of a mapping. ``pattern`` is a known name (``gpt2``, ``cl100k_base``, ``nanochat``,
    ...) or a regular expression. The result does not depend on ``num_threads`` (None: one per
    processor). If no pair is left before ``vocab_size`` is reached, there are fewer merges, and
    ``note`` says so. Special tokens in a text are plain text; with ``split_special`` they cut the
    text instead, and nothing is learned from them. ``roles`` names the special tokens with a role.

    Raises ``TokexportError`` for a vocabulary that is too small or too large, for texts without a
    word and for a role of anything but a special token, ``UnsupportedError`` for a pattern that is
    not supported or whose words cannot be counted, ``TextError`` for a text with a lone surrogate.

    >>> trained = train_from_iterator(["low lower lowest"], 260)
    >>> [merge.left + merge.right for merge in trained.merges]
    [b'lo', b'low', b' low', b' lowe']
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts must be several texts, not one; put it into a list")
    if num_threads is not None and num_threads < 1:
        raise TokexportError(f"num_threads is {num_threads}", "use 1 or more")
    refuse_settings(vocab_size, special_tokens, tie_break, roles)
    counts = WordCounts(pattern, tuple(special_tokens) if split_special else ())
    counts.add(
        texts,
        num_threads=num_threads,
        progress=lambda: progress("bytes counted", counts.text_bytes, 0),
    )
    return train_from_counts(
        counts,
        vocab_size,
        special_tokens=special_tokens,
        roles=roles,
        tie_break=tie_break,
        progress=progress,
    )


def train_from_counts(
    counts: WordCounts,
    vocab_size: int,
    *,
    special_tokens: SpecialTokens = (),
    roles: Roles = NO_ROLES,
    tie_break: TieBreak = "lowest-ids",
    progress: Progress = lambda step, done, end: None,
) -> Trained:
    """Learns a byte-level BPE tokenizer from word counts, like ``train_from_iterator`` from texts.

    Pairs of more than 65,535 bytes, the maximum of a file, are left out. Raises ``TokexportError``
    like ``train_from_iterator``, and for counts that were cut at other special tokens, for counts
    of an interrupted run, and for ``first-seen`` if the order of the words is unknown.

    >>> counts = WordCounts()
    >>> counts.add(["low lower lowest"])
    >>> len(train_from_counts(counts, 260).merges)
    4
    """
    wanted = refuse_settings(vocab_size, special_tokens, tie_break, roles)
    counts.refuse_incomplete("the word counts")
    if counts.special_tokens and set(counts.special_tokens) != set(special_tokens):
        raise TokexportError(
            f"the texts were cut at {', '.join(counts.special_tokens)}, so these must be the"
            " special tokens",
            "count the texts again for others",
        )
    if tie_break == "first-seen" and not counts.ordered:
        raise TokexportError(
            "which pair was seen first is not known for words counted on many machines",
            "use another tie-break",
        )
    if not counts.words:
        raise TokexportError("there is nothing to learn from: no text, or all texts are empty")
    try:
        numbers, uses, too_long = counts.native.merges(
            wanted, tie_break, MAX_TOKEN_BYTES, lambda done: progress("merges", done, wanted)
        )
    except ValueError as error:
        raise TokexportError(
            str(error), "count fewer texts, or a pattern of shorter words"
        ) from None
    tokens = [bytes((byte,)) for byte in range(BYTES)]
    merges = []
    for left_id, right_id, times in np.reshape(numbers, (-1, 3)).tolist():
        left, right = tokens[left_id], tokens[right_id]
        merges.append(Merge(left, right, times))
        tokens.append(left + right)
    _refuse_learned(special_tokens, tokens)
    ids, notes = _ids_of_special(special_tokens, len(tokens)), []
    if len(merges) < wanted:
        notes.append(
            f"the texts have pairs for {len(merges):,} merges, not for {wanted:,}: the vocabulary"
            f" has {len(tokens) + len(ids):,} tokens, not {vocab_size:,}"
        )
    if too_long:
        notes.append(
            f"{too_long:,} of the most frequent pairs are longer than {MAX_TOKEN_BYTES:,} bytes,"
            " which no token can be, and were left out"
        )
    return Trained(
        pattern=counts.pattern,
        merges=tuple(merges),
        special_tokens=ids,
        special_ids=_special_ids(roles, ids),
        words=counts.words,
        distinct_words=counts.distinct_words,
        text_bytes=counts.text_bytes,
        text_tokens=int(uses.sum()),
        note="; ".join(notes) or None,
        uses=tuple(uses.tolist()),
    )


def refuse_settings(
    vocab_size: int, special_tokens: SpecialTokens, tie_break: str, roles: Roles
) -> int:
    """The number of merges requested. Raises TokexportError for impossible settings, TypeError for
    a vocabulary size that is not an int.
    """
    if not isinstance(vocab_size, SupportsIndex):
        raise TypeError(f"vocab_size must be an int, not {type(vocab_size).__name__}")
    if tie_break not in TIE_BREAKS:
        raise TokexportError(f"tie_break {tie_break!r} is none of {', '.join(TIE_BREAKS)}")
    count = len(checked(special_tokens))
    wanted = vocab_size - BYTES - count
    if wanted < 0 or vocab_size > MAX_IDS:
        why = f"large: the limit is {MAX_IDS:,}"
        if wanted < 0:
            taken = vocab_size - wanted
            why = f"small: the 256 bytes and {count:,} special tokens take {taken:,} ids"
        raise TokexportError(f"a vocabulary of {vocab_size:,} is too {why}")
    if isinstance(special_tokens, Mapping):
        owners: dict[int, str] = {}
        for name, id in special_tokens.items():
            if not 0 <= id < vocab_size or owners.setdefault(id, name) != name:
                why = f"is that of {owners[id]!r}" if id in owners else "is out of range"
                raise TokexportError(
                    f"the id {id:,} of {name!r} {why}", f"choose a distinct id below {vocab_size:,}"
                )
    for role, names in _named(roles).items():
        for name in names:
            if name not in special_tokens:
                raise TokexportError(
                    f"{role} must be a special token, which {name!r} is not",
                    f"add it to special_tokens (--special-token {name!r})",
                )
    return wanted


def _named(roles: Roles) -> dict[str, list[str]]:
    """The tokens with each role."""
    single = {role: getattr(roles, role) for role in ROLES}
    found = {role: [name] for role, name in single.items() if name is not None}
    return {**found, "stop": [*found.get("eos", ()), *roles.stop]}


def _special_ids(roles: Roles, ids: Mapping[str, int]) -> SpecialIds:
    named = _named(roles)
    single = {role: ids[names[0]] for role, names in named.items() if role in ROLES}
    return SpecialIds(**single, stop=tuple(sorted({ids[name] for name in named["stop"]})))


def _refuse_learned(special_tokens: SpecialTokens, tokens: Sequence[bytes]) -> None:
    """Raises TokexportError if tokenizer.json spells a learned token like a special token."""
    spelled = {name: token for name in special_tokens if (token := to_bytes(name)) is not None}
    clashes = {*spelled.values()}.intersection(tokens) if spelled else ()
    for name, token in spelled.items():
        if token in clashes:
            raise TokexportError(
                f"the special token {name!r} is also the spelling of {token!r}, a byte or learned"
                " from the texts: tokenizer.json cannot hold both",
                "use a name that is not a word, such as '<|end|>'",
            )


def _ids_of_special(special_tokens: SpecialTokens, others: int) -> dict[str, int]:
    if not isinstance(special_tokens, Mapping):
        return {name: id for id, name in enumerate(special_tokens, others)}
    total = others + len(special_tokens)
    for name, id in special_tokens.items():
        if id >= total:
            raise TokexportError(
                f"the texts have pairs for {others - BYTES:,} merges only, so ids before {id:,},"
                f" that of {name!r}, would be holes",
                f"use a vocabulary of {total:,} and lower ids",
            )
    return dict(special_tokens)
