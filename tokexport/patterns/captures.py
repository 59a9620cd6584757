r"""Capturing groups and references to them, as the parsers of both dialects meet them: ``\1`` to
``\9`` and ``\k<name>``.
"""

from __future__ import annotations

import re

from tokexport.patterns.cursor import DECIMAL, Cursor
from tokexport.patterns.tree import Group, Node, PatternError, Reference, can_match_empty

_REFERS = re.compile(r"\\[1-9k]")


class Groups:
    """The capturing groups of a pattern, by number, as far as it is read."""

    def __init__(self, pattern: str) -> None:
        # Where nothing refers back, a group is its body, as the quantifiers after it see it.
        self._wanted = _REFERS.search(pattern) is not None
        self._bodies: list[Node | None] = []
        self._names: list[str | None] = []

    def opened(self, name: str | None) -> int:
        """The number of a group that begins here."""
        self._bodies.append(None)
        self._names.append(name)
        return len(self._bodies)

    def closed(self, number: int, body: Node) -> Node:
        """The node of a group that ends here."""
        self._bodies[number - 1] = body
        return Group(number, body) if self._wanted else body

    def reference(self, source: Cursor, letter: str, ignore_case: bool, start: int) -> Reference:
        r"""The reference whose backslash stands at ``start`` and whose letter has been read.

        Raises PatternError for what is no plain reference to one group that is closed already.
        """
        if letter == "k" and (source.skip("<") or source.skip("'")):
            name = source.take_until(">" if source.text[source.position - 1] == "<" else "'")
            numbers = [number for number, other in enumerate(self._names, 1) if other == name]
        else:
            # With names, the engines do not agree on which groups have numbers; two digits may be
            # an octal code.
            plain = (
                letter in DECIMAL - {"0"}
                and not source.take_while(DECIMAL)
                and not any(self._names)
            )
            numbers = [int(letter)] if plain and int(letter) <= len(self._bodies) else []
        body = self._bodies[numbers[0] - 1] if len(numbers) == 1 else None
        if body is None or ignore_case:
            raise PatternError(
                start,
                "a reference to a group",
                "one to a group that ends before it, by one digit or a name, and in which upper and"
                " lower case differ, is",
            )
        return Reference(numbers[0], can_match_empty(body), start)
