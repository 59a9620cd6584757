r"""Back-references: ``([!?.])\1*`` is ``!!*|\?\?*|\.\.*``, one alternative for each text that the group may hold.

That is no regular language in general, and none where the group's texts are too many to be listed. It is one where they are few, as in
Galactica's tokenizer, and the order in which a backtracking matcher tries them is the order of the alternatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from tokexport.compiler.regex.syntax import (
    Atomic,
    Characters,
    Choice,
    Group,
    Look,
    Node,
    PatternError,
    Reference,
    Repeat,
    Sequence,
    members_of,
)

MAX_TEXTS = (
    200  # each becomes an alternative, and most a class of characters of its own, of which a table has at most 254
)


def expanded(node: Node) -> Node:
    """The same tree without Group and Reference nodes.

    Raises PatternError where a reference does not stand behind its group in the same sequence, or where the group may hold too many texts.

    >>> from tokexport.compiler.regex.oniguruma import parse
    >>> choice = expanded(parse(r"([ab])c\\1")).parts[0]
    >>> [len(option.parts) for option in choice.options]  # aca, bcb
    [3, 3]
    """
    match node:
        case Group(_, body):
            return expanded(body)
        case Reference(_, _, offset):
            raise _refused(offset, "one behind its group, in the same part of the pattern, is")
        case Sequence(parts):
            return Sequence(tuple(_expanded_parts(parts)))
        case Choice(options):
            return Choice(tuple(expanded(option) for option in options))
        case Repeat(body):
            return replace(node, body=expanded(body))
        case Atomic(body, offset):
            return Atomic(expanded(body), offset)
        case Look(body, ahead, negative, offset):
            return Look(expanded(body), ahead, negative, offset)
        case _:
            return node


def _expanded_parts(parts: tuple[Node, ...]) -> list[Node]:
    for number, part in enumerate(parts):
        rest = parts[number + 1 :]
        if isinstance(part, Group) and (offset := _first_reference(rest, part.number)) is not None:
            texts = [_literal(text) for text in dict.fromkeys(_texts(part.body, offset))]
            options = (Sequence((text, *(_filled(other, part.number, text) for other in rest))) for text in texts)
            return [*map(expanded, parts[:number]), Choice(tuple(map(expanded, options)))]
    return [expanded(part) for part in parts]


def _texts(node: Node, offset: int) -> Iterator[tuple[int, ...]]:
    """All texts that a node may match, in the order in which they are tried; PatternError for too many, or an unknown number."""
    found = itertools.islice(_all_texts(node, offset), MAX_TEXTS + 1)
    for number, text in enumerate(found):
        if number == MAX_TEXTS:
            raise _refused(offset, f"one to a group that can hold at most {MAX_TEXTS} different texts is")
        yield text


def _all_texts(node: Node, offset: int) -> Iterator[tuple[int, ...]]:
    match node:
        case Characters(members):
            for code_point in np.flatnonzero(members):
                yield (int(code_point),)
        case Group(_, body):
            yield from _all_texts(body, offset)
        case Sequence(parts):
            yield from _products(parts, offset)
        case Choice(options):
            for option in options:
                yield from _all_texts(option, offset)
        case Repeat(body, low, high, greedy) if high is not None:
            counts = range(low, high + 1)
            for count in reversed(counts) if greedy else counts:
                yield from _products((body,) * count, offset)
        case _:
            raise _refused(offset, "one to a group of characters, alternatives and counted repeats is")


def _products(parts: tuple[Node, ...], offset: int) -> Iterator[tuple[int, ...]]:
    if not parts:
        yield ()
        return
    for head in _all_texts(parts[0], offset):
        for tail in _products(parts[1:], offset):
            yield head + tail


def _first_reference(nodes: Iterable[Node], number: int) -> int | None:
    """The offset of a reference to the group of a number, or None."""
    for node in nodes:
        match node:
            case Reference(other, _, offset) if other == number:
                return offset
            case Sequence(inner) | Choice(inner):
                found = _first_reference(inner, number)
            case Repeat(body) | Atomic(body) | Group(_, body) | Look(body):
                found = _first_reference((body,), number)
            case _:
                found = None
        if found is not None:
            return found
    return None


def _filled(node: Node, number: int, text: Sequence) -> Node:
    """The same tree with a text in place of references to the group of a number."""
    match node:
        case Reference(other) if other == number:
            return text
        case Sequence(parts):
            return Sequence(tuple(_filled(part, number, text) for part in parts))
        case Choice(options):
            return Choice(tuple(_filled(option, number, text) for option in options))
        case Repeat(body):
            return replace(node, body=_filled(body, number, text))
        case Atomic(body, offset):
            return Atomic(_filled(body, number, text), offset)
        case Group(other, body):
            return Group(other, _filled(body, number, text))
        case Look(body, ahead, negative, offset):
            return Look(_filled(body, number, text), ahead, negative, offset)
        case _:
            return node


def _literal(text: tuple[int, ...]) -> Sequence:
    return Sequence(tuple(Characters(members_of((code_point, code_point))) for code_point in text))


def _refused(offset: int, supported: str) -> PatternError:
    return PatternError(offset, "a reference to a group", supported)
