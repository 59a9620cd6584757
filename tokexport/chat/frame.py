"""A chat template as a frame: the fixed texts between messages, for use without Jinja."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]


def other_members(message: Message) -> list[str]:
    """The members with a value besides role and content, of which a frame knows nothing."""
    given = {name for name, value in message.items() if value is not None}
    return sorted(given - {"role", "content"})


@dataclass(frozen=True, slots=True)
class Opening:
    """How a conversation with a system message begins."""

    before_system: str
    before_user: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The texts between the messages of a conversation. Special tokens in these texts become ids;
    in messages they stay text, although `transformers` makes them ids there too.

    >>> frame = Frame("<s>[INST] ", None, " [/INST] ", "</s>[INST] ", " [/INST] ")
    >>> frame.render([{"role": "user", "content": "Hi"}])
    '<s>[INST] Hi [/INST] '
    """

    # Before the first user message, without a system message.
    start: str
    # With a system message; `None` if the template supports none, or does more with it.
    system: Opening | None
    # From a user message to the model's answer.
    user_to_assistant: str
    # From an answer to the next user message.
    assistant_to_user: str
    # From the last user message to where the model continues.
    user_to_reply: str
    # Roles whose messages lose white space at both ends, as by `str.strip`.
    stripped: frozenset[str] = frozenset()
    # Roles whose messages must have no such white space.
    trimmed: frozenset[str] = frozenset()
    # The frame does not cover conversations with one of these in a message.
    reserved: tuple[str, ...] = ()
    # Whether a message may be empty.
    takes_empty: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        """The six texts in the order of the file; the two of `system` are empty without it."""
        before, after = (
            (self.system.before_system, self.system.before_user) if self.system else ("", "")
        )
        between = self.user_to_assistant, self.assistant_to_user, self.user_to_reply
        return self.start, before, after, *between

    def takes(self, messages: Sequence[Message]) -> bool:
        """Whether the frame covers these messages: known roles in their order, contents that are
        texts without any reserved text, and no other members.
        """
        has_system = bool(messages) and messages[0]["role"] == "system"
        if has_system and self.system is None:
            return False
        rest = [message["role"] for message in messages[has_system:]]
        turns = ["assistant" if number % 2 else "user" for number in range(len(rest))]
        return len(rest) % 2 == 1 and rest == turns and all(map(self._takes_message, messages))

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt of messages that :meth:`takes` accepts, with the beginning of a reply."""
        text, before = "", self.start
        for message in messages:
            content = self._content(message)
            if message["role"] == "system" and self.system is not None:
                text, before = self.system.before_system + content, self.system.before_user
                continue
            text += before + content
            asks = message["role"] == "user"
            before = self.user_to_assistant if asks else self.assistant_to_user
        return text + self.user_to_reply

    def _content(self, message: Message) -> str:
        content: str = message["content"]
        return content.strip() if message["role"] in self.stripped else content

    def _takes_message(self, message: Message) -> bool:
        content = message["content"]
        if not isinstance(content, str) or any(text in content for text in self.reserved):
            return False
        if other_members(message):
            return False
        if message["role"] in self.trimmed and content != content.strip():
            return False
        return self.takes_empty or bool(content.strip())


def marks(texts: Sequence[str], special: Collection[str]) -> list[int]:
    """The byte offsets in the joined texts at which special tokens begin.

    >>> marks(["<s>[", "]</s>"], {"<s>", "</s>"})
    [0, 5]
    """
    found: list[int] = []
    begin = 0
    for text in texts:
        places = {at for token in special for at in range(len(text)) if text.startswith(token, at)}
        found += sorted(begin + len(text[:at].encode()) for at in places)
        begin += len(text.encode())
    return found


def straddling(texts: Sequence[str], special: Collection[str]) -> str | None:
    """A special token that could begin in a text of the frame and end in a message, or vice versa:
    a message's content would then decide the frame's tokens.

    >>> straddling(["<s>"], {"<s>", "<s>>"})
    '<s>>'
    """
    for token in sorted(special):
        for size in range(1, len(token)):
            head, tail = token[:size], token[size:]
            if any(text.endswith(head) or text.startswith(tail) for text in texts):
                return token
    return None
