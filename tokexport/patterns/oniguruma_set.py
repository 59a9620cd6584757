r"""Bracket expressions and escapes of the Oniguruma dialect.

``[a-z&&[^aeiou]]``, ``[^\s\p{L}]``: ranges, nested brackets, properties, and ``&&``, which binds
less tightly than anything but the leading ``^``. Case folding applies to the whole, before ``^``.
"""

import re

from tokexport.patterns.cursor import Cursor
from tokexport.patterns.tree import complement, members_of
from tokexport.unicode import CodePoints, shorthand_set


def read_bracket(source: Cursor, start: int) -> tuple[CodePoints, bool]:
    """The set of the bracket opened at ``start``, not yet negated, and whether ``^`` negates it."""
    negated = source.skip("^")
    sets: list[CodePoints] = []
    members = members_of()
    # The operand before a hyphen: a character, which may begin a range, or a set, which may not.
    last: int | CodePoints | None = None
    first = True
    while True:
        offset = source.position
        if source.at_end:
            raise source.refused("an unclosed bracket expression", r"escape it as \[", start)
        if source.looking_at("]") and not (first and "]" in _unescaped(source)):
            if first:
                hint = r"write \] for a leading bracket"
                raise source.refused("an empty bracket expression", hint, start)
            source.take()
            break
        if source.skip("&&"):
            sets.append(members)
            members, last, first = members_of(), None, False
            continue
        is_range = source.looking_at("-") and last is not None and not first
        if is_range and not source.text.startswith(("-]", "-&&"), offset):
            source.take()
            high = _item(source) if isinstance(last, int) else members
            members |= source.range(last, high, offset)
            last = None
            continue
        nested = source.looking_at("[")
        item = _item(source)
        if isinstance(item, int):
            members[item] = True
        else:
            members |= item
        last, first = None if nested else item, False
    for other in sets:
        members &= other
    return members, negated


def _item(source: Cursor) -> int | CodePoints:
    offset = source.position
    if source.opens_bracket():
        members, negated = read_bracket(source, offset)
        return complement(members) if negated else members
    character = source.take()
    if character == "\\":
        return escaped_character(source, source.take(), offset, in_bracket=True)
    return ord(character)


def _unescaped(source: Cursor) -> str:
    """The text after the next character, without escapes: it may close a bracket."""
    return re.sub(r"\\.", "", source.text[source.position + 1 :], flags=re.DOTALL)


def escaped_character(
    source: Cursor, letter: str, offset: int, *, in_bracket: bool
) -> int | CodePoints:
    r"""The character, or the set of \s, \d, \w, \h or \p{...}, of an escape at ``offset``."""
    if letter in "sdwhSDWH":
        members = shorthand_set(letter.lower(), source.dialect, bracketed=in_bracket)
        return complement(members) if letter.isupper() else members
    if letter in "pP" and source.skip("{"):
        negated = (letter == "P") != source.skip("^")
        members = source.property(source.take_until("}"), offset, bracketed=in_bracket)
        return complement(members) if negated else members
    if letter == "x" or (letter == "u" and not source.looking_at("{")):
        value = source.hexadecimal(letter, offset)
        # \x80 is a byte, \x{80} a character.
        if letter == "x" and value >= 0x80 and not source.text.startswith("{", offset + 2):
            found = f"the single byte {value:#x} of a character"
            raise source.refused(
                found, r"\x{...} with the number of a character is supported", offset
            )
        return value
    return source.escaped(letter, offset)
