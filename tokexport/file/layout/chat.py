"""The frame of a chat template."""

from typing import Final

import numpy as np
from construct import Struct

from tokexport.file.layout.declare import U32, Flags


class FrameFlag(Flags):
    """``frame.flags``."""

    HAS_SYSTEM = 1 << 0, "a conversation may begin with a system message"
    TAKES_EMPTY = 1 << 1, "a message may be empty or only white space"
    STRIP_SYSTEM = 1 << 2, "white space at the ends of a system message is dropped"
    STRIP_USER = 1 << 3, "the same for a user message"
    STRIP_ASSISTANT = 1 << 4, "the same for an assistant message"
    TRIMMED_SYSTEM = 1 << 5, "a system message has no white space at its ends"
    TRIMMED_USER = 1 << 6, "the same for a user message"
    TRIMMED_ASSISTANT = 1 << 7, "the same for an assistant message"


# FRAM: this header, FRAME_MARK[mark_count], RESERVED_SIZE[reserved_count], then the six texts and
# the reserved ones.
FrameHeader = Struct(
    "flags" / U32 * "`FrameFlag`",
    "mark_count" / U32 * "at most 255",
    "reserved_count" / U32 * "at most 255",
    "text_size" / U32 * "of all texts together",
    "start" / U32 * "size of the text before the first user message, without a system message",
    "before_system" / U32 * "before a system message",
    "after_system" / U32 * "from a system message to the first user message",
    "user_to_assistant" / U32 * "from a user message to the answer",
    "assistant_to_user" / U32 * "from an answer to the next user message",
    "user_to_reply" / U32 * "from the last user message to where the model continues",
)

FRAME_MARK: Final = np.dtype("<u4")
RESERVED_SIZE: Final = np.dtype("<u4")
