r"""Lookaround and atomic groups, written as conditions on the two neighbours of a position.

``(?!\S)`` is a condition on the code point ahead only, so it costs nothing while a text is read:
the automaton knows that code point when it decides. ``(?=a|$)`` and ``(?<!\w)`` are as cheap. A
lookahead that needs a second code point costs a pass over the text (see unbounded_lookaround.py).

An atomic group keeps the match that it finds first. For a repeated set that is the longest one:
``\p{L}++`` is ``\p{L}+(?!\p{L})``.
"""

from __future__ import annotations

from tokexport.patterns import tree
from tokexport.patterns.nfa import asked_by


def lower_lookaround_and_atomic(node: tree.Node) -> tree.Node:
    """The same tree with each Look turned into an Assertion, and without Atomic nodes.

    Raises PatternError for a lookbehind over more than one character, for such a lookahead within
    another one, and for an atomic group of more than a repeated set.

    >>> from tokexport.patterns.fancy import parse
    >>> [type(part).__name__ for part in lower_lookaround_and_atomic(parse("a++")).parts]
    ['Repeat', 'Assertion']
    """
    match node:
        case tree.Look():
            return tree.Assertion(condition_of(node))
        case tree.Atomic(body, offset):
            return _without_backtracking(body, offset)
        case _:
            return tree.with_parts(node, lower_lookaround_and_atomic)


def condition_of(look: tree.Look) -> tree.Condition:
    """The condition of a lookaround.

    >>> from tokexport.patterns.fancy import parse
    >>> condition = condition_of(parse("(?=a)"))
    >>> condition.ahead, [chr(member) for member in condition.members.nonzero()[0]], condition.edge
    (True, ['a'], False)
    """
    condition = _near(look.body, look.ahead)
    if condition is None:
        if not look.ahead:
            hint = "lookbehind over the one character before a position is supported"
            found = "a lookbehind over more than one character"
            raise tree.PatternError(look.offset, found, hint)
        body = lower_lookaround_and_atomic(look.body)
        inner = [each.condition for each in tree.nodes_of(body) if isinstance(each, tree.Assertion)]
        if any(isinstance(test, tree.LookUnbounded) for each in inner for test in asked_by(each)):
            found = "a lookahead over more than one character that contains another one"
            hint = "inside a lookahead look only at the next character"
            raise tree.PatternError(look.offset, found, hint)
        condition = tree.LookUnbounded(body)
    return tree.Not(condition) if look.negative else condition


def _near(node: tree.Node, ahead: bool) -> tree.Condition | None:
    """When a node matches at the position; None if that takes more than one character."""
    match node:
        case tree.Characters(members):
            return tree.LookOne(ahead, members, edge=False)
        case tree.Assertion(condition):
            return condition
        case tree.Choice(options):
            conditions = [_near(option, ahead) for option in options]
            known = tuple(condition for condition in conditions if condition is not None)
            return tree.Or(known) if len(known) == len(conditions) else None
        case _:
            return None


def _without_backtracking(body: tree.Node, offset: int) -> tree.Node:
    match body:
        case tree.Repeat(tree.Characters(members) as one, low, high, greedy):
            if not greedy:
                return tree.Repeat(one, low, low, greedy=True)
            end = tree.Assertion(tree.Not(tree.LookOne(True, members, edge=False)))
            if high is None:
                return tree.Sequence((tree.Repeat(one, low, None, greedy=True), end))
            if low == high:
                return body
            fewer = tree.Sequence((tree.Repeat(one, low, high - 1, greedy=True), end))
            return tree.Choice((tree.Repeat(one, high, high, greedy=True), fewer))
        case tree.Characters():
            return body
        case _:
            found = "an atomic group or possessive quantifier on more than a set of characters"
            hint = "make only a repeated set of characters atomic or possessive"
            raise tree.PatternError(offset, found, hint)
