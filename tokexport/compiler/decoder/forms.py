"""How the forms of a token are stored: as one string of bytes, cut at one end or the other."""

from __future__ import annotations

from typing import Final

from tokexport.compiler.tables import StoredForms
from tokexport.errors import UnsupportedError
from tokexport.escape import escape
from tokexport.model import Token

# What the bits of a record can count.
MAX_FIRST_SKIP: Final = 31
MAX_FIRST_MORE: Final = 3
MAX_LAST_SKIP: Final = 3


def stored_forms(number: int, token: Token) -> StoredForms:
    """How the forms of the token with the id ``number`` are stored.

    UnsupportedError for a form that differs from the content in another way than by a few bytes at
    one end.

    >>> stored_forms(0, Token(b" a", first=b"a"))
    StoredForms(data=b' a', first_skip=1, first_more=0, last_skip=0)
    >>> stored_forms(0, Token(b"ing", first=b"##ing"))
    StoredForms(data=b'##ing', first_skip=0, first_more=2, last_skip=0)
    """
    content, first, last = token.forms
    change = len(first) - len(content)
    if 0 < change <= MAX_FIRST_MORE and first.endswith(content):
        return StoredForms(first, first_more=change)
    cut = len(content) - len(last)
    if (
        content.endswith(first)
        and -change <= MAX_FIRST_SKIP
        and content.startswith(last)
        and cut <= MAX_LAST_SKIP
    ):
        return StoredForms(content, first_skip=-change, last_skip=cut)
    place, form = ("last", last) if first == content else ("first", first)
    raise UnsupportedError(
        "decoder",
        f'the id {number}, which decodes to "{escape(form)}" as the {place} token and else to'
        f' "{escape(content)}", is not supported',
        f"the first token may have up to {MAX_FIRST_SKIP} bytes less or {MAX_FIRST_MORE} more at"
        f" its front, the last one up to {MAX_LAST_SKIP} less at its end",
    )
