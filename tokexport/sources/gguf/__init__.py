"""GGUF files: the metadata keys `tokenizer.ggml.*`. The reader is imported only for such a file:
with its dependencies it is a tenth of what a conversion imports.
"""

from typing import Any

from tokexport.model import TokenizerModel
from tokexport.sources.gguf.metadata import MAGIC, read_metadata
from tokexport.sources.reference import ReferenceTokenizer, reading_note
from tokexport.sources.source import Input, Source


def _sniff(source: Input) -> dict[str, Any] | None:
    if not source.head.startswith(MAGIC):
        return None
    from tokexport.sources.gguf.source import PREFIXES

    return read_metadata(source.view, source.name, PREFIXES)


def _read(source: Input, values: dict[str, Any]) -> TokenizerModel:
    from tokexport.sources.gguf.read import read_gguf
    from tokexport.sources.gguf.source import parse_gguf

    return read_gguf(parse_gguf(values, source.name, source.given.pattern), source.files)


def _equivalent(source: Input, values: dict[str, Any]) -> Any:
    from tokexport.sources.gguf.read import equivalent
    from tokexport.sources.gguf.source import parse_gguf

    return equivalent(parse_gguf(values, source.name, source.given.pattern))


def _reference(source: Input, values: dict[str, Any]) -> ReferenceTokenizer:
    found = _equivalent(source, values)
    assert source.path is not None
    if isinstance(found, dict):
        from tokexport.sources.tokenizer_json.reference import TokenizersReference

        return TokenizersReference.from_document(found, str(source.path))
    reference: ReferenceTokenizer
    if isinstance(found, bytes):
        from tokexport.sources.vocab_files.rwkv import RwkvReference

        reference = RwkvReference(found)
    else:
        from tokexport.sources.sentencepiece.proto import serialize
        from tokexport.sources.sentencepiece.reference import SentencePieceReference

        reference = SentencePieceReference.from_bytes(serialize(found), source.path)
    reference.reading_note = reading_note(source.name, "vocabulary file")
    return reference


SOURCE = Source(
    "GGUF file",
    _sniff,
    _read,
    _reference,
    under_any_name=True,
    equivalent=_equivalent,
    takes=frozenset(("pattern",)),
)
