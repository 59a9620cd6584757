"""A ``tokenizers.Tokenizer`` from Python: it is read from the tokenizer.json that it would save."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tokexport.errors import UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

if TYPE_CHECKING:
    import tokenizers

_NAME = "tokenizers.Tokenizer"


def read_tokenizer(tokenizer: tokenizers.Tokenizer) -> TokenizerModel:
    """The model of a ``tokenizers.Tokenizer``; its digest is over what ``to_str()`` gives.

    Raises UnsupportedError where the object has other ids than the file that it saves: then nobody
    else could load it as it is.
    """
    data = tokenizer.to_str().encode("utf-8")
    files = SourceFiles(None, {_NAME: hashlib.sha256(data).hexdigest()})
    model = read_tokenizer_json(parse(data, _NAME), files, _NAME)
    saved = {token.id: token.content for token in model.added_tokens}
    own = {number: token.content for number, token in tokenizer.get_added_tokens_decoder().items()}
    if saved != own:
        number = min(set(saved.items()) ^ set(own.items()))[0]
        raise UnsupportedError(
            f"{_NAME}.added_tokens",
            f"the id {number}, which is {own.get(number)!r} in the object and {saved.get(number)!r}"
            " in what it saves, is not supported",
            "save it with tokenizer.save(), load it again, and give that",
        )
    return model
