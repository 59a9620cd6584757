"""Finds the frame of a chat template, at conversion, by rendering the template on probes.

With an ordinary conversation (an optional system message, then user and assistant alternately, the
user last), most templates only put fixed texts around the messages. The frame that the probes show
is compared with jinja2 on random conversations. What templates do beyond this, with tools,
documents or images, is not part of a frame.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, product
from types import MappingProxyType
from typing import Any, Final

from tokexport.chat.environment import compared, compiled, literals
from tokexport.chat.frame import Frame, Message, Opening, marks, straddling
from tokexport.chat.render import render
from tokexport.errors import ChatTemplateError

CONVERSATIONS: Final = 200
MAX_NUMBER: Final = 255  # of special tokens and of reserved texts, and of bytes of one of these
_TURNS: Final = 6
_SPACES: Final = (" ", "  ", "\n", "\n\n", "\t", "\u3000")
# Separated by spaces.
_WORDS: Final = "a the Hello naïve 中文 1234 {{y}} {%if%} \\n ' \" <b> </b> &amp; [ ] <| |> None"


class _NoFrameError(Exception):
    """Says why a template has no frame."""


def find_frame(
    source: str,
    variables: Mapping[str, Any] = MappingProxyType({}),
    special: Mapping[str, bool] = MappingProxyType({}),
) -> tuple[Frame | None, str]:
    """The frame of a chat template, or None and a sentence that says why it has none that a file
    can hold. ``variables``: the special tokens that it reads. ``special``: the contents of all
    special tokens, each with whether it is looked for in text rewritten by the normalizer, where
    offsets are unknown.

    >>> template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    >>> find_frame(template)[0].user_to_reply
    '[assistant]'
    """
    jinja = _Jinja(source, variables)
    try:
        compiled(source)
        if "strftime_now" in source:
            raise _NoFrameError("the chat template writes the date")
        frame = _with_reserved(jinja, _with_whitespace(jinja, _between(jinja)))
        _check(jinja, frame)
        _check_marks(frame, special)
        return frame, ""
    except (_NoFrameError, ChatTemplateError) as error:
        return None, str(error)


@dataclass(frozen=True, slots=True)
class _Jinja:
    source: str
    variables: Mapping[str, Any]

    def render(self, messages: Iterable[Message]) -> str | None:
        """The prompt, or None if the template fails."""
        try:
            return render(
                {"default": self.source},
                messages,
                add_generation_prompt=True,
                variables=self.variables,
            )
        except ChatTemplateError:
            return None

    def same(self, frame: Frame, messages: Sequence[Message]) -> bool:
        return self.render(messages) == frame.render(messages)


def conversation(contents: Sequence[str], *, system: bool) -> list[Message]:
    """Messages with these contents, alternating; with ``system`` the first is a system message."""
    roles = chain(["system"] * system, cycle(("user", "assistant")))
    return [{"role": role, "content": text} for text, role in zip(contents, roles, strict=False)]


def _between(jinja: _Jinja) -> Frame:
    """The texts between the messages of probes, which must be the same in all of them."""
    start, reply = _segments(jinja, 1, system=False)
    first = _segments(jinja, 3, system=False)
    answer, again = first[1], first[2]
    if first != [start, answer, again, reply]:
        raise _NoFrameError(
            "the chat template writes the first messages differently from later ones"
        )
    longer = _segments(jinja, 7, system=False)
    if longer != [start, *[answer, again] * 3, reply]:
        raise _NoFrameError("the chat template does not write all turns the same way")
    frame = Frame(start, None, answer, again, reply)
    try:
        before, after, _ = _segments(jinja, 2, system=True)
        texts = _segments(jinja, 6, system=True)
    except _NoFrameError:
        return frame
    if texts != [before, after, *[answer, again] * 2, reply]:
        return frame
    return Frame(start, Opening(before, after), answer, again, reply)


def _segments(jinja: _Jinja, count: int, *, system: bool) -> list[str]:
    """The texts before, between and after the messages of a probe."""
    contents = [f"Probe{number}Text" for number in range(count)]
    text = jinja.render(conversation(contents, system=system))
    if text is None:
        raise _NoFrameError("the chat template refuses alternating messages of user and assistant")
    segments = []
    for content in contents:
        before, found, text = text.partition(content)
        if not found or content in text:
            raise _NoFrameError("the chat template leaves out, repeats or moves a message")
        segments.append(before)
    return [*segments, text]


def _with_whitespace(jinja: _Jinja, frame: Frame) -> Frame:
    """Adds what the template does with white space around messages, and with empty messages."""
    if not _covers(jinja, frame, ["ordinary"]):
        raise _NoFrameError("the chat template changes the text of messages")
    # Llama 2 strips a system and a user message as one.
    frames = [frame, replace(frame, system=None)] if frame.system else [frame]
    tries = [tried for each in frames for tried in _ways(each, ("kept", "stripped"))]
    # QwQ drops some white space at the start of answers: they must have none.
    trimmed = _ways(frame, ("kept", "stripped", "trimmed"))
    for tried in (*tries, *sorted(trimmed, key=lambda one: len(one.trimmed))):
        if _covers(jinja, tried, ["x", " \n\u3000x\t \n", "\n\t x \u3000\n"]):
            takes_empty = _covers(jinja, tried, ["x", "", " "])
            return replace(tried, takes_empty=takes_empty)
    raise _NoFrameError("the chat template changes white space within messages")


def _ways(frame: Frame, ways: Sequence[str]) -> Iterator[Frame]:
    """The frame with each way to treat the white space at the ends of each role's messages."""
    roles = ("user", "assistant", *(["system"] if frame.system else []))
    for chosen in product(ways, repeat=len(roles)):
        by_role = [*zip(roles, chosen, strict=True)]
        stripped, trimmed = (
            frozenset(role for role, way in by_role if way == name)
            for name in ("stripped", "trimmed")
        )
        yield replace(frame, stripped=stripped, trimmed=trimmed)


def _covers(jinja: _Jinja, frame: Frame, contents: Sequence[str]) -> bool:
    """Whether the frame is right for all conversations with these contents that it takes."""
    return all(jinja.same(frame, one) for one in _with_each(frame, contents) if frame.takes(one))


def _with_reserved(jinja: _Jinja, frame: Frame) -> Frame:
    """Adds the literals of the template that, in a message, change how the message is written."""
    reserved = []
    for literal in sorted({text for text in literals(jinja.source) if text.strip()}):
        texts = ("{}", "{}b", "a{}", "a {} b", "a{}b{}c")
        contents = [text.replace("{}", literal) for text in texts]
        if _covers(jinja, frame, contents):
            continue
        if len(literal) < 3 or literal.isalnum():
            raise _NoFrameError(f"the chat template changes messages with {literal!r}")
        reserved.append(literal)
    # A template may look for two texts together, such as a beginning and an end.
    markup = [text for text in compared(jinja.source) if text.strip() and not text.isalnum()]
    for first, last in product(markup, repeat=2):
        content = f"{first} x {last}"
        is_reserved = any(text in content for text in reserved)
        if not is_reserved and not _covers(jinja, frame, [content]):
            reserved.append(first)
    least = [text for text in reserved if not any(one in text for one in reserved if one != text)]
    return replace(frame, reserved=tuple(least))


def _with_each(frame: Frame, contents: Sequence[str]) -> Iterator[list[Message]]:
    """Conversations with each content in each position, and in all."""
    for content in contents:
        for system in (False, True) if frame.system else (False,):
            for place in range(5 + system):
                texts = ["ordinary"] * (5 + system)
                texts[place] = content
                yield conversation(texts, system=system)
            yield conversation([content] * (5 + system), system=system)


def _check(jinja: _Jinja, frame: Frame) -> None:
    """Compares the frame with jinja2 on random conversations that it covers."""
    chance = random.Random(jinja.source)
    words = [*_SPACES, *_WORDS.split(), *(text for text in literals(jinja.source) if text)]
    compared = 0
    while compared < CONVERSATIONS:
        messages = random_conversation(chance, words, with_system=frame.system is not None)
        if not frame.takes(messages):
            continue
        if not jinja.same(frame, messages):
            raise _NoFrameError("the chat template writes some messages differently from others")
        compared += 1


def _check_marks(frame: Frame, special: Mapping[str, bool]) -> None:
    """Refuses a frame whose special tokens a file cannot mark."""
    texts = frame.texts
    if token := straddling([text for text in texts if text], special):
        raise _NoFrameError(
            f"the special token {token!r} could begin in a message and end in the markup"
        )
    if marks(texts, [token for token, is_rewritten in special.items() if is_rewritten]):
        raise _NoFrameError("its special tokens are looked for in normalized text")
    sizes = [len(text.encode()) for text in frame.reserved]
    if max([len(marks(texts, special)), len(sizes), *sizes]) > MAX_NUMBER:
        raise _NoFrameError("it has more special tokens or reserved texts than a file can hold")


def random_conversation(
    chance: random.Random, words: Sequence[str], *, with_system: bool
) -> list[Message]:
    """A conversation of one to six turns, with or without a system message."""
    system = with_system and chance.random() < 0.5
    count = 2 * chance.randrange(_TURNS) + 1 + system
    contents = ["".join(chance.choices(words, k=chance.randrange(8))) for _ in range(count)]
    return conversation(contents, system=system)
