"""What verify compares, as tasks that do not depend on each other; and the one task that a key
names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from tokexport.errors import TokexportError
from tokexport.verification.classes import CLASSES, all_groups, check_classes, groups_of
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import GENERATORS, Vocabulary, plan
from tokexport.verification.ids import (
    EVERY_ID,
    SEQUENCES,
    check_ids,
    check_other_ids,
    check_sequences,
)
from tokexport.verification.offsets import OFFSETS, check_offsets
from tokexport.verification.texts import (
    FILES,
    PAIRS,
    SURROGATES,
    check_file,
    check_pairs,
    check_string,
    check_surrogates,
)
from tokexport.verification.tokens import ADDED, TOKENS, check_added_tokens, check_tokens

Item = TypeVar("Item")

# One of each for so many strings.
STRINGS_A_PAIR = 200
STRINGS_AN_OFFSET = 20  # strings of which offsets are compared
STRINGS_A_SEQUENCE = 5  # sequences of random ids
QUICK_STRINGS, QUICK_IDS, QUICK_TOKENS, QUICK_GROUPS = 1000, 2000, 400, 256


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a verification. ``run`` compares; it returns a note for the person, or None."""

    check: str
    run: Callable[[Comparison], str | None]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is compared. Every ``id_step``-th id is decoded, every ``token_step``-th token
    encoded, every ``group_step``-th group of code points; none of these where it is 0.
    """

    strings: int
    id_step: int = 1
    token_step: int = 1
    group_step: int = 1

    @classmethod
    def quick(cls, ids: int) -> Extent:
        """What takes about a second, for a tokenizer of so many ids."""
        groups = len(all_groups()) // QUICK_GROUPS
        return cls(QUICK_STRINGS, 1 + ids // QUICK_IDS, 1 + ids // QUICK_TOKENS, groups)


def tasks_of(
    comparison: Comparison, vocabulary: Vocabulary, extent: Extent, texts: Sequence[Path]
) -> Iterator[Task]:
    """All that is compared, in the order of the report. The parts are the same for any number of
    processes.
    """
    reference, strings = comparison.reference, extent.strings
    known = reference.ids()
    for ids in parts(known[:: extent.id_step], 10_000):
        yield Task(EVERY_ID, partial(check_ids, ids=ids))
    yield Task(EVERY_ID, check_other_ids)
    for indexes in parts(range(strings // STRINGS_A_SEQUENCE), 4000):
        yield Task(SEQUENCES, partial(check_sequences, indexes=indexes))
    if not comparison.encodes:
        return
    added = {token.id for token in reference.added_tokens()}
    tokens = [id for id in known if id not in added][:: extent.token_step]
    for ids in parts(tokens, 4000):
        yield Task(TOKENS, partial(check_tokens, ids=ids))
    for ids in parts(sorted(added), 100):
        yield Task(ADDED, partial(check_added_tokens, ids=frozenset(ids)))
    groups = all_groups()[:: extent.group_step] if extent.group_step else []
    for some in parts(groups, 400):
        yield Task(CLASSES, partial(check_classes, groups=some))
    for name, number in plan(strings, vocabulary).items():
        for indexes in parts(range(number), 2500):
            check = partial(check_string, vocabulary=vocabulary, name=name, indexes=indexes)
            yield Task(f"strings: {name}", check)
    for indexes in parts(range(strings // STRINGS_A_PAIR), 200):
        yield Task(PAIRS, partial(check_pairs, vocabulary=vocabulary, indexes=indexes))
    yield Task(SURROGATES, check_surrogates)
    for indexes in parts(range(strings // STRINGS_AN_OFFSET), 500):
        yield Task(OFFSETS, partial(check_offsets, vocabulary=vocabulary, indexes=indexes))
    for path in texts:
        yield Task(FILES, partial(check_file, path=path))


def task_of_key(comparison: Comparison, vocabulary: Vocabulary, key: str) -> Task:
    """The task that ``key`` names: ``token:318``, ``white-space:731``, ``class:17F``,
    ``file:book.txt``, ...

    Raises TokexportError for a key that names nothing.
    """
    known = comparison.reference.ids()
    made: dict[str, Callable[[int], Callable[[Comparison], str | None]]] = {
        "id": lambda n: partial(check_ids, ids=[n]) if n in known else check_other_ids,
        "ids": lambda n: partial(check_sequences, indexes=[n]),
        "token": lambda n: partial(check_tokens, ids=[n]),
        "added": lambda n: partial(check_added_tokens, ids=frozenset([n])),
        "class": lambda n: partial(check_classes, groups=groups_of(n)),
        "pair": lambda n: partial(check_pairs, vocabulary=vocabulary, indexes=[n]),
        "offsets": lambda n: partial(check_offsets, vocabulary=vocabulary, indexes=[n]),
        "surrogates": lambda n: check_surrogates,
    }
    kind, _, name = key.partition(":")
    if kind == "file":
        return Task(FILES, partial(check_file, path=Path(name)))
    if kind == "line":  # PATH:NUMBER; the lines of a file are compared together
        return Task(FILES, partial(check_file, path=Path(name.rpartition(":")[0])))
    if kind not in made and kind not in GENERATORS:
        kinds = ", ".join([*made, "file", "line", *GENERATORS])
        problem = f"it is KIND:NAME, and the kinds are {kinds}"
        raise TokexportError(f"only: {key!r} names no comparison; {problem}")
    try:
        number = int(name, 16 if kind == "class" else 10)
    except ValueError:
        problem = "a number must follow the colon"
        raise TokexportError(f"only: {key!r} names no comparison; {problem}") from None
    if kind in made:
        return Task(key, made[kind](number))
    return Task(key, partial(check_string, vocabulary=vocabulary, name=kind, indexes=[number]))


def parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """A sequence in parts of ``size``, the last one shorter.

    >>> list(parts("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (items[first : first + size] for first in range(0, len(items), size))
