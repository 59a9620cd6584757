"""How surface forms are stored: one byte string for each token, cut at one end or the other."""

from typing import Final, NoReturn

import numpy as np
import numpy.typing as npt

from tokexport._core import Keys, give_back_memory
from tokexport.compiler.tables import Numbers, StoredForms
from tokexport.errors import UnsupportedError
from tokexport.escape import escape
from tokexport.model import ByteStrings, Tokens
from tokexport.model.byte_strings import PART

# The largest counts that fit into a record.
MAX_FIRST_SKIP: Final = 31
MAX_FIRST_MORE: Final = 3
MAX_LAST_SKIP: Final = 3


def stored_forms(tokens: Tokens) -> StoredForms:
    """The contents and surface forms of tokens, as they are stored. UnsupportedError for a form
    that differs from the content by more than bytes at one end.

    >>> from tokexport.model import Token
    >>> forms = stored_forms(Tokens.of([Token(b" a", first=b"a"), Token(b"ing", first=b"##ing")]))
    >>> forms.data, forms.offsets.tolist()
    (b' a##ing', [0, 4])
    >>> forms.first_skip.tolist(), forms.first_more.tolist()
    ([1, 0], [0, 2])
    """
    longer, (skip, more, end) = _cuts(tokens)
    is_token = ~tokens.is_hole
    stored = tokens.contents.replaced(longer).take(np.flatnonzero(is_token))
    give_back_memory()
    first = Keys(stored.data, stored.ends).firsts()
    is_first = first == np.arange(len(stored), dtype=np.uint32)
    distinct = stored.take(np.flatnonzero(is_first))
    begins = np.zeros(len(stored), np.uint32)
    begins[is_first] = distinct.begins
    offsets = np.zeros(len(tokens), np.uint32)
    offsets[is_token] = begins[first]
    offsets += more
    return StoredForms(distinct.data, offsets, skip, more, end)


def _cuts(tokens: Tokens) -> tuple[dict[int, bytes], tuple[npt.NDArray[np.uint8], ...]]:
    """The first surface forms that are longer than the content, and for each id how many bytes the
    first form lacks or adds at the front, and how many the last form lacks at the end.
    """
    longer: dict[int, bytes] = {}
    skip, more, end = (np.zeros(len(tokens), np.uint8) for _ in range(3))
    with_forms = tokens.with_forms
    for at in range(0, len(with_forms), PART):
        numbers = with_forms[at : at + PART]
        contents = tokens.contents.take(numbers)
        firsts, lasts = (
            contents if column is tokens.contents else column.take(numbers)
            for column in (tokens.firsts, tokens.lasts)
        )
        is_shorter, skipped, cut = _shorter(contents, firsts, lasts)
        skip[numbers[is_shorter]], end[numbers[is_shorter]] = skipped[is_shorter], cut[is_shorter]
        for row in np.flatnonzero(~is_shorter).tolist():
            number, content, first = numbers[row], contents[row], firsts[row]
            change = len(first) - len(content)
            if 0 < change <= MAX_FIRST_MORE and first.endswith(content):
                longer[number], more[number] = first, change
            else:
                _refuse(number, content, first, lasts[row])
    zeros = np.broadcast_to(np.uint8(0), len(tokens))  # takes no memory
    skip, more, end = (column if column.any() else zeros for column in (skip, more, end))
    return longer, (skip, more, end)


def _shorter(
    contents: ByteStrings, firsts: ByteStrings, lasts: ByteStrings
) -> tuple[npt.NDArray[np.bool_], Numbers, Numbers]:
    """Which tokens have a first surface form that is a suffix of their content and a last one that
    is a prefix of it, and how many bytes shorter these are.
    """
    sizes, *others = (forms.sizes.view(np.int32) for forms in (contents, firsts, lasts))
    skipped, cut = (sizes - other for other in others)
    is_shorter = (skipped >= 0) & (skipped <= MAX_FIRST_SKIP) & (cut >= 0) & (cut <= MAX_LAST_SKIP)
    for form, first in ((firsts, skipped * is_shorter), (lasts, np.zeros_like(sizes))):
        if form is not contents:
            part = contents.within(first, np.minimum(form.sizes, sizes))
            is_shorter[part.indices_of_others(form)] = False
    return is_shorter, skipped, cut


def _refuse(number: int, content: bytes, first: bytes, last: bytes) -> NoReturn:
    position, form = ("last", last) if first == content else ("first", first)
    raise UnsupportedError(
        "decoder",
        f'the token "{escape(content)}" (id {number}) decodes to "{escape(form)}" where it is'
        f" the {position} of a text, which is not supported",
        f"a file can leave out up to {MAX_FIRST_SKIP} bytes at the start of the first token, or add"
        f" up to {MAX_FIRST_MORE} there, and leave out up to {MAX_LAST_SKIP} at the end of the last"
        " one; change the token or the decoder",
    )
