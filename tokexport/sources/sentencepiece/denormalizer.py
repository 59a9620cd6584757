"""SentencePiece's denormalizer: what the library does to a decoded text, as a list of edits.

It is the normalizer once more (see :mod:`tokexport.sources.sentencepiece.normalizer`): the rules of
a charsmap, the longest at each place, and then white space. There is no denormalizer without a
charsmap. The library's trainer sets no flag for white space, but the definition of the file has all
three where it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tokexport.compiler.normalizer.charsmap import read_charsmap
from tokexport.compiler.normalizer.darts import leads_on_by_nul
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import Matching, Prefixed, Replacing, Split, TextEdit, Trimmed
from tokexport.sources.sentencepiece.charsmap import Rule, rules
from tokexport.sources.sentencepiece.normalizer import SPACE_SYMBOL, unused_character
from tokexport.sources.sentencepiece.proto import SentencePieceModel

_PATH: Final = "denormalizer_spec"
_BEHIND: Final = Split("(?<= ) ", path=_PATH)  # a space after a space
_SPACES: Final = f" {SPACE_SYMBOL}"


def denormalizer_edits(source: SentencePieceModel) -> tuple[TextEdit, ...]:
    """The edits. UnsupportedError for a charsmap, or white space, for which there are none."""
    spec = source.denormalizer
    if not spec.charsmap:
        return ()
    known = rules(spec.charsmap, source.file)  # which finds a damaged one
    if leads_on_by_nul(read_charsmap(spec.charsmap).units):
        raise UnsupportedError(
            source.file,
            "a denormalizer whose charsmap takes NUL for a letter is not supported",
            "one that sentencepiece made is",
        )
    try:
        pairs = [(rule.key.decode(), rule.value.decode()) for rule in known]
    except UnicodeDecodeError:
        raise SourceError(
            f"{source.file}: the charsmap of the denormalizer has a rule that is not UTF-8"
        ) from None
    edits: list[TextEdit] = [Replacing(tuple(pairs))]
    if spec.remove_extra_whitespaces:
        edits = _without_extra_spaces(source, known, pairs)
    if spec.add_dummy_prefix and spec.remove_extra_whitespaces:
        edits.append(Prefixed(" "))  # a text of which nothing is left has none
    elif spec.add_dummy_prefix:
        # A text that the rules leave nothing of has one.
        marker = unused_character(source.file, known, ())
        edits = [Prefixed(marker), *edits, Matching(Split(rf"\A{marker}", path=_PATH), " ")]
    if spec.escape_whitespaces:
        edits.append(Replacing(((" ", SPACE_SYMBOL),)))
    return tuple(edits)


def _without_extra_spaces(
    source: SentencePieceModel, known: Sequence[Rule], pairs: Sequence[tuple[str, str]]
) -> list[TextEdit]:
    """The rules, and what drops spaces at both ends of a text and after a space.

    With escapes, a U+2581 at the end of a text is dropped as a space is.
    """
    values = [value for _, value in pairs]
    most = max([1, *(len(spaces) for value in values for spaces in re.findall(" +", value))])
    edits: list[TextEdit] = [Replacing(tuple(pairs)), Matching(_BEHIND, ""), Trimmed(" ", 1)]
    if most > 1:
        edits = _collapsed(source, known, pairs)
    marks = [value for value in values if SPACE_SYMBOL in value]
    has_any = source.byte_fallback or SPACE_SYMBOL in source.unk_surface
    if not source.denormalizer.escape_whitespaces or not (has_any or marks):
        return [*edits, Trimmed(" ", most, at_end=True)]
    if has_any or not all(value.strip(_SPACES) for value in marks):
        raise UnsupportedError(
            source.file,
            "a denormalizer that removes and escapes white space, where a decoded text may have any"
            " number of U+2581 in a row is not supported",
            "one without escape_whitespaces is: of such a row nobody knows whether it is the end of"
            " the text, where all of it is dropped",
        )
    most += max(len(value) - len(value.rstrip(_SPACES)) for value in marks)
    return [*edits, Replacing(((" ", SPACE_SYMBOL),)), Trimmed(SPACE_SYMBOL, most, at_end=True)]


def _collapsed(
    source: SentencePieceModel, known: Sequence[Rule], pairs: Sequence[tuple[str, str]]
) -> list[TextEdit]:
    """The library drops the spaces with which the value of a rule begins, where a space or nothing
    stands before them, and keeps those inside of it: of spaces in a row the ones after the first
    go where that goes. They are marked for as long.
    """
    marker = unused_character(source.file, known, ())
    space, itself = marker + "s", marker + "m"  # a text may have the marker
    rules = [(key, re.sub("(?<= ) ", space, value)) for key, value in pairs]
    extra = Split(rf"(?:\A|(?<= )|(?<={space})) (?:{space})*", path=_PATH)
    unmarked = Replacing(((space, " "), (itself, marker)))
    return [Replacing((*rules, (marker, itself))), Matching(extra, ""), unmarked]
