"""What verify compares, as independent tasks, and the task of a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from tokexport.errors import TokexportError
from tokexport.verification import classes, offsets, texts, tokens
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import GENERATORS, Vocabulary, plan

# One of each for this number of strings.
STRINGS_A_PAIR = 200
STRINGS_AN_OFFSET = 20  # strings whose offsets are compared
STRINGS_A_SEQUENCE = 5  # sequences of random ids
QUICK_STRINGS, QUICK_IDS, QUICK_TOKENS, QUICK_ADDED, QUICK_GROUPS = 1000, 2000, 400, 100, 256
QUICK_VOCABULARY = 10_000  # tokens that strings are made of

# A part of a verification, after the name of what it compares.
Task: TypeAlias = tuple[str, Callable[[Comparison], None]]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is compared: every ``id_step``-th id is decoded, every ``token_step``-th token and
    ``added_step``-th added one encoded, and ``group_step``-th group of code points (0: none).
    Strings are made of every ``vocabulary_step``-th token.
    """

    strings: int
    id_step: int = 1
    token_step: int = 1
    group_step: int = 1
    added_step: int = 1
    vocabulary_step: int = 1

    @classmethod
    def quick(cls, ids: int, added: int) -> Extent:
        """About a second of work, for a tokenizer with this many ids and added tokens."""
        groups = len(classes.all_groups()) // QUICK_GROUPS
        return cls(
            QUICK_STRINGS,
            id_step=1 + ids // QUICK_IDS,
            token_step=1 + ids // QUICK_TOKENS,
            group_step=groups,
            added_step=1 + added // QUICK_ADDED,
            vocabulary_step=1 + ids // QUICK_VOCABULARY,
        )


def tasks_of(
    comparison: Comparison, vocabulary: Vocabulary, extent: Extent, files: Sequence[Path]
) -> Iterator[Task]:
    """All tasks in the order of the report, whatever the number of processes."""
    reference, strings, checks = comparison.reference, extent.strings, _checks(vocabulary)

    def parts(name: str, kind: str, items: Sequence[Any], size: int) -> Iterator[Task]:
        for first in range(0, len(items), size):
            yield name, partial(checks[kind], items=items[first : first + size])

    known = reference.ids()
    yield from parts(tokens.EVERY_ID, "id", known[:: extent.id_step], 10_000)
    yield tokens.EVERY_ID, tokens.check_other_ids
    yield from parts(tokens.SEQUENCES, "ids", range(strings // STRINGS_A_SEQUENCE), 4000)
    if not comparison.encodes:
        return
    added = {token.id for token in reference.added_tokens()}
    model = [id for id in known if id not in added][:: extent.token_step]
    groups = classes.all_groups()[:: extent.group_step] if extent.group_step else []
    yield from parts(tokens.TOKENS, "token", model, 4000)
    yield from parts(tokens.ADDED, "added", sorted(added)[:: extent.added_step], 100)
    yield from parts(classes.CLASSES, "class", groups, 400)
    for name, number in plan(strings, vocabulary).items():
        yield from parts(f"strings: {name}", name, range(number), 2500)
    yield from parts(texts.PAIRS, "pair", range(strings // STRINGS_A_PAIR), 200)
    yield texts.SURROGATES, texts.check_surrogates
    yield from parts(offsets.OFFSETS, "offsets", range(strings // STRINGS_AN_OFFSET), 500)
    for path in files:
        yield texts.FILES, partial(texts.check_file, path=path)


def task_of_key(comparison: Comparison, vocabulary: Vocabulary, key: str) -> Task:
    """The task of a key such as ``token:318`` or ``file:book.txt``; otherwise TokexportError."""
    checks = _checks(vocabulary)
    kind, _, name = key.partition(":")
    if kind in ("file", "line"):  # PATH, or PATH:NUMBER; lines are compared together
        path = Path(name if kind == "file" else name.rpartition(":")[0])
        return texts.FILES, partial(texts.check_file, path=path)
    items: list[int] | list[range] = []
    with suppress(ValueError):  # not a number
        items = classes.groups_of(int(name, 16)) if kind == "class" else [int(name)]
    if not items or kind not in checks:
        raise TokexportError(
            f"only (--only) is {key!r}, which names no comparison",
            "it is KIND:NUMBER, file:PATH or line:PATH:NUMBER, and the kinds are"
            f" {', '.join(checks)}",
        )
    if kind == "id" and items[0] not in comparison.reference.ids():
        return key, tokens.check_other_ids
    return key, partial(checks[kind], items=items)


def _checks(vocabulary: Vocabulary) -> dict[str, Callable[..., None]]:
    """By kind of key, the check of the ``items`` of that kind."""
    return {
        "id": tokens.check_ids,
        "ids": tokens.check_sequences,
        "token": tokens.check_tokens,
        "added": tokens.check_added_tokens,
        "class": classes.check_classes,
        "pair": partial(texts.check_pairs, vocabulary=vocabulary),
        "offsets": partial(offsets.check_offsets, vocabulary=vocabulary),
        "surrogates": lambda comparison, items: texts.check_surrogates(comparison),
        **{
            name: partial(texts.check_string, vocabulary=vocabulary, name=name)
            for name in GENERATORS
            if vocabulary.added or name != "added-tokens"
        },
    }
