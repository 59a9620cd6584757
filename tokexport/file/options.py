"""What a conversion chooses about a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokexport.chat.frame import Frame
from tokexport.compiler.tables import SelfTestCase


@dataclass(frozen=True, slots=True)
class Options:
    """The contents of a file."""

    # Only what decoding needs, special ids, chat template and provenance.
    decode_only: bool = False
    # One float per id.
    scores: bool = True
    # The ids in order of their bytes, for lookup by prefix: 4 bytes per token.
    prefix_index: bool = False
    # The chat templates of the source.
    chat_template: bool = True
    # The fixed texts that the chat template puts between messages, for programs without Jinja.
    chat_frame: Frame | None = None
    # The version of the reference library, for the provenance.
    reference_version: str | None = None
    # Texts with the reference's ids.
    self_test: Sequence[SelfTestCase] = ()
