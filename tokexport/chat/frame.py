"""A chat template as a frame: fixed texts that stand between messages, for where no Jinja runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Opening:
    """How a conversation with a system message begins."""

    before_system: str
    before_user: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The texts between the messages of a conversation. Special tokens in these texts are ids; in
    messages they are text, though `transformers` makes them ids there too.

    >>> frame = Frame("<s>[INST] ", None, " [/INST] ", "</s>[INST] ", " [/INST] ")
    >>> frame.render([{"role": "user", "content": "Hi"}])
    '<s>[INST] Hi [/INST] '
    """

    # Before the first message of the person, where there is no system message.
    start: str
    # Where there is one; `None` if the template takes none, or does more with it.
    system: Opening | None
    # From a message of the person to the answer that the model gave.
    user_to_assistant: str
    # From an answer to the next message of the person.
    assistant_to_user: str
    # From the last message of the person to where the model goes on.
    user_to_reply: str
    # Roles whose messages lose white space at both ends, as `str.strip` takes it.
    stripped: frozenset[str] = frozenset()
    # A conversation with one of these in a message is not for the frame.
    reserved: tuple[str, ...] = ()
    # Whether a message may be empty.
    takes_empty: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        """The six texts in the order of a file; both of `system` are empty without it."""
        before, after = (
            (self.system.before_system, self.system.before_user) if self.system else ("", "")
        )
        between = self.user_to_assistant, self.assistant_to_user, self.user_to_reply
        return self.start, before, after, *between

    def takes(self, messages: Sequence[Message]) -> bool:
        """Whether the frame is for these messages: roles that it knows, in their order, and
        contents that are texts without what is reserved.
        """
        has_system = bool(messages) and messages[0]["role"] == "system"
        if has_system and self.system is None:
            return False
        rest = [message["role"] for message in messages[has_system:]]
        turns = ["assistant" if number % 2 else "user" for number in range(len(rest))]
        return len(rest) % 2 == 1 and rest == turns and all(map(self._takes_content, messages))

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt of messages that :meth:`takes` allows, with the beginning of a reply."""
        first, *_ = messages
        text = ""
        between = self.start
        for message in messages:
            role = message["role"]
            if role == "system" and message is first and self.system is not None:
                between = self.system.before_system
            text += between + self._content(message)
            if role == "system" and self.system is not None:
                between = self.system.before_user
            else:
                between = self.user_to_assistant if role == "user" else self.assistant_to_user
        return text + self.user_to_reply

    def _content(self, message: Message) -> str:
        content: str = message["content"]
        return content.strip() if message["role"] in self.stripped else content

    def _takes_content(self, message: Message) -> bool:
        content = message["content"]
        if not isinstance(content, str) or any(text in content for text in self.reserved):
            return False
        return self.takes_empty or bool(content.strip())
