r"""The fancy-regex dialect of tiktoken: Rust's regex syntax with lookaround and atomic groups.

``$`` is the end of the text, ``{n,m}+`` is possessive, and ``(?i)`` applies up to the end of the
innermost ``(?...:`` group around it, through any other group. Sources: fancy-regex 0.19.0 and
regex-syntax 0.8, and their behaviour when run.
"""

import re
from typing import ClassVar

from tokexport.patterns import tree
from tokexport.patterns.fancy_set import FancySet
from tokexport.patterns.parser import END, START, Parser
from tokexport.unicode import Dialect


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
        source = self.source
        offset = source.position
        counts = self.counts(offset)
        if counts is None:
            return atom
        if atom is tree.EMPTY or isinstance(atom, tree.Assertion | tree.Look | tree.SearchStart):
            raise self.unrepeatable(offset)
        low, high, _ = counts
        node = self.repeat(atom, low, high, not source.skip("?"), offset)
        return tree.Atomic(node, start) if source.skip("+") else node

    def rest_with_options(self, outer: bool) -> tree.Node:
        return tree.EMPTY

    def bracket(self, start: int) -> tree.Node:
        return tree.Characters(FancySet(self.source, self.ignore_case).bracket(start))

    def escape(self, letter: str, start: int) -> tree.Node:
        if letter in "xuU":
            return self.literal(self.source.hexadecimal(letter, start), start)
        escaped = FancySet(self.source, self.ignore_case).escape(letter, start)
        # An escaped sign or control character has no case variants.
        return self.character(escaped) if isinstance(escaped, int) else tree.Characters(escaped)

    def literal(self, code_point: int, start: int) -> tree.Node:
        return self.character(code_point, self.ignore_case)
