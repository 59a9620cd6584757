r"""The fancy-regex dialect of tiktoken: Rust's regex syntax with lookaround and atomic groups.

``$`` is the end of the text, ``{n,m}+`` is possessive, and ``(?i)`` applies up to the end of the
innermost ``(?...:`` group around it, through any other group. In brackets ``&&`` binds less tightly
than juxtaposition, and case is folded in each part before its negation. Sources: fancy-regex 0.19.0
and regex-syntax 0.8, and their behaviour when run.
"""

import re
from typing import ClassVar

from tokexport.patterns import tree
from tokexport.patterns.casefold import closure
from tokexport.patterns.parser import END, START, Parser
from tokexport.patterns.tree import complement, members_of
from tokexport.unicode import CodePoints, Dialect, shorthand_set

# Properties that fancy-regex rewrites, in brackets differently from elsewhere.
_REWRITTEN = frozenset({"alnum", "blank", "cntrl", "word", "graph", "print", "cs"})


def parse(pattern: str) -> tree.Node:
    r"""The tree of a pattern.

    Raises PatternError for syntax that fancy-regex refuses or that no pre-tokenizer needs.

    >>> node = parse("a{1,2}+")
    >>> type(node).__name__, node.body.low, node.body.high
    ('Atomic', 1, 2)
    """
    return _FancyParser(pattern).parse()


class _FancyParser(Parser):
    dialect = Dialect.FANCY_REGEX
    quantifier = re.compile(r"[?*+]|\{(?!\})([0-9]*)(,?)([0-9]*)\}")
    line_anchors: ClassVar = {"^": START, "$": END}

    def quantified(self, atom: tree.Node, start: int) -> tree.Node:
        offset = self.position
        counts = self.counts(offset)
        if counts is None:
            return atom
        if atom is tree.EMPTY or isinstance(atom, tree.Assertion | tree.Look | tree.SearchStart):
            raise self.unrepeatable(offset)
        low, high, _ = counts
        node = self.repeat(atom, low, high, not self.skip("?"), offset)
        return tree.Atomic(node, start) if self.skip("+") else node

    def rest_with_options(self, outer: bool) -> tree.Node:
        return tree.EMPTY

    def bracket(self, start: int) -> tree.Node:
        return tree.Characters(self._members(start))

    def escape(self, letter: str, start: int) -> tree.Node:
        escaped = self._escaped(letter, start)
        if isinstance(escaped, int):
            # An escaped sign or control character has no case variants.
            return self.character(escaped, self.ignore_case and letter in "xuU")
        return tree.Characters(escaped)

    def literal(self, code_point: int, start: int) -> tree.Node:
        return self.character(code_point, self.ignore_case)

    def _folded(self, members: CodePoints) -> CodePoints:
        return closure(members, Dialect.FANCY_REGEX) if self.ignore_case else members

    def _members(self, start: int) -> CodePoints:
        """The bracket expression that opens at ``start``; its opening bracket has been read."""
        negated = self.skip("^")
        members = members_of()
        while self.skip("-"):
            members[ord("-")] = True
        if not members.any() and self.skip("]"):
            members[ord("]")] = True
        left: CodePoints | None = None
        while not self.skip("]"):
            if self.at_end:
                raise self.refused("an unclosed bracket expression", r"escape it as \[", start)
            if self.looking_at("--") or self.looking_at("~~"):
                hint = r"&& is supported; escape the others as \- and \~"
                raise self.refused("a difference of sets", hint)
            if self.skip("&&"):
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
        offset = self.position
        if self.opens_bracket():
            return self._members(offset)
        low = self._primitive()
        if not self.looking_at("-") or self.looking_at("-]") or self.looking_at("--"):
            return members_of((low, low)) if isinstance(low, int) else low
        offset = self.position
        self.take()
        return self.range(low, self._primitive(), offset)

    def _primitive(self) -> int | CodePoints:
        offset = self.position
        character = self.take()
        return self._escaped(self.take(), offset) if character == "\\" else ord(character)

    def _escaped(self, letter: str, offset: int) -> int | CodePoints:
        r"""The character, or the set of \s, \d, \w or \p{...}, of an escape at ``offset``."""
        if letter in "xuU":
            return self.hexadecimal(letter, offset)
        if letter in "dDsSwW":
            members = shorthand_set(letter.lower(), Dialect.FANCY_REGEX)
            return complement(members) if letter.isupper() else members
        if letter in "pP":
            name = self.take_until("}").lower() if self.skip("{") else self.take()
            negated = (letter == "P") != name.startswith("^")
            name = name.removeprefix("^")
            if name in _REWRITTEN:
                hint = "general categories and scripts are supported"
                raise self.refused(f"the property {name!r}", hint, offset)
            members = self._folded(self.property(name, offset))
            return complement(members) if negated else members
        return self.escaped(letter, offset, others="<>")
