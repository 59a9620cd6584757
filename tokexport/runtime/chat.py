"""Methods of a tokenizer: conversations to ids, by the chat template of the file or its frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tokexport.errors import ChatTemplateError
from tokexport.runtime.metadata import chat_settings, damaged, section

if TYPE_CHECKING:
    from tokexport.chat.frame import Frame
    from tokexport.runtime.tokenizer import Tokenizer

ROLES: Final = ("system", "user", "assistant")  # TKX_SYSTEM ... of tokexport_extra.h
_E_ROLE: Final = -14


def apply_chat_template(
    self: Tokenizer,
    messages: Iterable[Mapping[str, Any]],
    *,
    tools: Iterable[Mapping[str, Any]] | None = None,
    documents: Iterable[Mapping[str, Any]] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    tokenize: bool = True,
    **variables: Any,
) -> Any:
    """The ids of a conversation, or with ``tokenize=False`` its text, as in `transformers`:
    special tokens of the template and of the messages become ids.

    ``chat_template`` is a template, or a name in :attr:`chat_templates`. ``tools`` and
    ``documents`` are JSON objects. ``continue_final_message`` leaves the last message open.
    Other arguments go to the template, such as ``enable_thinking=False`` for Qwen 3.

    Raises ``MissingLibraryError`` without ``pip install 'tokexport[chat]'``, and
    ``ChatTemplateError`` if there is no template or it refuses the messages.

    >>> template = "{% for message in messages %}{{ message.content }}<|end|>{% endfor %}"
    >>> tokenizer.apply_chat_template([{"content": "hello"}], chat_template=template)
    [259, 300]
    """
    from tokexport.chat.render import render

    how: dict[str, Any] = {"tools": tools, "documents": documents, "template": chat_template}
    how["add_generation_prompt"] = add_generation_prompt
    how["continue_final_message"] = continue_final_message
    how["variables"] = {**chat_settings(self, "variables"), **variables}
    text = render(self.chat_templates, messages, **how)
    return self.encode(text, "all") if tokenize else text


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

    def roles(flag: str) -> frozenset[str]:
        return frozenset(r for r in ROLES if head.flags & FrameFlag[f"{flag}_{r.upper()}"])

    return Frame(
        start,
        Opening(before, after) if head.flags & FrameFlag.HAS_SYSTEM else None,
        to_assistant,
        to_user,
        to_reply,
        stripped=roles("STRIP"),
        trimmed=roles("TRIMMED"),
        reserved=tuple(texts[6:]),
        takes_empty=bool(head.flags & FrameFlag.TAKES_EMPTY),
    )


def encode_chat(self: Tokenizer, messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The ids of a conversation by :attr:`chat_frame`, up to where the model continues, as in C.
    Text in a message never becomes a special token. Needs no jinja2.

    Raises ``ChatTemplateError`` without a frame, or for messages that it does not support.
    """
    from tokexport.chat.frame import other_members

    if self._core.section(b"FRAM") is None:
        raise ChatTemplateError(
            "the file has no frame of a chat template",
            "use apply_chat_template, or convert the source again, which reports why there is none",
        )
    for number, message in enumerate(messages):
        is_message = isinstance(message, Mapping) and message.get("role") in ROLES
        if not is_message or not isinstance(message.get("content"), str):
            raise ChatTemplateError(
                f"message {number} does not fit a frame",
                "give a role, system, user or assistant, and a content that is a text",
            )
        if more := other_members(message):
            raise ChatTemplateError(
                f"message {number} has {', '.join(more)}, which a frame does not write",
                "leave it out, or use apply_chat_template",
            )
    roles = [ROLES.index(message["role"]) for message in messages]
    found = self._core.encode_chat(roles, [message["content"] for message in messages])
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
    raise ChatTemplateError(problem, "use apply_chat_template")
