"""Methods of a tokenizer: conversations to ids, by the chat template of the file or its frame."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

from tokexport.errors import ChatTemplateError
from tokexport.runtime.metadata import chat_settings, damaged, section

if TYPE_CHECKING:
    from tokexport.chat.frame import Frame
    from tokexport.runtime.tokenizer import Tokenizer

ROLES: Final = ("system", "user", "assistant")  # TKX_SYSTEM ... of tokexport_extra.h
_E_ROLE: Final = -14
# FrameFlag and FrameHeader of the layout. A flag of a role is that of the system, shifted.
HAS_SYSTEM, TAKES_EMPTY, STRIP_SYSTEM, TRIMMED_SYSTEM = 1, 2, 4, 32
HEADER_SIZE: Final = 40


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

    content = section(tokenizer, b"FRAM")
    if content is None:
        return None
    try:
        flags, mark_count, reserved_count, _, *sizes = struct.unpack_from("<10I", content)
        reserved_at = HEADER_SIZE + 4 * mark_count
        sizes += struct.unpack_from(f"<{reserved_count}I", content, reserved_at)
    except struct.error as error:
        raise damaged(tokenizer, "FRAM", "its tables extend past its end") from error
    ends = [*accumulate(sizes, initial=reserved_at + 4 * reserved_count)]
    if ends[-1] != len(content):
        raise damaged(tokenizer, "FRAM", "its texts do not have the sizes that it declares")
    try:
        texts = [content[begin:end].decode() for begin, end in pairwise(ends)]
    except UnicodeDecodeError as error:
        raise damaged(tokenizer, "FRAM", "one of its texts is not UTF-8") from error
    start, before, after, to_assistant, to_user, to_reply, *reserved = texts

    def roles(of_system: int) -> frozenset[str]:
        return frozenset(r for number, r in enumerate(ROLES) if flags & of_system << number)

    return Frame(
        start,
        Opening(before, after) if flags & HAS_SYSTEM else None,
        to_assistant,
        to_user,
        to_reply,
        stripped=roles(STRIP_SYSTEM),
        trimmed=roles(TRIMMED_SYSTEM),
        reserved=tuple(reserved),
        takes_empty=bool(flags & TAKES_EMPTY),
    )


def encode_chat(self: Tokenizer, messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The ids of a conversation by :attr:`chat_frame`, up to where the model continues, as in C.
    Text in a message never becomes a special token. Needs no jinja2.

    Raises ``ChatTemplateError`` without a frame, or for messages that it does not support.
    """
    from tokexport.chat.frame import other_members

    if self._core.section(b"FRAM") is None:
        hint = "use apply_chat_template, or convert the source again, which reports why"
        raise ChatTemplateError("the file has no frame of a chat template", hint)
    if not messages:
        raise ChatTemplateError("there are no messages", "the last one has to be the user's")
    for number, message in enumerate(messages):
        is_message = isinstance(message, Mapping) and message.get("role") in ROLES
        if not is_message or not isinstance(message.get("content"), str):
            hint = "give a role, system, user or assistant, and a content that is a text"
            raise ChatTemplateError(f"message {number} does not fit a frame", hint)
        if more := other_members(message):
            problem = f"message {number} has {', '.join(more)}, which a frame does not write"
            raise ChatTemplateError(problem, "leave it out, or use apply_chat_template")
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
        problem += " assistant alternate"
    raise ChatTemplateError(problem, "use apply_chat_template")
