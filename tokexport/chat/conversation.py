"""The caller's values as plain data, in the form that `transformers` passes to a template."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

from tokexport.errors import ChatTemplateError

# The names for the reasoning of a message; templates read the first one, those of gpt-oss the
# second.
REASONING: Final = ("reasoning_content", "thinking", "reasoning")


def plain(value: Any) -> Any:
    """A copy made of JSON's types and tuples: objects have methods unknown to a sandbox.

    Any other value becomes the name of its type in angle brackets.

    >>> plain({"image": bytearray(b""), "text": "a"})
    {'image': '<bytearray>', 'text': 'a'}
    """
    if value is None or type(value) in (str, int, float, bool):
        return value
    # For a subclass: the plain value, whatever methods it overrides.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):
        return plain(dump())
    return f"<{type(value).__name__}>"


def plain_messages(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a conversation, without members that are None, which many APIs write and
    templates do not expect; reasoning under every name. ChatTemplateError for anything else.
    """
    checked = _checked("message", messages, "an object with a role and a content")
    found = [_message(message) for message in checked]
    if not found:
        raise ChatTemplateError("there are no messages", "give at least one")
    return found


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: plain(value) for name, value in message.items() if value is not None}
    reasoning = next((found[name] for name in REASONING if name in found), None)
    if reasoning is None:
        return found
    return {"thinking": reasoning, **found, "reasoning_content": reasoning}


def plain_objects(
    noun: str, values: Iterable[Mapping[str, Any]] | None, expected: str
) -> list[dict[str, Any]] | None:
    """The tools or documents. ChatTemplateError for anything but objects."""
    if values is None:
        return None
    return [plain(value) for value in _checked(noun, values, expected)]


def _checked(noun: str, values: Any, expected: str) -> Iterator[Mapping[str, Any]]:
    """The objects in a list. ChatTemplateError for anything else."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        found = f"the {noun}s are of type {type(values).__name__}"
        raise ChatTemplateError(found, "give a list of objects")
    for number, value in enumerate(values):
        if not isinstance(value, Mapping):
            found = f"{noun} {number} is of type {type(value).__name__}"
            raise ChatTemplateError(found, f"give {expected}")
        yield value
