"""The result of a chain of decoders for every token, computed in advance.

The reference passes a list of strings, one per token, from decoder to decoder, and joins the
result. A decoder changes each string by itself, and may test whether it is the first or the last:
so a token has few surface forms. ByteFallback makes one string of a run of bytes, which no single
token determines; Fuse and ByteLevel join the list. Later decoders are applied to the tokens if that
is equivalent, otherwise to the joined text (``Decoding.edits``), otherwise they are refused.
Source: ``tokenizers``, the module ``decoders``.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NoReturn, TypeAlias, TypeGuard

import numpy as np

from tokexport.errors import UnsupportedError
from tokexport.model import (
    ByteStrings,
    Decoding,
    ParseByteToken,
    ReplaceLiteral,
    TextEdit,
    Tokens,
    Vocabulary,
)
from tokexport.model.byte_alphabet import all_to_bytes
from tokexport.model.byte_strings import Suffixes
from tokexport.sources.tokenizer_json.decoder import Step

# The strings of all tokens between others, as the first, and as the last: one object where equal.
_Forms: TypeAlias = tuple[ByteStrings, ByteStrings, ByteStrings]
_REPLACEMENT: Final = "\ufffd"
# A token that the reference treats as a byte: also <0x+1>.
_BYTE_TOKEN: Final = re.compile(rb"<0x(\+[0-9a-fA-F]|[0-9a-fA-F]{2})>")


def decode_forms(spelling: Vocabulary, steps: Sequence[Step]) -> tuple[Tokens, Decoding]:
    """What the tokens in ``spelling`` decode to by ``steps``, and the edits of the whole text.

    Raises UnsupportedError for some chains.
    """
    chain = _Chain(spelling)
    for number, step in enumerate(steps, 1):
        chain.run(step, is_last=all(later.name == "Fuse" for later in steps[number:]))
    return chain.result()


class _Chain:
    """The strings of all tokens after the steps so far."""

    def __init__(self, spelling: Vocabulary) -> None:
        self._numbers = spelling.ids
        self._forms: _Forms = (spelling.strings,) * 3
        self._fallback: dict[int, int] = {}  # bytes by index, after ByteFallback
        self._is_joined = self._is_bytes = False
        self._sees: str | None = None  # the step that tested the position of a string
        self._decoding = Decoding()

    def run(self, step: Step, *, is_last: bool) -> None:
        match step.name:
            case "Fuse" | "ByteLevel":
                self._join(step)
            case "ByteFallback":
                self._fall_back(step)
            case _ if self._is_joined:
                self._edit(step)
            case _ if self._fallback:
                self._change_characters(step)
            case "Metaspace" if is_last:
                self._map_marks(step)
            case _:
                self._map(step)

    def _map_marks(self, step: Step) -> None:
        """The first token loses its marks; if some token has inner ones, by an edit instead."""
        forms = self._forms
        self._map(step)
        between, first, _ = self._forms
        edit = step.on_strings
        is_suffix = not isinstance(Suffixes.of(first, between), ByteStrings)
        if isinstance(edit, ReplaceLiteral) and not is_suffix:
            self._forms = forms
            self._decoding = replace(self._decoding, byte_fallback=True)
            self._add(replace(edit, is_in_first_token=True))

    def _map(self, step: Step) -> None:
        if step.on_strings is None:
            _refuse(step.path, f"{step.name} of each token", f"put the {step.name} after a Fuse")
        if step.sees_first or step.sees_last:
            if self._sees:
                _refuse(step.path, f"{step.name} after {self._sees}", "use one of the two")
            self._sees = step.name
        self._change(functools.partial(_mapped, step), step.sees_first, step.sees_last)

    def _change(
        self,
        changed: Callable[[ByteStrings, bool, bool], ByteStrings],
        sees_first: bool,
        sees_last: bool,
    ) -> None:
        """Most chains do not depend on positions: then the three forms are one object."""
        texts, first, last = self._forms
        between = changed(texts, False, False)
        self._forms = (
            between,
            between if first is texts and not sees_first else changed(first, True, False),
            between if last is texts and not sees_last else changed(last, False, True),
        )

    def _fall_back(self, step: Step) -> None:
        if self._fallback:
            _refuse(step.path, "a second ByteFallback", "leave out one of the two")
        if self._is_joined:  # the joined text may have become the name of a byte
            self._add(ParseByteToken(step.path))
            return
        self._fallback, *others = map(_bytes_of, self._forms)
        if any(other != self._fallback for other in others):
            found = "ByteFallback where an id is a byte only in some positions"
            _refuse(step.path, found, "put ByteFallback first")
        if self._fallback:
            self._decoding = replace(self._decoding, byte_fallback=True)

    def _join(self, step: Step) -> None:
        is_bytes = step.name == "ByteLevel"
        if is_bytes and (self._is_joined or self._fallback):
            other = "ByteFallback" if self._fallback else "a decoder that joins the text"
            _refuse(step.path, f"ByteLevel after {other}", "put ByteLevel first, or leave it out")
        self._is_joined = True
        self._is_bytes |= is_bytes

    def _change_characters(self, step: Step) -> None:
        """After ByteFallback a run of bytes is one string of the list. Replacing a character has
        the same effect on the joined text, so the strings need not be known.
        """
        edit = step.on_strings
        if not _is_of_one_character(edit):
            hint = "between ByteFallback and Fuse use only Metaspace, or Replace of one character"
            _refuse(step.path, f"{step.name} between ByteFallback and Fuse", hint)
        if step.sees_first and (self._sees or self._decoding.edits):
            found = f"{step.name} after other decoders and ByteFallback"
            _refuse(step.path, found, "leave out the other decoders")
        self._replace_character(edit)

    def _edit(self, step: Step) -> None:
        if step.on_text is None:
            hint = "after joining use only Replace, Metaspace, ByteFallback or Strip of the start"
            _refuse(step.path, f"{step.name} after a decoder that joins the text", hint)
        if _is_of_one_character(step.on_text) and not self._is_bytes:
            self._replace_character(step.on_text)
        else:
            self._add(step.on_text)

    def _replace_character(self, edit: ReplaceLiteral) -> None:
        """In each token; and, if bytes can spell the character, in the joined text, in which it
        then no longer comes from tokens. After other edits, which do not apply to tokens, only in
        the text.
        """
        values = {*self._fallback.values()}
        is_spelled = values.issuperset(edit.pattern.encode()) or (
            edit.pattern == _REPLACEMENT and max(values, default=0) >= 0x80
        )
        was_edited = bool(self._decoding.edits)
        if was_edited or is_spelled:
            self._add(edit)
        if was_edited:
            return

        def replaced(texts: ByteStrings, first: bool, last: bool) -> ByteStrings:
            kept = {index: texts[index] for index in self._fallback}
            return _replaced(texts, edit, first).replaced(kept)

        self._change(replaced, edit.in_first_run not in (None, edit.content), False)

    def _add(self, edit: TextEdit) -> None:
        self._decoding = replace(self._decoding, edits=(*self._decoding.edits, edit))

    def result(self) -> tuple[Tokens, Decoding]:
        texts, first, last = self._forms
        between = self._by_id(texts)
        firsts, lasts = (between if some is texts else self._by_id(some) for some in (first, last))
        is_hole = np.ones(len(between), np.bool_)
        is_hole[self._numbers] = False
        fallback = np.zeros(len(between), np.bool_)
        fallback[self._numbers[[*self._fallback]]] = True
        kinds, special = np.zeros(len(between), np.uint8), np.zeros(len(between), np.bool_)
        cut = firsts if firsts is between else Suffixes.of(firsts, between)
        tokens = Tokens(between, cut, lasts, is_hole, kinds, special, fallback)
        return tokens, self._decoding

    def _by_id(self, forms: ByteStrings) -> ByteStrings:
        if self._is_bytes:
            spelled, is_spelled = all_to_bytes(forms)
            others = np.flatnonzero(~is_spelled).tolist()
            forms = spelled.replaced({index: forms[index] for index in others})
        forms = forms.replaced({index: bytes([byte]) for index, byte in self._fallback.items()})
        if not (self._numbers[1:] > self._numbers[:-1]).all():
            forms = forms.take(np.argsort(self._numbers))
        count = int(self._numbers.max()) + 1 if len(forms) else 0
        if count == len(forms):
            return forms  # there is no hole, and the ends are not needed twice
        sizes = np.zeros(count, np.uint32)
        sizes[np.sort(self._numbers)] = forms.sizes
        return ByteStrings(forms.data, np.cumsum(sizes, dtype=np.uint32))


def _mapped(step: Step, texts: ByteStrings, first: bool, last: bool) -> ByteStrings:
    """The result of a step for strings that are between others, or the first, or the last."""
    change = step.on_strings
    if isinstance(change, ReplaceLiteral):
        return _replaced(texts, change, first)
    assert change is not None
    return ByteStrings.of(change(text.decode(), first, last).encode() for text in texts)


def _is_of_one_character(edit: object) -> TypeGuard[ReplaceLiteral]:
    """Whether an edit replaces one character, by texts without it: then divisions do not matter."""
    if not isinstance(edit, ReplaceLiteral):
        return False
    return len(edit.pattern) == 1 and edit.pattern not in edit.content


def _bytes_of(texts: ByteStrings) -> dict[int, int]:
    """The bytes that ByteFallback makes of strings, by index."""
    indices = texts.indices_of_prefix(b"<0x").tolist()
    return {at: int(text[3:5], 16) for at in indices if _BYTE_TOKEN.fullmatch(text := texts[at])}


def _replaced(texts: ByteStrings, edit: ReplaceLiteral, first: bool) -> ByteStrings:
    content = edit.in_first_run if first and edit.in_first_run is not None else edit.content
    return texts.changed(lambda joined: joined.replace(edit.pattern.encode(), content.encode()))


def _refuse(path: str, found: str, hint: str) -> NoReturn:
    raise UnsupportedError(path, f"{found} is not supported", hint)
