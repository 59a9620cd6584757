"""tokenizer.json 2.0, as the release candidates of `tokenizers` 1.0 write it."""

from tokexport.sources.json_node import Node
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source
from tokexport.sources.tokenizer_json import document_of, has_vocabulary, read_file
from tokexport.sources.tokenizer_json_2.read import VERSION, read_version_2


def _sniff(source: Input) -> Node | None:
    root = document_of(source)
    return source.json if root is not None and root.value.get("version") == VERSION else None


def _reference(source: Input, root: Node) -> ReferenceTokenizer:
    from tokexport.sources.tokenizer_json_2.reference import Tokenizers1Reference

    return Tokenizers1Reference(str(source.path))


# A directory with a tokenizer.json is read as one, and the version decides.
SOURCE = Source(
    "tokenizer.json 2.0",
    _sniff,
    lambda source, root: read_file(source, root, read_version_2),
    _reference,
    under_any_name=has_vocabulary,
    equivalent=lambda source, root: source.fields,
)
