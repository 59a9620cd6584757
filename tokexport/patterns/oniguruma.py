r"""The Oniguruma dialect of ``tokenizers``: Oniguruma's own syntax, in UTF-8, without options.

``^`` and ``$`` are line anchors, ``{n,m}+`` is not possessive, and ``(?i)`` applies to the rest of
its group, with all further alternatives. In ``[a-z&&[^aeiou]]``, ``&&`` binds less tightly than
anything but the leading ``^``; case is folded in the whole, before ``^``. Sources: Oniguruma 6.9.9,
doc/RE, and its behaviour.
"""

import re
from typing import ClassVar, Final

from tokexport.patterns import tree
from tokexport.patterns.casefold import closure, folds_to_several, has_long_folds
from tokexport.patterns.parser import END, LINE_FEED, START, Parser
from tokexport.patterns.tree import complement, members_of
from tokexport.unicode import CodePoints, Dialect, shorthand_set

_END_OF_LINE: Final = tree.LookOne(ahead=True, members=LINE_FEED, edge=True)
# No line starts after a line feed that ends the text.
_START_OF_LINE: Final = tree.Or(
    (START, tree.And((tree.LookOne(False, LINE_FEED, edge=False), tree.Not(END))))
)
# Each is the property of its name, except [:punct:], which has symbols too.
_POSIX_BRACKET: Final = re.compile(
    r"\[:(\^?)"
    r"(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"
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
            offset = self.position
            counts = self.counts(offset)
            if counts is None:
                return node
            low, high, text = counts
            # {n}? is an optional {n}: the question mark is a quantifier of its own.
            lazy = (text in "*+?" or "," in text) and self.skip("?")
            possessive = text in "*+?" and not lazy and self.skip("+")
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
        members, negated = self._read_bracket(start)
        if self.ignore_case:
            members = closure(members, Dialect.ONIGURUMA)
            if not negated and has_long_folds(members):
                raise _long_fold(start)
        return tree.Characters(tree.complement(members) if negated else members)

    def escape(self, letter: str, start: int) -> tree.Node:
        found = self._escaped_character(letter, start, in_bracket=False)
        return self.literal(found, start) if isinstance(found, int) else tree.Characters(found)

    def literal(self, code_point: int, start: int) -> tree.Node:
        if self.quantifier.match(self.text, start):
            raise self.refused("a counted repeat of nothing", r"escape it as \{", start)
        if not self.ignore_case:
            return self.character(code_point)
        # The engine may fold characters together with only groups and quantifiers between them.
        if not set("|[\\.^$").isdisjoint(self.text[self._run_end : start]):
            self._run = ()
        self._run = (*self._run[-2:], code_point)
        self._run_end = self.position
        if folds_to_several(self._run):
            raise _long_fold(start)
        return self.character(code_point, ignore_case=True)

    def _read_bracket(self, start: int) -> tuple[CodePoints, bool]:
        """The set of the bracket that opens at ``start``, and whether ``^`` negates it."""
        negated = self.skip("^")
        sets: list[CodePoints] = []
        members = members_of()
        # The operand before a hyphen: a character, which may begin a range, or a set.
        last: int | CodePoints | None = None
        first = True
        while True:
            offset = self.position
            if self.at_end:
                raise self.refused("an unclosed bracket expression", r"escape it as \[", start)
            # A leading bracket is a member if the text after it, without escapes, has another one.
            after = re.sub(r"\\.", "", self.text[offset + 1 :], flags=re.DOTALL) if first else ""
            if self.looking_at("]") and "]" not in after:
                if first:
                    hint = r"write \] for a leading bracket"
                    raise self.refused("an empty bracket expression", hint, start)
                self.take()
                break
            if self.skip("&&"):
                sets.append(members)
                members, last, first = members_of(), None, False
                continue
            is_range = self.looking_at("-") and not first
            if last is not None and is_range and not self.text.startswith(("-]", "-&&"), offset):
                self.take()
                high = self._item() if isinstance(last, int) else members
                members |= self.range(last, high, offset)
                last = None
                continue
            # A hyphen after a nested bracket is literal; after another set, it is refused.
            nested = self.looking_at("[") and not self.looking_at("[:")
            item = self._item()
            if isinstance(item, int):
                members[item] = True
            else:
                members |= item
            last, first = None if nested else item, False
        for other in sets:
            members &= other
        return members, negated

    def _item(self) -> int | CodePoints:
        offset = self.position
        posix = self.match(_POSIX_BRACKET)
        if posix is not None:
            name = "posixpunct" if posix[2] == "punct" else posix[2]
            members = self.property(name, offset, bracketed=True)
            return complement(members) if posix[1] else members
        if self.opens_bracket():
            members, negated = self._read_bracket(offset)
            return complement(members) if negated else members
        character = self.take()
        if character == "\\":
            return self._escaped_character(self.take(), offset, in_bracket=True)
        return ord(character)

    def _escaped_character(self, letter: str, offset: int, *, in_bracket: bool) -> int | CodePoints:
        r"""The character, or the set of \s, \d, \w, \h or \p{...}, of an escape at ``offset``."""
        if letter in "sdwhSDWH":
            members = shorthand_set(letter.lower(), self.dialect, bracketed=in_bracket)
            return complement(members) if letter.isupper() else members
        if letter in "pP" and self.skip("{"):
            negated = (letter == "P") != self.skip("^")
            members = self.property(self.take_until("}"), offset, bracketed=in_bracket)
            return complement(members) if negated else members
        if letter == "x" or (letter == "u" and not self.looking_at("{")):
            value = self.hexadecimal(letter, offset)
            # \x80 is a byte, \x{80} a character.
            if letter == "x" and value >= 0x80 and not self.text.startswith("{", offset + 2):
                found = f"the single byte {value:#x} of a character"
                hint = r"\x{...} with the number of a character is supported"
                raise self.refused(found, hint, offset)
            return value
        return self.escaped(letter, offset)


def _long_fold(offset: int) -> tree.PatternError:
    found = "text that Oniguruma matches under (?i) by more or fewer characters, as ss by \u00df,"
    return tree.PatternError(offset, found, "write the cases out in brackets")
