r"""``\G``, where the search for a match began: the end of the last match or the start of the text.

``\A\d{3}|\G\d{3}`` cuts a number into threes from its start, and stops where fewer digits are left.
The engines try each position from the start of the search on, so ``\G`` holds only at the first of
them, before anything is consumed. The result is two automata in one, each with its own start.
"""

from collections.abc import Iterator

from tokexport.patterns import tree


def trees_by_start(node: tree.Node) -> tuple[tree.Node, ...]:
    r"""The tree to try anywhere and, if it has a ``\G``, the tree to try where the search begins.

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
    anywhere = _with_search_start(node, tree.Assertion(tree.NEVER))
    return anywhere, _with_search_start(node, tree.EMPTY)


def search_starts(node: tree.Node) -> list[tree.SearchStart]:
    return [each for each in tree.nodes_of(node) if isinstance(each, tree.SearchStart)]


def misplaced(node: tree.SearchStart) -> tree.PatternError:
    hint = r"\G is supported where an alternative of the pattern begins"
    return tree.PatternError(node.offset, r"an anchor \G in the middle of it", hint)


def _leading(node: tree.Node) -> Iterator[tree.Node]:
    """The nodes that are tried before anything else and that nothing repeats."""
    match node:
        case tree.SearchStart():
            yield node
        case tree.Choice(options):
            for option in options:
                yield from _leading(option)
        case tree.Sequence((first, *_)):
            yield from _leading(first)


def _with_search_start(node: tree.Node, other: tree.Node) -> tree.Node:
    if isinstance(node, tree.SearchStart):
        return other
    return tree.with_parts(node, lambda part: _with_search_start(part, other))
