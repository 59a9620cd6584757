r"""Bracket expressions and properties of the fancy-regex dialect, as regex-syntax reads them.

``&&`` binds less tightly than juxtaposition. Case is folded in each part before its negation.
"""

from tokexport.patterns.casefold import closure
from tokexport.patterns.cursor import Cursor
from tokexport.patterns.tree import complement, members_of
from tokexport.unicode import CodePoints, Dialect, shorthand_set

# Properties that fancy-regex rewrites, in brackets differently from elsewhere.
_REWRITTEN = frozenset({"alnum", "blank", "cntrl", "word", "graph", "print", "cs"})


class FancySet:
    """Reads sets from a pattern."""

    def __init__(self, source: Cursor, ignore_case: bool) -> None:
        self._source = source
        self._ignore_case = ignore_case

    def _folded(self, members: CodePoints) -> CodePoints:
        return closure(members, Dialect.FANCY_REGEX) if self._ignore_case else members

    def bracket(self, start: int) -> CodePoints:
        """The bracket expression that opens at ``start``; its opening bracket has been read."""
        source = self._source
        negated = source.skip("^")
        members = members_of()
        while source.skip("-"):
            members[ord("-")] = True
        if not members.any() and source.skip("]"):
            members[ord("]")] = True
        left: CodePoints | None = None
        while not source.skip("]"):
            if source.at_end:
                hint = r"escape it as \["
                raise source.refused("an unclosed bracket expression", hint, start)
            if source.looking_at("--") or source.looking_at("~~"):
                hint = r"&& is supported; escape the others as \- and \~"
                raise source.refused("a difference of sets", hint)
            if source.skip("&&"):
                left = self._both(left, members)
                members = members_of()
            else:
                members |= self._item()
        members = self._folded(self._both(left, members))
        return complement(members) if negated else members

    def _both(self, left: CodePoints | None, right: CodePoints) -> CodePoints:
        return right if left is None else self._folded(left) & self._folded(right)

    def _item(self) -> CodePoints:
        """A nested bracket, a set, a character or a range of characters."""
        source = self._source
        offset = source.position
        if source.opens_bracket():
            return self.bracket(offset)
        low = self._primitive()
        if not source.looking_at("-") or source.looking_at("-]") or source.looking_at("--"):
            return members_of((low, low)) if isinstance(low, int) else low
        offset = source.position
        source.take()
        return source.range(low, self._primitive(), offset)

    def _primitive(self) -> int | CodePoints:
        source = self._source
        offset = source.position
        character = source.take()
        if character != "\\":
            return ord(character)
        letter = source.take()
        if letter in "xuU":
            return source.hexadecimal(letter, offset)
        return self.escape(letter, offset)

    def escape(self, letter: str, offset: int) -> int | CodePoints:
        r"""The character, or the set of \s, \d, \w or \p{...}, of an escape at ``offset``."""
        source = self._source
        if letter in "dDsSwW":
            members = shorthand_set(letter.lower(), Dialect.FANCY_REGEX)
            return complement(members) if letter.isupper() else members
        if letter in "pP":
            name = source.take_until("}").lower() if source.skip("{") else source.take()
            negated = (letter == "P") != name.startswith("^")
            name = name.removeprefix("^")
            if name in _REWRITTEN:
                hint = "general categories and scripts are supported"
                raise source.refused(f"the property {name!r}", hint, offset)
            members = self._folded(source.property(name, offset))
            return complement(members) if negated else members
        return source.escaped(letter, offset, others="<>")
