"""The positions of special tokens in the texts of a frame, so that they are tokens nowhere else."""

from collections.abc import Collection, Sequence


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
