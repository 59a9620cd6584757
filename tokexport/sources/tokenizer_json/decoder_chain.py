"""What a chain of decoders makes of every token, worked out before there is a text.

The reference gives a list of strings, one a token, from decoder to decoder, and joins what comes
out. A decoder looks at each string alone, and perhaps at whether it is the first or the last: so
each token has at most four forms (between others, first, last, only). ByteFallback makes one string
of a run of bytes: what is done to it after that is expressed by ``Decoding.runs``. Fuse and
ByteLevel join the list; what follows them works on the whole text and is expressed by the
forms of the tokens, where no match reaches over the end of one, or by ``Decoding``. Source:
``tokenizers``, the module ``decoders``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn, TypeAlias

from tokexport.errors import UnsupportedError
from tokexport.model import (
    ByteName,
    Decoding,
    FirstIs,
    Matching,
    Replacing,
    RunEdit,
    RunEdits,
    TextEdit,
    Token,
    TokenKind,
    Trimmed,
)
from tokexport.sources.json_node import show
from tokexport.sources.tokenizer_json.decoder_edits import check_edits
from tokexport.sources.tokenizer_json.decoder_endings import run_at_end
from tokexport.sources.tokenizer_json.decoder_steps import (
    DecoderStep,
    FallbackStep,
    FuseStep,
    RepeatsStep,
    Step,
    StripStep,
    fallback_byte,
    literal,
    replaced,
)
from tokexport.sources.tokenizer_json.decoder_texts import Reach
from tokexport.unicode.byte_alphabet import decoded, to_bytes

# Between others, first, last, only.
Forms: TypeAlias = tuple[bytes, bytes, bytes, bytes]
_Strings: TypeAlias = tuple[str, str, str, str]
_FIRST: Final = (False, True, False, True)
_LAST: Final = (False, False, True, True)
_MOST: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Decoded:
    """What tokens decode to: the forms of each id, the ids that are bytes of a character, and what
    is done to the whole.
    """

    forms: Mapping[int, Forms]
    fallback: frozenset[int]
    decoding: Decoding

    def token(self, number: int, kind: TokenKind = TokenKind.MODEL, special: bool = False) -> Token:
        """The token of an id."""
        middle, first, last, only = self.forms[number]
        token = Token(
            middle,
            kind,
            special,
            first=None if first == middle else first,
            last=None if last == middle else last,
            fallback=number in self.fallback,
        )
        return token if token.forms[-1] == only else replace(token, only=only)


def decode_forms(spelling: Mapping[int, str], steps: Sequence[DecoderStep]) -> Decoded:
    """What ``steps`` make of the tokens whose strings are ``spelling``. UnsupportedError for a
    chain that cannot be expressed.
    """
    chain = _Chain(spelling)
    for step in steps:
        chain.run(step)
    return chain.result()


class _Chain:
    """The strings of all tokens on their way through the chain; then, once they are joined, their
    bytes.
    """

    def __init__(self, spelling: Mapping[int, str]) -> None:
        self._strings: dict[int, _Strings] = {
            number: (text,) * 4 for number, text in spelling.items()
        }
        self._bytes: dict[int, Forms] = {}
        self._fallback: dict[int, int] = {}
        self._joined = False
        self._lossy = False  # joined as bytes, which need not be UTF-8
        self._first = self._last = False  # whether a form differs by place so far
        self._vanished: frozenset[int] = frozenset()  # left out by CTC, whatever follows it
        self._decoding = Decoding()
        self._edited: list[tuple[str, Decoding]] = []  # after each step that adds edits

    def run(self, step: DecoderStep) -> None:
        before = self._decoding
        self._run(step)
        if (self._decoding.edits, self._decoding.runs) != (before.edits, before.runs):
            self._edited.append((step.path, self._decoding))

    def _run(self, step: DecoderStep) -> None:
        if isinstance(step, FuseStep):
            self._fuse(step)
        elif self._joined:
            self._on_whole_text(step)
        elif isinstance(step, FallbackStep):
            self._fall_back(step)
        elif isinstance(step, RepeatsStep):
            self._repeat_once(step)
        elif isinstance(step, StripStep):
            self._edit_runs(step.path, step.edits, step.edits)
            self._map(lambda text, first, last: step.apply(text))
        elif self._fallback and step.suffix is not None:
            self._map_but_runs(step, step.suffix)
        else:
            whole = step.whole or ()
            self._edit_runs(step.path, whole, whole if step.behind is None else step.behind)
            self._first |= step.sees_first
            self._last |= step.suffix is not None
            self._map(step.apply)

    def _map_but_runs(self, step: Step, suffix: str) -> None:
        """Where no run of bytes can have the suffix, it does not matter which is the last; one that
        can may have any number of them.
        """
        if self._runs_reach().may_have(suffix):
            found = (
                f"{step.name} between ByteFallback and Fuse, whose suffix {show(suffix)} a run of"
                " bytes may have,"
            )
            supported = (
                "what it makes of the start of a run depends on what follows the run: put it before"
                " ByteFallback"
            )
            _refuse(step.path, found, supported)
        self._last = True
        self._map(step.apply)

    def _map(self, apply: Callable[[str, bool, bool], str]) -> None:
        """Most chains do not look at places at all: then one form is worked out and not four."""
        if not self._first and not self._last:
            for number, forms in self._strings.items():
                self._strings[number] = (apply(forms[0], False, False),) * 4
            return
        for number, forms in self._strings.items():
            middle, first, last, only = (
                apply(*form) for form in zip(forms, _FIRST, _LAST, strict=True)
            )
            self._strings[number] = middle, first, last, only

    def _edit_runs(
        self, path: str, first: tuple[RunEdit, ...], others: tuple[RunEdit, ...]
    ) -> None:
        """After ByteFallback a run of bytes is one string of the list; what it is nobody knows
        yet.
        """
        if not self._fallback:
            return
        if self._decoding.repeats_once:
            _refuse(
                path,
                "what follows CTC and ByteFallback",
                "put Fuse before it, or put it before ByteFallback",
            )
        runs = self._decoding.runs or RunEdits((), ())
        runs = RunEdits(runs.first + first, runs.others + others)
        self._decoding = replace(self._decoding, runs=runs)

    def _fall_back(self, step: FallbackStep) -> None:
        if self._decoding.runs is not None:
            _refuse(
                step.path,
                "ByteFallback after ByteFallback and what follows it",
                "it is needed once",
            )
        if self._fallback:
            # No string beside a run is a byte, or it would be in it. The run itself may have become
            # the name of one.
            self._edit_runs(step.path, (ByteName(),), (ByteName(),))
            return
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
        """The reference compares strings; ids say the same where no two ids have one string."""
        if self._fallback:
            _refuse(step.path, "CTC after ByteFallback", "use the one or the other")
        if self._decoding.repeats_once or self._first or self._last:
            _refuse(
                step.path,
                "CTC after a decoder that looks at the place of a token",
                "put CTC first, and once",
            )
        owners: dict[str, int] = {}
        for number, (text, *_) in self._strings.items():
            other = owners.setdefault(text, number)
            if other != number:
                _refuse(
                    step.path,
                    f"one string for the ids {other} and {number}, which CTC takes for one",
                    "make them differ",
                )
        self._map(lambda text, first, last: replaced(text, step.replacements))
        self._decoding = replace(self._decoding, repeats_once=True, first_is=FirstIs.CONTENT)
        self._vanished = frozenset(
            number for number, forms in self._strings.items() if not forms[0]
        )

    def _fuse(self, step: FuseStep) -> None:
        if self._joined:
            if step.byte_level:
                self._spell_bytes(step.path)
            return
        if step.byte_level and self._fallback:
            self._check_runs(step.path)
        self._joined = True
        self._lossy = step.byte_level
        to_bytes = decoded if step.byte_level else str.encode
        for number, forms in self._strings.items():
            if number in self._fallback:
                self._bytes[number] = (bytes([self._fallback[number]]),) * 4
            elif forms[0] is forms[1] is forms[2] is forms[3]:
                self._bytes[number] = (to_bytes(forms[0]),) * 4
            else:
                middle, first, last, only = map(to_bytes, forms)
                self._bytes[number] = middle, first, last, only
        if step.byte_level and self._fallback:
            self._join_characters(step.path)

    def _check_runs(self, path: str) -> None:
        """ByteLevel leaves a run as it is, where none can have a character of GPT-2's alphabet that
        stands for another.
        """
        changed = self._runs_reach().respelled
        if changed:
            found = f"ByteLevel after ByteFallback, where a run of bytes may have {show(changed)},"
            supported = (
                "what it makes of that depends on the rest of the run, which may be of any length:"
                " use the one or the other"
            )
            _refuse(path, found, supported)

    def _join_characters(self, path: str) -> None:
        """ByteLevel joins tokens to a character, but not a run to a token."""
        if self._forget_ascii():
            return
        for number, forms in self._bytes.items():
            if number not in self._fallback and any(not _is_text(form) for form in forms):
                supported = "use the one or the other"
                _refuse(
                    path,
                    f"ByteLevel after ByteFallback, where the id {number} is a part of a"
                    " character,",
                    supported,
                )

    def _forget_ascii(self) -> bool:
        """Takes bytes that are characters for ordinary tokens, where nothing is done to a run as a
        whole.
        """
        is_ascii = self._decoding.runs is None and all(
            value < 0x80 for value in self._fallback.values()
        )
        if is_ascii:
            self._fallback = {}
            self._decoding = replace(self._decoding, byte_fallback=False)
        return is_ascii

    def _runs_reach(self) -> Reach:
        runs = self._decoding.runs
        reach = Reach(frozenset(), frozenset(self._fallback.values()))
        return reach if runs is None else reach.behind(runs.first + runs.others)

    def _text_reach(self) -> Reach:
        """Of what the joined text can be."""
        forms = {
            form
            for number, forms in self._bytes.items()
            if number not in self._fallback
            for form in forms
        }
        reach = self._runs_reach()
        if self._lossy:
            reach = Reach(reach.characters, reach.values.union(*forms))
        else:
            reach = Reach(reach.characters.union(*(form.decode() for form in forms)), reach.values)
        return reach.behind(self._decoding.edits)

    def _spell_bytes(self, path: str) -> None:
        """ByteLevel leaves a text as it is that has one character which the alphabet lacks; so no
        token may have one. Nor does it change one without a character that stands for another byte.
        """
        if not self._text_reach().respelled:
            self._lossy = True
            return
        if self._fallback and not self._forget_ascii():
            supported = (
                "what it makes of the start of a run of bytes depends on the rest of the text: use"
                " the one or the other"
            )
            _refuse(path, "ByteLevel after ByteFallback", supported)
        if (
            self._lossy
            or self._is_edited
            or self._decoding.strip_left[1]
            or self._decoding.strip_right[1]
        ):
            _refuse(path, "ByteLevel after a decoder that changes the joined text", "put it first")
        for number, forms in self._bytes.items():
            spelled = [to_bytes(form.decode()) for form in forms]
            if None in spelled:
                found = (
                    "ByteLevel after a decoder that joins the text, where GPT-2's alphabet lacks"
                    f" a character of the id {number},"
                )
                _refuse(path, found, "put it first")
            middle, first, last, only = (form or b"" for form in spelled)
            self._bytes[number] = middle, first, last, only
        self._lossy = True

    def _on_whole_text(self, step: Step | StripStep | RepeatsStep | FallbackStep) -> None:
        if isinstance(step, StripStep):
            self._strip(step)
        elif isinstance(step, FallbackStep):
            self._edit(ByteName())
        elif isinstance(step, RepeatsStep):
            self._edit_all(step.path, "CTC", literal(step.replacements))
        else:
            self._edit_all(step.path, step.name, step.whole)

    def _strip(self, step: StripStep) -> None:
        left, right = self._decoding.strip_left, self._decoding.strip_right
        others = {character for character, _ in (left, right)} - {"", step.character}
        if self._is_edited or others or step.character == "\ufffd":
            self._edit(*step.edits)
            return
        self._decoding = replace(
            self._decoding,
            strip_left=_more(step, left, step.start),
            strip_right=_more(step, right, step.stop),
        )

    @property
    def _is_edited(self) -> bool:
        return bool(self._decoding.edits) or self._decoding.runs is not None

    def _edit(self, *edits: TextEdit) -> None:
        """The edits are done to the whole text, and so is what would be dropped at its ends before."""
        left, right = self._decoding.strip_left, self._decoding.strip_right
        before = tuple(
            edit for edit in (Trimmed(*left), Trimmed(*right, at_end=True)) if edit.count
        )
        edits = (*self._decoding.edits, *before, *edits)
        self._decoding = replace(
            self._decoding, strip_left=("", 0), strip_right=("", 0), edits=edits
        )

    def _edit_all(self, path: str, name: str, edits: Sequence[TextEdit] | None) -> None:
        if edits is None:
            _refuse(path, f"{name} after a decoder that joins the text", "put it before that one")
        for edit in edits:
            if isinstance(edit, Replacing) and len(edit.rules) == 1:
                self._replace(*edit.rules[0])
            elif isinstance(edit, Matching):
                self._match(path, edit)
            else:
                self._edit(edit)

    def _match(self, path: str, edit: Matching) -> None:
        """A run at the end of the text that is dropped may be of any length, as long as nothing
        else is done to the text.
        """
        among = self._text_reach().met()
        stripped = {self._decoding.strip_left[0], self._decoding.strip_right[0]}
        ending = "" if edit.content or self._is_edited else run_at_end(edit.split, among)
        if ending not in {"", "\ufffd"} and stripped <= {"", ending}:
            self._strip(StripStep(path, ending, 0, _MOST))
        else:
            self._edit(replace(edit, among=among))

    def _replace(self, pattern: str, content: str) -> None:
        """In each token, where no match reaches over its end, so that nothing is left to do when
        there is a text; else in that.
        """
        wanted, given = pattern.encode(), content.encode()
        if self._is_edited or not self._is_within_tokens(pattern, content):
            self._edit(Replacing(((pattern, content),)))
            return
        for number, value in self._fallback.items():
            if value == wanted[0]:
                self._fallback[number] = given[0]
                self._bytes[number] = (given,) * 4
        for number, forms in self._bytes.items():
            if number not in self._fallback:
                middle, first, last, only = (form.replace(wanted, given) for form in forms)
                self._bytes[number] = middle, first, last, only

    def _is_within_tokens(self, pattern: str, content: str) -> bool:
        """Whether a replacement in the whole text is the same as one in each token."""
        stripped = {self._decoding.strip_left[0], self._decoding.strip_right[0]} - {""}
        if stripped and (not content or not stripped.isdisjoint(pattern + content)):
            return False
        if "\ufffd" in pattern or (self._lossy and not content):
            # what is no character becomes U+FFFD when bytes are joined, and what stands around a
            # gap may join
            return False
        wanted, given = pattern.encode(), content.encode()
        # One ASCII character by another is as good byte by byte.
        if wanted[0] in self._fallback.values() and not (
            len(wanted) == len(given) == 1 and (pattern + content).isascii()
        ):
            return False
        beginnings = tuple(wanted[:length] for length in range(1, len(wanted)))
        return not beginnings or not any(
            form.endswith(beginnings)
            for number, forms in self._bytes.items()
            if number not in self._fallback
            for form in set(forms)
        )

    def result(self) -> Decoded:
        if not self._joined:
            self._fuse(FuseStep("decoder"))
        check_edits(self._edited)
        decoding = self._decoding
        self._bytes |= dict.fromkeys(self._vanished, (b"",) * 4)
        if decoding.first_is is FirstIs.CONTENT:
            if not self._first and not self._last:
                decoding = replace(decoding, first_is=FirstIs.ID)  # nobody asks
            elif any(
                not forms[0] and number not in self._vanished
                for number, forms in self._bytes.items()
            ):
                _refuse(
                    "decoder", "a decoder after CTC that makes a token empty", "put it before CTC"
                )
        # What CTC leaves out divides no run.
        fallback = frozenset(self._fallback) | (self._vanished if self._fallback else frozenset())
        return Decoded(self._bytes, fallback, decoding)


def _more(step: StripStep, so_far: tuple[str, int], count: int) -> tuple[str, int]:
    _, stripped = so_far
    return (step.character, min(stripped + count, _MOST)) if count else so_far


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _refuse(path: str, found: str, supported: str) -> NoReturn:
    raise UnsupportedError(path, f"{found} is not supported", supported)
