"""SentencePiece models (``tokenizer.model``, ``spiece.model``)."""

import re
from typing import Any, Final

from tokexport.model import TokenizerModel
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source

# The first field of a model is a piece (field 1), whose first field is its text (field 1).
_START: Final = re.compile(rb"\x0a.\x0a.", re.DOTALL)
_NEXT: Final = (b"", b"\x0a", b"\x12", b"\x1a")


def _sniff(source: Input) -> bytes | None:
    if not _START.match(source.head):
        return None
    # The text is inside the piece, which a piece or a spec follows; lengths here take one byte.
    piece, text = source.head[1], source.head[3]
    after = source.data[2 + piece : 3 + piece]
    is_model = text + 2 <= piece < 128 and len(source.data) >= 2 + piece and after in _NEXT
    return source.data if is_model else None


def _read(source: Input, data: bytes) -> TokenizerModel:
    from tokexport.sources.sentencepiece.read import read_sentencepiece

    return read_sentencepiece(data, source.name, source.files)


def _reference(source: Input, data: bytes) -> ReferenceTokenizer:
    from tokexport.sources.sentencepiece.reference import SentencePieceReference

    return SentencePieceReference.from_bytes(data, str(source.path))


def _equivalent(source: Input, data: bytes) -> Any:
    from tokexport.sources.sentencepiece.proto import parse_model

    return parse_model(data, source.name)


SOURCE = Source(
    "SentencePiece model",
    _sniff,
    _read,
    _reference,
    files=("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model"),
    under_any_name=True,
    equivalent=_equivalent,
)
