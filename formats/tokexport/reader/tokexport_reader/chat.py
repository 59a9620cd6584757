"""Conversations to ids: FRAM (EXTRA.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from .added_tokens import Places
from .data import require, u32s
from .encode import encode
from .file import File

HAS_SYSTEM, TAKES_EMPTY, STRIP, TRIMMED = 1, 2, 4, 32
HEADER_SIZE, TEXT_COUNT, MOST = 40, 6, 255
ROLES = ("system", "user", "assistant")
START, BEFORE_SYSTEM, AFTER_SYSTEM, USER_TO_ASSISTANT, ASSISTANT_TO_USER, USER_TO_REPLY = range(6)

Message = tuple[str, bytes]  # a role and a text


@dataclass(frozen=True)
class Frame:
    """The section: six texts, where special tokens begin in each of them, and reserved texts."""

    flags: int
    texts: Sequence[bytes]
    marks: Sequence[Sequence[int]]
    reserved: Sequence[bytes]


def read_frame(file: File) -> Frame:
    """The section, checked."""
    require(b"FRAM" in file.sections, "TKX_E_NOT_FOUND")
    section = file.sections[b"FRAM"]
    require(len(section) >= HEADER_SIZE, "TKX_E_CORRUPT")
    flags, mark_count, reserved_count, text_size, *sizes = u32s(section, 0, 10)
    require(flags < 256 and mark_count <= MOST and reserved_count <= MOST, "TKX_E_CORRUPT")
    start = HEADER_SIZE + 4 * mark_count + 4 * reserved_count
    require(start + text_size == len(section), "TKX_E_CORRUPT")
    marks = u32s(section, HEADER_SIZE, mark_count)
    reserved_sizes = u32s(section, HEADER_SIZE + 4 * mark_count, reserved_count)
    require(all(1 <= size <= MOST for size in reserved_sizes), "TKX_E_CORRUPT")
    ends = [*accumulate([*sizes, *reserved_sizes], initial=0)]
    require(ends[-1] == text_size, "TKX_E_CORRUPT")
    places = [*pairwise(ends)]
    texts = [section[start + begin : start + end] for begin, end in places]
    inside = [[mark - begin for mark in marks if begin <= mark < end] for begin, end in places[:6]]
    return Frame(flags, texts[:TEXT_COUNT], inside, texts[TEXT_COUNT:])


def stripped(text: bytes) -> bytes:
    """Without the white space at its ends, as Python's ``str.strip`` defines it. Bytes that are not
    UTF-8 are not white space.
    """
    return text.decode(errors="surrogateescape").strip().encode(errors="surrogateescape")


def check_messages(frame: Frame, messages: Sequence[Message]) -> None:
    """Checks whether the frame supports these messages."""
    first = messages[:1] and messages[0][0] == "system" and frame.flags & HAS_SYSTEM
    rest = messages[1:] if first else messages
    for number, (role, text) in enumerate(messages):
        turn = number - (1 if first else 0)
        require(turn < 0 or role == ("assistant" if turn % 2 else "user"), "TKX_E_ROLE")
        require(bool(frame.flags & TAKES_EMPTY or stripped(text)), "TKX_E_MESSAGE")
        is_trimmed = frame.flags & TRIMMED << ROLES.index(role)
        require(not is_trimmed or text == stripped(text), "TKX_E_MESSAGE")
        require(not any(part in text for part in frame.reserved), "TKX_E_MESSAGE")
    require(len(rest) % 2 == 1, "TKX_E_ROLE")


def chat_prompt(frame: Frame, messages: Sequence[Message]) -> tuple[bytes, list[int]]:
    """The prompt, and where special tokens may begin in it."""
    check_messages(frame, messages)
    prompt, marks = b"", []
    before = BEFORE_SYSTEM if messages[0][0] == "system" else START
    for role, text in messages:
        marks += [len(prompt) + mark for mark in frame.marks[before]]
        keeps = not frame.flags & STRIP << ROLES.index(role)
        prompt += frame.texts[before] + (text if keeps else stripped(text))
        before = {
            "system": AFTER_SYSTEM,
            "user": USER_TO_ASSISTANT,
            "assistant": ASSISTANT_TO_USER,
        }[role]
    marks += [len(prompt) + mark for mark in frame.marks[USER_TO_REPLY]]
    return prompt + frame.texts[USER_TO_REPLY], marks


def encode_chat(file: File, messages: Sequence[Message]) -> list[int]:
    """The ids of a conversation, up to where the model continues."""
    prompt, marks = chat_prompt(read_frame(file), messages)
    return encode(file, prompt, Places(frozenset(marks)))
