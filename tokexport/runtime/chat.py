"""Conversations to ids by the frame of the file's chat template, in the C core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tokexport.errors import ChatTemplateError
from tokexport.runtime.metadata import damaged, section

if TYPE_CHECKING:
    from tokexport.chat.frame import Frame
    from tokexport.runtime.tokenizer import Tokenizer

ROLES: Final = ("system", "user", "assistant")  # TKX_SYSTEM ... of tokexport_extra.h
_E_ROLE: Final = -14


def chat_frame(tokenizer: Tokenizer) -> Frame | None:
    """The frame in FRAM, or ``None``. Raises ``FormatError`` if it is damaged."""
    from tokexport.chat.frame import Frame, Opening
    from tokexport.file.layout import FRAME_MARK, RESERVED_SIZE, FrameFlag, FrameHeader

    content = section(tokenizer, b"FRAM")
    if content is None:
        return None
    if len(content) < FrameHeader.sizeof():
        raise damaged(tokenizer, "FRAM", "it is shorter than its header")
    head = FrameHeader.parse(content)
    reserved_at = FrameHeader.sizeof() + FRAME_MARK.itemsize * head.mark_count
    texts_at = reserved_at + RESERVED_SIZE.itemsize * head.reserved_count
    if texts_at > len(content):
        raise damaged(tokenizer, "FRAM", "its tables extend past its end")
    sizes = [head[field.name] for field in FrameHeader.subcons[4:]]
    sizes += np.frombuffer(content[reserved_at:texts_at], RESERVED_SIZE).tolist()
    ends = list(accumulate(sizes, initial=texts_at))
    if ends[-1] != len(content):
        raise damaged(tokenizer, "FRAM", "its texts do not have the sizes that it declares")
    try:
        texts = [content[begin:end].decode() for begin, end in pairwise(ends)]
    except UnicodeDecodeError as error:
        raise damaged(tokenizer, "FRAM", "one of its texts is not UTF-8") from error
    start, before, after, to_assistant, to_user, to_reply = texts[:6]
    stripped = [role for role in ROLES if head.flags & FrameFlag[f"STRIP_{role.upper()}"]]
    return Frame(
        start,
        Opening(before, after) if head.flags & FrameFlag.HAS_SYSTEM else None,
        to_assistant,
        to_user,
        to_reply,
        stripped=frozenset(stripped),
        reserved=tuple(texts[6:]),
        takes_empty=bool(head.flags & FrameFlag.TAKES_EMPTY),
    )


def encode_chat(tokenizer: Tokenizer, messages: Sequence[Mapping[str, Any]]) -> list[int]:
    if tokenizer._core.section(b"FRAM") is None:
        raise ChatTemplateError(
            "the file has no frame of a chat template; use apply_chat_template, or convert the"
            " source again, which reports why there is none"
        )
    for number, message in enumerate(messages):
        if message.get("role") not in ROLES or not isinstance(message.get("content"), str):
            raise ChatTemplateError(
                f"message {number} does not fit a frame; give a role, system, user or assistant,"
                " and a content that is a text"
            )
    roles = [ROLES.index(message["role"]) for message in messages]
    found = tokenizer._core.encode_chat(roles, [message["content"] for message in messages])
    if isinstance(found, list):
        return found
    code, number = found
    if code != _E_ROLE:
        problem = f"message {number} is empty, or has a text that the chat template changes"
    elif number == len(messages):
        problem = "the last message is not the user's"
    else:
        problem = f"message {number} has the role {messages[number]['role']}, which is not allowed"
        problem += " there: a system message comes first, if the template takes one, then user and"
        problem += " assistant in turns"
    raise ChatTemplateError(f"{problem}; use apply_chat_template")
