r"""``\G``, the place where the search for a match began: the end of the last match, or the start of
the text.

``\A\d{3}|\G\d{3}`` cuts a number in threes from its start, and stops where one has less. The
engines try each place from the start of the search on, so ``\G`` holds at the first of them only,
before anything is consumed. That is two automata in one, with a start each.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokexport.patterns.tree import (
    EMPTY,
    NEVER,
    Assertion,
    Choice,
    Node,
    PatternError,
    SearchStart,
    Sequence,
    nodes_of,
    parts_of,
    with_parts,
)


def trees_by_start(node: Node) -> tuple[Node, ...]:
    r"""The tree as it is tried anywhere, and, where there is a ``\G``, as it is tried where the
    search begins.

    Raises PatternError for a ``\G`` that does not begin an alternative.

    >>> from tokexport.patterns.oniguruma import parse
    >>> len(trees_by_start(parse(r"a|\Gb"))), len(trees_by_start(parse("a")))
    (2, 1)
    """
    found = search_starts(node)
    leading = [id(each) for each in _leading(node)]
    for each in found:
        if id(each) not in leading:
            raise misplaced(each)
    if not found:
        return (node,)
    return _with_search_start(node, Assertion(NEVER)), _with_search_start(node, EMPTY)


def search_starts(node: Node) -> list[SearchStart]:
    r"""Each ``\G`` in a tree."""
    return [each for each in nodes_of(node) if isinstance(each, SearchStart)]


def misplaced(node: SearchStart) -> PatternError:
    r"""The error for a ``\G`` that does not begin an alternative."""
    hint = r"\G is supported where an alternative of the pattern begins"
    return PatternError(node.offset, r"an anchor \G in the midst of it", hint)


def _leading(node: Node) -> Iterator[Node]:
    """The nodes that are tried before anything else, and nothing repeats them."""
    match node:
        case SearchStart():
            yield node
        case Choice(options):
            for option in options:
                yield from _leading(option)
        case Sequence((first, *_)):
            yield from _leading(first)


def _with_search_start(node: Node, other: Node) -> Node:
    if isinstance(node, SearchStart):
        return other
    return with_parts(node, tuple(_with_search_start(part, other) for part in parts_of(node)))
