r"""The Oniguruma dialect of ``tokenizers``: Oniguruma's own syntax, in UTF-8, without options.

``^`` and ``$`` are line anchors, ``{n,m}+`` is not possessive, and ``(?i)`` applies to the rest of
its group, with all further alternatives. Sources: Oniguruma 6.9.9, doc/RE, and its behaviour.
"""

import re
from typing import ClassVar, Final

from tokexport.patterns import tree
from tokexport.patterns.casefold import closure, folds_to_several, has_long_folds
from tokexport.patterns.oniguruma_set import escaped_character, read_bracket
from tokexport.patterns.parser import END, LINE_FEED, START, Parser
from tokexport.unicode import Dialect

_END_OF_LINE: Final = tree.LookOne(ahead=True, members=LINE_FEED, edge=True)
# No line starts after a line feed that ends the text.
_START_OF_LINE: Final = tree.Or(
    (START, tree.And((tree.LookOne(False, LINE_FEED, edge=False), tree.Not(END))))
)


def parse(pattern: str) -> tree.Node:
    r"""The tree of a pattern.

    Raises PatternError for syntax that Oniguruma refuses or that no pre-tokenizer needs.

    >>> node = parse("a{1,2}+")  # not possessive: a repeat of a repeat
    >>> type(node).__name__, node.low, node.high, node.body.low, node.body.high
    ('Repeat', 1, None, 1, 2)
    """
    return _OnigurumaParser(pattern).parse()


class _OnigurumaParser(Parser):
    dialect = Dialect.ONIGURUMA
    quantifier = re.compile(r"[?*+]|\{(?!,?\})([0-9]*)(,?)([0-9]*)\}")  # {,} is not one
    line_anchors: ClassVar = {"^": _START_OF_LINE, "$": _END_OF_LINE}

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        # The last characters that (?i) may fold together with the next, and where they end.
        self._run: tuple[int, ...] = ()
        self._run_end = 0

    def quantified(self, atom: tree.Node, start: int) -> tree.Node:
        node, once = atom, False
        while True:
            offset = self.source.position
            counts = self.counts(offset)
            if counts is None:
                return node
            low, high, text = counts
            # {n}? is an optional {n}: the question mark is a quantifier of its own.
            lazy = (text in "*+?" or "," in text) and self.source.skip("?")
            possessive = text in "*+?" and not lazy and self.source.skip("+")
            # After {1} the engine repeats the last character of a string, not the group around it.
            if once or isinstance(node, tree.Assertion | tree.Look | tree.SearchStart):
                raise self.unrepeatable(offset)
            once = (low, high) == (1, 1)
            if not once:
                node = self.repeat(node, low, high, not lazy, offset)
                if possessive:
                    node = tree.Atomic(node, start)

    def rest_with_options(self, outer: bool) -> tree.Node:
        body = self.alternatives()
        self.ignore_case = outer
        return body

    def bracket(self, start: int) -> tree.Node:
        members, negated = read_bracket(self.source, start)
        if self.ignore_case:
            members = closure(members, Dialect.ONIGURUMA)
            if not negated and has_long_folds(members):
                raise _long_fold(start)
        return tree.Characters(tree.complement(members) if negated else members)

    def escape(self, letter: str, start: int) -> tree.Node:
        escaped = escaped_character(self.source, letter, start, in_bracket=False)
        return (
            self.literal(escaped, start) if isinstance(escaped, int) else tree.Characters(escaped)
        )

    def literal(self, code_point: int, start: int) -> tree.Node:
        if self.quantifier.match(self.source.text, start):
            hint = r"escape it as \{"
            raise self.source.refused("a counted repeat of nothing", hint, start)
        if not self.ignore_case:
            return self.character(code_point)
        # The engine may fold characters together with only groups and quantifiers between them.
        if not set("|[\\.^$").isdisjoint(self.source.text[self._run_end : start]):
            self._run = ()
        self._run = (*self._run[-2:], code_point)
        self._run_end = self.source.position
        if folds_to_several(self._run):
            raise _long_fold(start)
        return self.character(code_point, ignore_case=True)


def _long_fold(offset: int) -> tree.PatternError:
    found = "text that Oniguruma matches under (?i) by more or fewer characters, as ss by \u00df,"
    hint = "write the cases out in brackets"
    return tree.PatternError(offset, found, hint)
