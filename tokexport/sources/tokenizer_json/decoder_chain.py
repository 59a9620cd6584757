"""What a chain of decoders makes of every token, worked out before there is a text.

The reference passes a list of strings, one a token, from decoder to decoder, and joins what comes
out. A decoder changes each string by itself, and may ask whether it is the first or the last: so a
token has few forms. ByteFallback makes one string of a run of bytes, of which no token alone says
what it holds; Fuse and ByteLevel join the list. What follows them is done to the tokens as long as
that is the same, else to the joined text (``Decoding.edits``), else it is refused. Source:
``tokenizers``, the module ``decoders``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn, TypeAlias

from tokexport.errors import UnsupportedError
from tokexport.model import Decoding, ParseByteToken, ReplaceLiteral, TextEdit, Token, TokenKind
from tokexport.sources.tokenizer_json.decoder_steps import (
    CharacterStep,
    DecoderStep,
    FallbackStep,
    JoinStep,
    RepeatsStep,
    Step,
    fallback_byte,
    replaced,
)
from tokexport.unicode.byte_alphabet import decoded

# Between others, first, last.
_Strings: TypeAlias = tuple[str, str, str]
_FIRST: Final = (False, True, False)
_LAST: Final = (False, False, True)
_REPLACEMENT: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Decoded:
    """What tokens decode to: the forms of each id (between others, first, last), the ids that are
    bytes of a character, and what is done to the whole.
    """

    forms: Mapping[int, tuple[bytes, bytes, bytes]]
    fallback: frozenset[int]
    decoding: Decoding

    def token(self, number: int, kind: TokenKind = TokenKind.MODEL, special: bool = False) -> Token:
        """The token of an id."""
        middle, first, last = self.forms[number]
        return Token(
            middle,
            kind,
            special,
            first=None if first == middle else first,
            last=None if last == middle else last,
            fallback=number in self.fallback,
        )


def decode_forms(spelling: Mapping[int, str], steps: Sequence[DecoderStep]) -> Decoded:
    """What ``steps`` make of the tokens whose strings are ``spelling``. UnsupportedError for a
    chain that is not supported.
    """
    chain = _Chain(spelling)
    for step in steps:
        chain.run(step)
    return chain.result()


class _Chain:
    """The strings of all tokens on their way through the chain."""

    def __init__(self, spelling: Mapping[int, str]) -> None:
        self._strings: dict[int, _Strings] = {
            number: (text,) * 3 for number, text in spelling.items()
        }
        self._fallback: dict[int, int] = {}  # the bytes of ids after ByteFallback
        self._joined: JoinStep | None = None
        self._sees: str | None = None  # the step that asked for the place of a string
        self._decoding = Decoding()

    def run(self, step: DecoderStep) -> None:
        """Do one step."""
        match step:
            case JoinStep():
                self._join(step)
            case FallbackStep():
                self._fall_back(step)
            case RepeatsStep():
                self._repeat_once(step)
            case Step() if self._joined:
                self._edit(step)
            case Step() if self._fallback:
                self._change_characters(step)
            case Step():
                self._map(step)

    def _map(self, step: Step) -> None:
        """Most chains do not look at places at all: then one form is worked out and not three."""
        if step.sees_first or step.sees_last:
            if self._decoding.repeats_once or (
                self._sees is not None and (step.sees_last or self._sees == "BPEDecoder")
            ):
                _refuse(step.path, f"{step.name} after {self._sees or 'CTC'}", "either alone is")
            self._sees = step.name
        if self._sees is None:
            for number, (text, *_) in self._strings.items():
                self._strings[number] = (step.apply(text, False, False),) * 3
            return
        for number, forms in self._strings.items():
            middle, first, last = (
                step.apply(*form) for form in zip(forms, _FIRST, _LAST, strict=True)
            )
            self._strings[number] = middle, first, last

    def _fall_back(self, step: FallbackStep) -> None:
        if self._joined:
            if self._fallback:
                _refuse(step.path, "ByteFallback after ByteFallback", "it is needed once")
            # The joined text may have become the name of a byte.
            self._add(ParseByteToken(step.path))
            return
        if self._fallback or self._decoding.repeats_once:
            _refuse(step.path, "ByteFallback after ByteFallback or CTC", "either alone is")
        for number, forms in self._strings.items():
            values = {fallback_byte(form) for form in forms}
            if len(values) > 1:
                _refuse(
                    step.path,
                    f"the id {number}, which is a byte at some places only,",
                    "put ByteFallback first",
                )
            value = values.pop()
            if value is not None:
                self._fallback[number] = value
        if self._fallback:
            self._decoding = replace(self._decoding, byte_fallback=True)

    def _repeat_once(self, step: RepeatsStep) -> None:
        """The reference compares strings; ids say the same if no two ids have one string."""
        if self._joined or self._fallback or self._sees or self._decoding.repeats_once:
            _refuse(step.path, "CTC after other decoders", "put it first")
        owners: dict[str, int] = {}
        for number, (text, *_) in self._strings.items():
            other = owners.setdefault(text, number)
            if other != number:
                _refuse(
                    step.path,
                    f"one string for the ids {other} and {number}, which CTC takes for one,",
                    "make them differ",
                )
            self._strings[number] = (replaced(text, step.replacements),) * 3
        self._decoding = replace(self._decoding, repeats_once=True)

    def _join(self, step: JoinStep) -> None:
        if step.byte_level and (self._joined or self._fallback):
            other = "ByteFallback" if self._fallback else "a decoder that joins the text"
            _refuse(step.path, f"ByteLevel after {other}", "put it first, or leave it out")
        self._joined = self._joined or step

    def _change_characters(self, step: Step) -> None:
        """After ByteFallback a run of bytes is one string of the list. A step that replaces a
        character does the same to the joined text; then the list need not be known any more.
        """
        character = step.on_characters
        if character is None or character.character in character.content:
            _refuse(
                step.path,
                f"{step.name} between ByteFallback and Fuse",
                "a Replace of one character or a Metaspace is; put other decoders before"
                " ByteFallback or after Fuse",
            )
        if step.sees_first and (self._sees or self._decoding.edits):
            _refuse(step.path, f"{step.name} after other decoders and ByteFallback", "alone it is")
        self._replace_character(step.path, character)

    def _edit(self, step: Step) -> None:
        """Does to the joined text what a step does."""
        if step.on_text is None:
            _refuse(
                step.path,
                f"{step.name} after a decoder that joins the text",
                "a Replace, a Metaspace, a ByteFallback and a Strip of the start are",
            )
        for edit in step.on_text:
            if (
                isinstance(edit, ReplaceLiteral)
                and len(edit.pattern) == 1
                and edit.pattern not in edit.content
                and self._joined
                and not self._joined.byte_level
                and not self._decoding.edits
            ):
                character = CharacterStep(edit.pattern, edit.content, edit.content)
                self._replace_character(step.path, character)
            else:
                self._add(edit)

    def _replace_character(self, path: str, step: CharacterStep) -> None:
        """In each token, which is the same; and, if bytes can spell it, in the joined text, where
        no token has it any more. After other edits, which have not been done to the tokens, in the
        text alone.
        """
        values = {*self._fallback.values()}
        is_spelled = values.issuperset(step.character.encode()) or (
            step.character == _REPLACEMENT and max(values, default=0) >= 0x80
        )
        was_edited = bool(self._decoding.edits)
        if was_edited or is_spelled:
            in_first = None if step.in_first == step.content else step.in_first
            self._add(ReplaceLiteral(step.character, step.content, in_first, path))
        for number, forms in self._strings.items():
            if number not in self._fallback and not was_edited:
                middle, first, last = map(step.apply, forms, _FIRST)
                self._strings[number] = middle, first, last

    def _add(self, edit: TextEdit) -> None:
        self._decoding = replace(self._decoding, edits=(*self._decoding.edits, edit))

    def result(self) -> Decoded:
        """The forms of all tokens, and what is done to the joined text."""
        to_bytes: Callable[[str], bytes] = str.encode
        if self._joined and self._joined.byte_level:
            to_bytes = decoded
        forms = {}
        for number, (middle, first, last) in self._strings.items():
            content = to_bytes(middle)
            if number in self._fallback:
                content = bytes([self._fallback[number]])
                first = last = middle
            forms[number] = (
                content,
                content if first is middle else to_bytes(first),
                content if last is middle else to_bytes(last),
            )
        return Decoded(forms, frozenset(self._fallback), self._decoding)


def _refuse(path: str, found: str, supported: str) -> NoReturn:
    raise UnsupportedError(path, f"{found} is not supported", supported)
