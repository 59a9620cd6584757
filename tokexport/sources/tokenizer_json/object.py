"""A ``tokenizers.Tokenizer`` from Python: it is read from the tokenizer.json that it would save."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tokexport.errors import UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse
from tokexport.sources.tokenizer_json.read import read_tokenizer_json


@dataclass(frozen=True, slots=True)
class Saved:
    """What an object saves, and the contents of its own added tokens by id."""

    text: str
    added: dict[int, str]


def save(tokenizer: Any, name: str) -> Saved:
    """The tokenizer.json of a ``tokenizers.Tokenizer``; UnsupportedError for parts in Python."""
    try:
        text = tokenizer.to_str()
    except Exception as error:  # the library raises bare Exception
        raise UnsupportedError(
            name, f"a tokenizer that cannot be saved is not supported ({error})", "one that can is"
        ) from error
    added = tokenizer.get_added_tokens_decoder()
    return Saved(text, {number: token.content for number, token in added.items()})


def read_saved(
    saved: Saved, name: str, files: SourceFiles, config: Node | None = None
) -> TokenizerModel:
    """The model of what an object saves; where ``files`` hold nothing, its digest is over that.

    Raises UnsupportedError where the object has other ids than the file that it saves: then no one
    else could load it as it is.
    """
    data = saved.text.encode("utf-8")
    if files.folder is None:
        files.sha256[name] = sha256(data).hexdigest()
    model = read_tokenizer_json(parse(data, name), files, name, config)
    read = {token.id: token.content for token in model.added_tokens}
    if read != saved.added:
        number = min(set(read.items()) ^ set(saved.added.items()))[0]
        Node(name, f"{name}.added_tokens[{number}]", saved.added.get(number)).unsupported(
            f"what it saves has {read.get(number)!r} there: save it with tokenizer.save(), load it"
            " again, and give that"
        )
    return model
