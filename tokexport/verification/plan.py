"""What verify compares, as independent tasks, and the task of a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from tokexport.errors import TokexportError
from tokexport.verification import classes, offsets, texts, tokens
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import GENERATORS, Vocabulary, plan

Item = TypeVar("Item")

# One of each for this number of strings.
STRINGS_A_PAIR = 200
STRINGS_AN_OFFSET = 20  # strings whose offsets are compared
STRINGS_A_SEQUENCE = 5  # sequences of random ids
QUICK_STRINGS, QUICK_IDS, QUICK_TOKENS, QUICK_ADDED, QUICK_GROUPS = 1000, 2000, 400, 100, 256


Check: TypeAlias = Callable[[Comparison], None]


class Task(NamedTuple):
    """A part of a verification, and the name of what it compares."""

    name: str
    check: Check


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is compared: every ``id_step``-th id is decoded, every ``token_step``-th token and
    ``added_step``-th added one encoded, and ``group_step``-th group of code points (0: none).
    """

    strings: int
    id_step: int = 1
    token_step: int = 1
    group_step: int = 1
    added_step: int = 1

    @classmethod
    def quick(cls, ids: int, added: int) -> Extent:
        """About a second of work, for a tokenizer with this many ids and added tokens."""
        groups = len(classes.all_groups()) // QUICK_GROUPS
        steps = (1 + ids // QUICK_IDS, 1 + ids // QUICK_TOKENS, groups, 1 + added // QUICK_ADDED)
        return cls(QUICK_STRINGS, *steps)


def tasks_of(
    comparison: Comparison, vocabulary: Vocabulary, extent: Extent, files: Sequence[Path]
) -> Iterator[Task]:
    """All tasks in the order of the report, whatever the number of processes."""
    reference, strings = comparison.reference, extent.strings
    known = reference.ids()
    for some in parts(known[:: extent.id_step], 10_000):
        yield Task(tokens.EVERY_ID, partial(tokens.check_ids, ids=some))
    yield Task(tokens.EVERY_ID, tokens.check_other_ids)
    for some in parts(range(strings // STRINGS_A_SEQUENCE), 4000):
        yield Task(tokens.SEQUENCES, partial(tokens.check_sequences, indexes=some))
    if not comparison.encodes:
        return
    added = {token.id for token in reference.added_tokens()}
    model = [id for id in known if id not in added][:: extent.token_step]
    for some in parts(model, 4000):
        yield Task(tokens.TOKENS, partial(tokens.check_tokens, ids=some))
    for some in parts(sorted(added)[:: extent.added_step], 100):
        yield Task(tokens.ADDED, partial(tokens.check_added_tokens, ids=frozenset(some)))
    every_group = classes.all_groups()[:: extent.group_step] if extent.group_step else []
    for groups in parts(every_group, 400):
        yield Task(classes.CLASSES, partial(classes.check_classes, groups=groups))
    for name, number in plan(strings, vocabulary).items():
        check = partial(texts.check_string, vocabulary=vocabulary, name=name)
        for some in parts(range(number), 2500):
            yield Task(f"strings: {name}", partial(check, indexes=some))
    for some in parts(range(strings // STRINGS_A_PAIR), 200):
        pairs = partial(texts.check_pairs, vocabulary=vocabulary, indexes=some)
        yield Task(texts.PAIRS, pairs)
    yield Task(texts.SURROGATES, texts.check_surrogates)
    for some in parts(range(strings // STRINGS_AN_OFFSET), 500):
        places = partial(offsets.check_offsets, vocabulary=vocabulary, indexes=some)
        yield Task(offsets.OFFSETS, places)
    for path in files:
        yield Task(texts.FILES, partial(texts.check_file, path=path))


def task_of_key(comparison: Comparison, vocabulary: Vocabulary, key: str) -> Task:
    """The task of a key such as ``token:318`` or ``file:book.txt``; otherwise TokexportError."""
    known = comparison.reference.ids()
    pairs = partial(texts.check_pairs, vocabulary=vocabulary)
    places = partial(offsets.check_offsets, vocabulary=vocabulary)
    made: dict[str, Callable[[int], Check]] = {
        "id": lambda n: (
            partial(tokens.check_ids, ids=[n]) if n in known else tokens.check_other_ids
        ),
        "ids": lambda n: partial(tokens.check_sequences, indexes=[n]),
        "token": lambda n: partial(tokens.check_tokens, ids=[n]),
        "added": lambda n: partial(tokens.check_added_tokens, ids=[n]),
        "class": lambda n: partial(classes.check_classes, groups=classes.groups_of(n)),
        "pair": lambda n: partial(pairs, indexes=[n]),
        "offsets": lambda n: partial(places, indexes=[n]),
        "surrogates": lambda n: texts.check_surrogates,
    }
    kind, _, name = key.partition(":")
    if kind in ("file", "line"):  # PATH, or PATH:NUMBER; lines are compared together
        path = Path(name if kind == "file" else name.rpartition(":")[0])
        return Task(texts.FILES, partial(texts.check_file, path=path))
    try:
        number = int(name, 16 if kind == "class" else 10)
        if kind in made:
            return Task(key, made[kind](number))
        if kind in GENERATORS:
            check = partial(texts.check_string, vocabulary=vocabulary, name=kind)
            return Task(key, partial(check, indexes=[number]))
    except ValueError:  # not a number
        pass
    kinds = ", ".join([*made, *GENERATORS])
    raise TokexportError(
        f"only: {key!r} names no comparison; it is KIND:NUMBER, file:PATH or line:PATH:NUMBER, and"
        f" the kinds are {kinds}"
    )


def parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """A sequence in parts of ``size``; the last may be shorter.

    >>> list(parts("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (items[first : first + size] for first in range(0, len(items), size))
