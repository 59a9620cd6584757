"""Of what characters a text can be that a chain of decoders makes of tokens."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tokexport.compiler.decoder.utf8_classes import bytes_behind
from tokexport.model import Begun, ByteName, Matching, Prefixed, Replacing, RunEdit, Trimmed
from tokexport.unicode.byte_alphabet import CHARACTERS

_REPLACEMENT: Final = "\ufffd"
_MOST_MET: Final = 4096


@dataclass(frozen=True, slots=True)
class Reach:
    """``characters``: those that a text can have as they are. ``values``: bytes of which others can
    be put together; what is no character becomes U+FFFD.

    >>> reach = Reach(frozenset("<>"), frozenset("é/w".encode()))
    >>> reach.may_have("</w>"), reach.may_have("é\\ufffd"), reach.may_have("Ã")
    (True, True, False)
    """

    characters: frozenset[str]
    values: frozenset[int] = frozenset()

    def may_have(self, text: str) -> bool:
        """Whether every character of ``text`` can be met; if not, no text has it."""
        return all(
            character in self.characters or self._is_spelled(character) for character in text
        )

    def _is_spelled(self, character: str) -> bool:
        if character == _REPLACEMENT and max(self.values, default=0) >= 0x80:
            return True
        return self.values.issuperset(character.encode())

    @property
    def respelled(self) -> str:
        """A character that can be met and that stands for another byte than its own in GPT-2's
        alphabet; none where it is empty.
        """
        return next(
            (
                character
                for character in CHARACTERS
                if not character.isascii() and self.may_have(character)
            ),
            "",
        )

    def met(self) -> frozenset[str] | None:
        """All characters that can be met; None for more than 4,096, or where the bytes of so many
        would have to be tried.
        """
        spelled = {_REPLACEMENT} if max(self.values, default=0) >= 0x80 else set()
        following = sorted(self.values.intersection(range(0x80, 0xC0)))
        for first in self.values:
            more = bytes_behind(bytes((first,)))
            if len(following) ** more > _MOST_MET:
                return None
            for rest in itertools.product(following, repeat=more):
                with contextlib.suppress(UnicodeDecodeError):
                    spelled.add(bytes((first, *rest)).decode())
        found = self.characters | spelled
        return found if len(found) <= _MOST_MET else None

    def behind(self, edits: Iterable[RunEdit]) -> Reach:
        """What a text can be after some edits, which may also leave everything as it is."""
        return Reach(self.characters.union(*map(_written, edits)), self.values)


def _written(edit: RunEdit) -> str:
    """The characters that an edit can bring into a text."""
    match edit:
        case Replacing():
            return "".join(content for _, content in edit.rules)
        case Matching():
            return edit.content
        case Begun():
            return edit.otherwise
        case Prefixed():
            return edit.prefix
        case ByteName():
            return "".join(map(chr, range(0x80))) + _REPLACEMENT
        case Trimmed():
            return ""
