"""How the forms of tokens are stored: each as one string of bytes, cut at one end or the other."""

from __future__ import annotations

from typing import Final, NoReturn

import numpy as np

from tokexport.compiler.tables import StoredForms
from tokexport.errors import UnsupportedError
from tokexport.escape import escape
from tokexport.model import Tokens

# What the bits of a record can count.
MAX_FIRST_SKIP: Final = 31
MAX_FIRST_MORE: Final = 3
MAX_LAST_SKIP: Final = 3


def stored_forms(tokens: Tokens) -> StoredForms:
    """How the forms of tokens are stored.

    UnsupportedError for a form that differs from the content in another way than by a few bytes at
    one end.

    >>> from tokexport.model import Token
    >>> forms = stored_forms(Tokens.of([Token(b" a", first=b"a"), Token(b"ing", first=b"##ing")]))
    >>> forms.data, forms.first_skip.tolist(), forms.first_more.tolist()
    ([b' a', b'##ing'], [1, 0], [0, 2])
    """
    data = [*tokens.contents]
    skip, more, end = (np.zeros(len(data), np.uint16) for _ in range(3))
    for number, content, first, last in tokens.with_forms:
        change, cut = len(first) - len(content), len(content) - len(last)
        if 0 < change <= MAX_FIRST_MORE and first.endswith(content):
            data[number], more[number] = first, change
        elif (
            content.endswith(first)
            and -change <= MAX_FIRST_SKIP
            and content.startswith(last)
            and cut <= MAX_LAST_SKIP
        ):
            skip[number], end[number] = -change, cut
        else:
            _refuse(number, content, first, last)
    return StoredForms(data, skip, more, end)


def _refuse(number: int, content: bytes, first: bytes, last: bytes) -> NoReturn:
    place, form = ("last", last) if first == content else ("first", first)
    raise UnsupportedError(
        "decoder",
        f'the id {number}, which decodes to "{escape(form)}" as the {place} token and else to'
        f' "{escape(content)}", is not supported',
        f"the first token may have up to {MAX_FIRST_SKIP} bytes less or {MAX_FIRST_MORE} more at"
        f" its front, the last one up to {MAX_LAST_SKIP} less at its end",
    )
