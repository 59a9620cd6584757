"""GGUF files: the metadata keys `tokenizer.ggml.*`. The reader is imported only for such a file:
with its dependencies it is a tenth of what a conversion imports.
"""

from typing import Any

from tokexport.model import TokenizerModel
from tokexport.sources.gguf.metadata import MAGIC, read_metadata
from tokexport.sources.reference import ReferenceTokenizer, reading_note
from tokexport.sources.source import Given, Input, Source


def _sniff(source: Input) -> dict[str, Any] | None:
    if not source.head.startswith(MAGIC):
        return None
    from tokexport.sources.gguf.source import PREFIXES

    return read_metadata(source.view, source.name, PREFIXES)


def _read(source: Input, values: dict[str, Any], given: Given) -> TokenizerModel:
    from tokexport.sources.gguf.read import read_gguf
    from tokexport.sources.gguf.source import parse_gguf

    return read_gguf(parse_gguf(values, source.name, given.pattern), source.files)


def _reference(source: Input, values: dict[str, Any], given: Given) -> ReferenceTokenizer:
    from tokexport.sources.gguf.read import gguf_document, gguf_rwkv, gguf_sentencepiece
    from tokexport.sources.gguf.source import parse_gguf

    parsed = parse_gguf(values, source.name, given.pattern)
    assert source.path is not None
    if parsed.model in ("gpt2", "bert"):
        from tokexport.sources.tokenizer_json.reference import TokenizersReference

        return TokenizersReference.from_document(gguf_document(parsed), str(source.path))
    reference: ReferenceTokenizer
    if parsed.model == "rwkv":
        from tokexport.sources.vocab_files.rwkv import RwkvReference

        reference = RwkvReference(gguf_rwkv(parsed))
    else:
        from tokexport.sources.sentencepiece.proto import serialize
        from tokexport.sources.sentencepiece.reference import SentencePieceReference

        serialized = serialize(gguf_sentencepiece(parsed))
        reference = SentencePieceReference.from_bytes(serialized, source.path)
    reference.reading_note = reading_note(source.name, "vocabulary file")
    return reference


SOURCE = Source(
    "GGUF file", _sniff, _read, _reference, under_any_name=True, takes=frozenset(("pattern",))
)
