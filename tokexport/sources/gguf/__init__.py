"""GGUF files: the metadata keys `tokenizer.ggml.*`. The reader is imported only for such a file:
with its dependencies it is a tenth of what a conversion imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokexport.model import TokenizerModel
from tokexport.sources.gguf.metadata import MAGIC, read_metadata
from tokexport.sources.reference import ReferenceTokenizer, reading_note
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import references

if TYPE_CHECKING:
    from tokexport.sources.gguf.source import GgufTokenizer


def _sniff(source: Input) -> GgufTokenizer | None:
    if not source.head.startswith(MAGIC):
        return None
    from tokexport.sources.gguf.source import PREFIXES, parse_gguf

    values = read_metadata(source.view, source.name, PREFIXES)
    return parse_gguf(values, source.name, source.given.pattern)


def _read(source: Input, content: GgufTokenizer) -> TokenizerModel:
    from tokexport.sources.gguf.read import read_gguf

    return read_gguf(content, source.files)


def _equivalent(source: Input, content: GgufTokenizer) -> Any:
    from tokexport.sources.gguf.read import equivalent

    return equivalent(content)


def _reference(source: Input, content: GgufTokenizer) -> ReferenceTokenizer:
    found, path = _equivalent(source, content), str(source.path)
    if isinstance(found, dict):
        return references().from_document(found, path)
    from tokexport.sources.gguf.in_text import InText, RwkvInTextReference
    from tokexport.sources.gguf.read import added_in_text, without_user_defined

    reference: ReferenceTokenizer
    in_text = InText(added_in_text(content))
    if isinstance(found, bytes):
        reference = RwkvInTextReference(found, in_text)
    else:
        from tokexport.sources.gguf.reference import PiecesReference
        from tokexport.sources.sentencepiece.proto import serialize
        from tokexport.sources.sentencepiece.reference import SentencePieceReference

        is_found = all(token.special for token in in_text.added)  # by the library
        library, between = (
            SentencePieceReference.from_bytes(serialize(model), path)
            for model in (found, found if is_found else without_user_defined(found))
        )
        reference = PiecesReference(library, between, in_text)
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
