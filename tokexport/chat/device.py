"""Whether a device can run a chat template, which it can if the template is a frame."""

from collections.abc import Collection, Mapping

from tokexport.chat.frame import Frame
from tokexport.chat.markup import marks, straddling

MAX_NUMBER = 255  # of special tokens and of reserved texts, and of bytes of one of these


def device_frame(
    template: str, variables: Mapping[str, str], special: Mapping[str, bool]
) -> tuple[Frame | None, str]:
    """The frame of a template, or None and the reason in words. MissingLibraryError without jinja2.

    ``special``: the contents of the special tokens, each with whether it is looked for in text
    rewritten by the normalizer, where offsets are unknown.

    >>> template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    >>> device_frame(template, {}, {})[0].start
    '[user]'
    """
    from tokexport.chat.frame_search import find_frame

    frame, reason = find_frame(template, variables)
    if frame is not None and (problem := _problem(frame, special)):
        return None, problem
    return frame, reason


def _problem(frame: Frame, special: Mapping[str, bool]) -> str:
    """Why a file cannot hold the frame; empty if it can."""
    texts = frame.texts
    if token := straddling([text for text in texts if text], special):
        return f"the special token {token!r} could begin in a message and end in the markup"
    rewritten: Collection[str] = {token for token, is_rewritten in special.items() if is_rewritten}
    if marks(texts, rewritten):
        return "its special tokens are looked for in normalized text"
    sizes = [len(text.encode()) for text in frame.reserved]
    if max([len(marks(texts, special)), len(sizes), *sizes]) > MAX_NUMBER:
        return "it has more special tokens or reserved texts than a file can hold"
    return ""
