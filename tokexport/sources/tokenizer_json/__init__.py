"""tokenizer.json of Hugging Face's library ``tokenizers``, with the files beside it."""

from dataclasses import replace
from typing import Any

from tokexport.model import TokenizerModel
from tokexport.sources.json_node import Node, parse_large, release
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Given, Input, Source
from tokexport.sources.tokenizer_json.config import TOKENIZER_JSON
from tokexport.sources.tokenizer_json.read import read_saved, read_tokenizer_json, save
from tokexport.sources.tokenizer_json_2.read import VERSION as VERSION_2
from tokexport.sources.transformers.classes import rebuilt_note

_OBJECT = "tokenizers.Tokenizer"


def is_document(fields: dict[str, Any]) -> bool:
    """Whether a JSON object is a tokenizer.json: in a vocabulary these keys are tokens with ids.

    >>> is_document({"model": {}}), is_document({"model": 5})
    (True, False)
    """
    return isinstance(fields.get("model"), dict) or isinstance(fields.get("added_tokens"), list)


def _sniff(source: Input) -> Node | None:
    root = parse_large(source.view, source.name) or source.json
    if root is None or not is_document(root.object(repeats=True)):
        return None
    return source.json if root.value.get("version") == VERSION_2 else root


def _has_vocabulary(root: Node) -> bool:
    """A "model" may be anything in a file of settings."""
    model = root.value.get("model")
    return isinstance(model, dict) and "vocab" in model


def _read(source: Input, root: Node, given: Given) -> TokenizerModel:
    # Under another name, the files beside it need not belong to it.
    if source.name != TOKENIZER_JSON:
        return read_tokenizer_json(root, source.files.alone())
    model, note = read_tokenizer_json(root, source.files), rebuilt_note(root, source.files)
    return replace(model, notes=(*model.notes, note)) if note else model


def _reference(source: Input, root: Node, given: Given) -> ReferenceTokenizer:
    if root.value.get("version") == VERSION_2:
        from tokexport.sources.tokenizer_json_2.reference import Tokenizers1Reference

        assert source.path is not None
        return Tokenizers1Reference(source.path)
    from tokexport.sources.tokenizer_json.reference import TokenizersReference

    text = source.view[:]
    release(root.field("model"))  # the library needs ten times as much
    return TokenizersReference.from_text(text, str(source.path))


def _sniff_object(source: Input) -> Any:
    known = hasattr(source.object, "to_str") and hasattr(source.object, "get_added_tokens_decoder")
    return source.object if known else None


def _read_object(source: Input, tokenizer: Any, given: Given) -> TokenizerModel:
    return read_saved(save(tokenizer, _OBJECT), _OBJECT, source.files)


def _reference_object(source: Input, tokenizer: Any, given: Given) -> ReferenceTokenizer:
    from tokexport.sources.tokenizer_json.reference import TokenizersReference

    # A copy: the reference changes settings, and the object is the caller's.
    return TokenizersReference.from_text(tokenizer.to_str(), _OBJECT)


SOURCE = Source(
    "tokenizer.json",
    _sniff,
    _read,
    _reference,
    files=(TOKENIZER_JSON,),
    under_any_name=_has_vocabulary,
    equivalent=lambda source, root, given: {**source.fields},
)
OBJECT = Source(_OBJECT, _sniff_object, _read_object, _reference_object)
