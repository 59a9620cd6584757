"""tokenizer.json of Hugging Face's library ``tokenizers``, with the files beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tokexport.model import TokenizerModel
from tokexport.sources.config import TOKENIZER_JSON
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import LongValue, Node
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source, objects_with
from tokexport.sources.tokenizer_json.auto_tokenizer import differences
from tokexport.sources.tokenizer_json.read import read_object, read_tokenizer_json
from tokexport.sources.unreadable import are_settings

if TYPE_CHECKING:
    from tokexport.sources.tokenizer_json.reference import TokenizersReference

_OBJECT = "tokenizers.Tokenizer"


def references() -> type[TokenizersReference]:
    from tokexport.sources.tokenizer_json.reference import TokenizersReference  # needs the library

    return TokenizersReference


def document_of(source: Input) -> Node | None:
    """The document of a file, if it is a tokenizer.json: in a vocabulary its keys are tokens with
    ids, and settings may have added_tokens too.
    """
    fields = {} if source.document is None else source.document.object(repeats=True)
    has_added = isinstance(fields.get("added_tokens"), list) and not are_settings(fields)
    return source.document if has_added or isinstance(fields.get("model"), dict) else None


def has_vocabulary(root: Node) -> bool:
    """A "model" may be anything in a file of settings."""
    model = root.value.get("model")
    return isinstance(model, dict) and "vocab" in model


def read_file(
    source: Input, root: Node, read: Callable[[Node, SourceFiles], TokenizerModel]
) -> TokenizerModel:
    """The model in a file of any version, which ``read`` returns."""
    # Under another name, the files beside it need not belong to it.
    if source.name != TOKENIZER_JSON:
        return read(root, source.files.alone())
    model = read(root, source.files)
    return replace(model, notes=(*model.notes, *differences(root, source.files)))


def _reference(source: Input, root: Node) -> ReferenceTokenizer:
    text = source.view[:]
    for value in root.field("model").object().values():
        if isinstance(value, LongValue):
            value.release()  # the library needs ten times as much memory
    return references().from_text(text, str(source.path))


SOURCE = Source(
    "tokenizer.json",
    document_of,
    lambda source, root: read_file(source, root, read_tokenizer_json),
    _reference,
    files=(TOKENIZER_JSON,),
    under_any_name=has_vocabulary,
    equivalent=lambda source, root: source.fields,
)
OBJECT = Source(
    _OBJECT,
    objects_with("to_str", "get_added_tokens_decoder"),
    lambda source, tokenizer: read_object(tokenizer, _OBJECT, source.files),
    # Not a copy: the library reads some scores that it saves as other numbers.
    lambda source, tokenizer: references()(tokenizer),
)
