r"""Back-references: ``([!?.])\1*`` is ``!!*|\?\?*|\.\.*``, an alternative for each character.

Back-references are not regular in general. They are where a group is one character out of a few, as
in Galactica's tokenizer. The order of the alternatives makes no difference.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from tokexport.patterns import tree
from tokexport.patterns.parser import refused_reference

# Each becomes an alternative and an input class; a table has at most 254 classes.
MAX_CHARACTERS = 200


def expand_backreferences(
    node: tree.Node, texts: Mapping[int, tree.Characters] = MappingProxyType({})
) -> tree.Node:
    """The same tree without Group and Reference nodes. ``texts``: groups by number.

    Raises PatternError for a reference that does not follow its group in the same sequence, and for
    one to a group other than a single character out of at most ``MAX_CHARACTERS``.

    >>> from tokexport.patterns.oniguruma import parse
    >>> choice = expand_backreferences(parse(r"([ab])c\\1")).parts[0]
    >>> len(choice.options)  # aca, bcb
    2
    """
    match node:
        case tree.Reference(number, offset):
            if number not in texts:
                raise refused_reference(offset)
            return texts[number]
        case tree.Group(_, body):
            return expand_backreferences(body, texts)
        case tree.Sequence(parts):
            for index, part in enumerate(parts):
                rest = tree.Sequence(parts[index + 1 :])
                if isinstance(part, tree.Group) and (found := _references(part.number, rest)):
                    options = []
                    for text in _texts_of(part.body, found[0]):
                        after = expand_backreferences(rest, {**texts, part.number: text})
                        options.append(tree.Sequence((text, after)))
                    before = [expand_backreferences(each, texts) for each in parts[:index]]
                    return tree.Sequence((*before, tree.Choice(tuple(options))))
    return tree.with_parts(node, lambda part: expand_backreferences(part, texts))


def _texts_of(body: tree.Node, offset: int) -> list[tree.Characters]:
    """Each character that a group may hold; ``offset``: that of a reference to it."""
    if not isinstance(body, tree.Characters) or int(body.members.sum()) > MAX_CHARACTERS:
        raise refused_reference(offset)
    numbers = np.flatnonzero(body.members).tolist()
    return [tree.Characters(tree.members_of((each, each))) for each in numbers]


def _references(number: int, node: tree.Node) -> list[int]:
    found = (each for each in tree.nodes_of(node) if isinstance(each, tree.Reference))
    return [each.offset for each in found if each.number == number]
