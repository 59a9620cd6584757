r"""Back-references: ``([!?.])\1*`` is ``!!*|\?\?*|\.\.*``, one alternative for each character that
the group may hold.

References make no regular language in general. They do where a group is one character out of a few,
as in Galactica's tokenizer. The order of the alternatives makes no difference: a text begins with
one of these characters at most.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokexport.patterns import tree
from tokexport.patterns.parser import refused_reference
from tokexport.unicode import CodePoints

# Each becomes an alternative and a class of characters, of which a table has at most 254.
MAX_CHARACTERS = 200


def expand_backreferences(node: tree.Node) -> tree.Node:
    """The same tree without Group and Reference nodes.

    Raises PatternError for a reference that does not follow its group in the same sequence, and for
    one to a group that is more than one character out of ``MAX_CHARACTERS``.

    >>> from tokexport.patterns.oniguruma import parse
    >>> choice = expand_backreferences(parse(r"([ab])c\\1")).parts[0]
    >>> [len(option.parts) for option in choice.options]  # aca, bcb
    [3, 3]
    """
    match node:
        case tree.Reference(_, offset):
            raise refused_reference(offset)
        case tree.Group(_, body):
            return expand_backreferences(body)
        case tree.Sequence(parts):
            for index, part in enumerate(parts):
                rest = parts[index + 1 :]
                found = _reference_to(part.number, rest) if isinstance(part, tree.Group) else None
                if isinstance(part, tree.Group) and found is not None:
                    spelled = _spelled(part, rest, found)
                    before = map(expand_backreferences, parts[:index])
                    return tree.Sequence((*before, expand_backreferences(spelled)))
    return tree.with_parts(node, expand_backreferences)


def _spelled(group: tree.Group, rest: tuple[tree.Node, ...], offset: int) -> tree.Choice:
    """A group of one character and what follows it, once for each character."""
    members = _characters(group.body)
    if members is None or int(members.sum()) > MAX_CHARACTERS:
        raise refused_reference(offset)
    texts = [
        tree.Characters(tree.members_of((each, each))) for each in np.flatnonzero(members).tolist()
    ]
    number = group.number
    rests = (tuple(_with_text(other, number, text) for other in rest) for text in texts)
    options = zip(texts, rests, strict=True)
    return tree.Choice(tuple(tree.Sequence((text, *after)) for text, after in options))


def _characters(node: tree.Node) -> CodePoints | None:
    """The set that a node is, or None where it is more than one character."""
    match node:
        case tree.Characters(members):
            return members
        case tree.Sequence((part,)):
            return _characters(part)
        case _:
            return None


def _reference_to(number: int, nodes: Iterable[tree.Node]) -> int | None:
    """The offset of the first reference to a group, or None."""
    found = (
        each for node in nodes for each in tree.nodes_of(node) if isinstance(each, tree.Reference)
    )
    return next((each.offset for each in found if each.number == number), None)


def _with_text(node: tree.Node, number: int, text: tree.Characters) -> tree.Node:
    """The same tree with a text in place of references to the group of a number."""
    if isinstance(node, tree.Reference) and node.number == number:
        return text
    return tree.with_parts(node, lambda part: _with_text(part, number, text))
