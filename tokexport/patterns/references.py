r"""Back-references: ``([!?.])\1*`` is ``!!*|\?\?*|\.\.*``, one alternative for each text that the
group may hold.

That is no regular language in general. It is one where the group's texts are few, as in Galactica's
tokenizer, and the order in which a backtracking matcher tries them is the order of the
alternatives. And where a group of one character is referred to right after it, as in ``(.)\1+``,
the reference asks whether a symbol is the one before it once more, which those who read the text
can tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from tokexport.patterns.syntax import (
    Assertion,
    Atomic,
    Characters,
    Choice,
    Doubled,
    Group,
    Look,
    Node,
    Opposite,
    PatternError,
    Reference,
    Repeat,
    Sequence,
    members_of,
)
from tokexport.unicode import CODE_POINTS

# each becomes an alternative, and most a class of characters of its own, of which a table has at
# most 254
MAX_TEXTS = 200


def expanded(node: Node) -> Node:
    """The same tree without Group and Reference nodes.

    Raises PatternError where a reference does not follow its group in the same sequence, or
    where the group may hold too many texts.

    >>> from tokexport.patterns.oniguruma import parse
    >>> choice = expanded(parse(r"([ab])c\\1")).parts[0]
    >>> [len(option.parts) for option in choice.options]  # aca, bcb
    [3, 3]
    """
    match node:
        case Group(_, body):
            return expanded(body)
        case Reference(_, _, offset):
            raise _refused(offset, "one after its group, in the same part of the pattern, is")
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
            doubling = _doubling(part, rest)
            if doubling is not None:
                return [*map(expanded, (*parts[:number], part)), *map(expanded, doubling)]
            texts = [_literal(text) for text in dict.fromkeys(_texts(part.body, offset))]
            options = (
                Sequence((text, *(_filled(other, part.number, text) for other in rest)))
                for text in texts
            )
            return [*map(expanded, parts[:number]), Choice(tuple(map(expanded, options)))]
    return [expanded(part) for part in parts]


def _doubling(group: Group, rest: tuple[Node, ...]) -> list[Node] | None:
    """What follows a group of one of many characters, with tests in place of the references to it;
    None where they cannot tell.
    """
    body = _unwrapped(group.body)
    if not isinstance(body, Characters) or int(body.members.sum()) <= MAX_TEXTS:
        return None
    return _doubled_parts(rest, group.number)[0]


def _doubled_parts(parts: tuple[Node, ...], number: int) -> tuple[list[Node] | None, bool]:
    """The parts that follow the character of a group, or None; and whether only that character can
    follow them.
    """
    found: list[Node] = []
    only = True
    for part in parts:
        told: Node | None = part
        if only:
            told, only = _doubled(part, number)
        if told is None or (not only and _first_reference((told,), number) is not None):
            return None, False
        found.append(told)
    return found, only


def _unwrapped(node: Node) -> Node:
    match node:
        case Sequence((part,)) | Choice((part,)):
            return _unwrapped(part)
        case _:
            return node


def _doubled(node: Node, number: int) -> tuple[Node | None, bool]:
    match node:
        case Reference(other, _, offset) if other == number:
            return Sequence(
                (Assertion(Doubled(offset)), Characters(members_of((0, CODE_POINTS - 1))))
            ), True
        case Sequence(parts):
            each, only = _doubled_parts(parts, number)
            return None if each is None else Sequence(tuple(each)), only
        case Choice(options):
            found = [_doubled(option, number) for option in options]
            kept = tuple(option for option, _ in found if option is not None)
            return Choice(kept) if len(kept) == len(options) else None, all(
                only for _, only in found
            )
        case Repeat(body):
            once, only = _doubled(body, number)
            if once is None or (not only and _first_reference((body,), number) is not None):
                return None, False
            return replace(node, body=once), only
        case Atomic(Repeat(Reference(other, _, offset), _, None, True)) if other == number:
            as_often, _ = _doubled(node.body, number)
            assert as_often is not None
            return Sequence((as_often, Assertion(Opposite(Doubled(offset))))), True
        case Group(other, body):
            inner, only = _doubled(body, number)
            return None if inner is None else Group(other, inner), only
        case Look(body, True):
            ahead, _ = _doubled(body, number)
            return None if ahead is None else replace(node, body=ahead), True
        case Look() | Assertion():
            return node, True
        case _:
            return node, False


def _texts(node: Node, offset: int) -> Iterator[tuple[int, ...]]:
    """All texts that a node may match, in the order in which they are tried; PatternError for too
    many, or an unknown number.
    """
    found = itertools.islice(_all_texts(node, offset), MAX_TEXTS + 1)
    for number, text in enumerate(found):
        if number == MAX_TEXTS:
            raise _refused(
                offset, f"one to a group that can hold at most {MAX_TEXTS} different texts is"
            )
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
            raise _refused(
                offset, "one to a group of characters, alternatives and counted repeats is"
            )


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
