"""A conversation as special tokens and texts, with which of them are trained on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokexport.errors import ConversationError

# For each kind of part of an assistant message: the special tokens around it, and whether they and
# the text are trained on. The output of a tool does not come from the model.
_PARTS: Final[Mapping[str, tuple[str | None, bool]]] = {
    "text": (None, True),
    "python": ("python", True),
    "python_output": ("output", False),
}
_HINT: Final = (
    "a conversation is an optional system message, then messages of user and assistant in turn"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A special token or a text, and whether the assistant is trained on it."""

    content: str
    trained: bool
    is_special: bool = False


def messages_of(conversation: object) -> Sequence[Any]:
    """The messages of a conversation. ConversationError if there are none."""
    found = conversation.get("messages") if isinstance(conversation, Mapping) else None
    if not isinstance(found, list | tuple) or not found:
        raise ConversationError(None, "", "it has no messages", _HINT)
    return found


def segments(messages: Sequence[Any]) -> Iterator[Segment]:
    """The segments of the messages. ConversationError for one that is out of turn or malformed."""
    first, system = 0, ""
    if _role(messages, 0) == "system":
        first, system = 1, _text(messages, 0) + "\n\n"
        if len(messages) == 1:
            raise ConversationError(0, "", "no message follows the system message", _HINT)
    for index in range(first, len(messages)):
        expected = ("user", "assistant")[(index - first) % 2]
        role = _role(messages, index)
        if role != expected:
            raise ConversationError(
                index, ".role", f"it is {role!r:.80}", f"expected {expected!r} here; {_HINT}"
            )
        of_user = role == "user"
        yield Segment(f"<|{role}_start|>", False, is_special=True)
        if of_user:
            yield Segment((system if index == first else "") + _text(messages, index), False)
        else:
            yield from _said(messages, index)
        yield Segment(f"<|{role}_end|>", not of_user, is_special=True)


def _said(messages: Sequence[Any], index: int) -> Iterator[Segment]:
    """An assistant message: a text, or parts of several kinds."""
    content = messages[index].get("content")
    if isinstance(content, str):
        yield Segment(content, True)
        return
    if not isinstance(content, list | tuple):
        raise _wrong(index, ".content", content, "a text, or a list of parts")
    for number, part in enumerate(content):
        path = f".content[{number}]"
        if not isinstance(part, Mapping):
            raise _wrong(index, path, part, "a part with a type and a text")
        kind, text = part.get("type"), part.get("text")
        if not isinstance(kind, str) or kind not in _PARTS:
            known = ", ".join(_PARTS)
            raise ConversationError(index, f"{path}.type", f"it is {kind!r:.80}", f"use {known}")
        if not isinstance(text, str):
            raise _wrong(index, f"{path}.text", text, "a text")
        name, trained = _PARTS[kind]
        if name is not None:
            yield Segment(f"<|{name}_start|>", trained, is_special=True)
        yield Segment(text, trained)
        if name is not None:
            yield Segment(f"<|{name}_end|>", trained, is_special=True)


def _role(messages: Sequence[Any], index: int) -> Any:
    message = messages[index]
    if not isinstance(message, Mapping):
        raise _wrong(index, "", message, "a message with a role and a content")
    return message.get("role")


def _text(messages: Sequence[Any], index: int) -> str:
    content = messages[index].get("content")
    if not isinstance(content, str):
        raise _wrong(index, ".content", content, "a text")
    return content


def _wrong(index: int, path: str, found: object, expected: str) -> ConversationError:
    return ConversationError(index, path, f"it is {found!r:.80}", f"expected {expected}")
