"""tiktoken: rank files, Mistral's tekken.json, encodings as JSON, and encodings from Python, also
pickled, as nanochat saves its tokenizer.pkl: the pickle is parsed, never loaded.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokexport.model import TokenizerModel
from tokexport.sources.json_node import Node
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Input, Source, objects_with
from tokexport.sources.tiktoken.encoding import build, read_encoding
from tokexport.sources.tiktoken.packed import parse_packed
from tokexport.sources.tiktoken.pickled import read_pickle
from tokexport.sources.tiktoken.tekken import parse_tekken, read_tekken
from tokexport.sources.unreadable import are_mostly_base64, is_pickle_of_tiktoken, list_without_ids

if TYPE_CHECKING:
    from tokexport.sources.tiktoken.reference import TiktokenReference

_RANK_LINE: Final = re.compile(rb"(?:[A-Za-z0-9+/]+={0,2}|=)[ \t]+[0-9]+\s*")
_PACKED: Final = "tiktoken as JSON"
_PICKLE: Final = "pickle of tiktoken"


def _sniff_ranks(source: Input) -> bytes | None:
    lines = source.lines
    are_ranks = (
        lines
        and all(_RANK_LINE.fullmatch(line) for line in lines[:3])
        and are_mostly_base64(lines)
        and list_without_ids(lines) is None
    )
    return source.data if are_ranks else None


def _read_ranks(source: Input, data: bytes) -> TokenizerModel:
    from tokexport.sources.tiktoken.ranks import read_ranks  # known encodings take 0.7 MB

    return read_ranks(source, data)


def _references() -> type[TiktokenReference]:
    from tokexport.sources.tiktoken.reference import TiktokenReference  # needs the library

    return TiktokenReference


def _ranks_reference(source: Input, data: bytes) -> ReferenceTokenizer:
    from tokexport.sources.tiktoken.ranks import rank_encoding

    known, special_tokens, _ = rank_encoding(source, data)
    return _references().from_ranks(data, known.pattern, dict(special_tokens))


def _sniff_tekken(source: Input) -> Node | None:
    match source.fields:
        case {"config": dict(), "vocab": list()}:
            return source.json
    return None


def _tekken_reference(source: Input, root: Node) -> ReferenceTokenizer:
    """As mistral-common does, except that special tokens are tiktoken's: their ids come first."""
    config: dict[str, Any] = root.value["config"]
    first = config["default_num_special_tokens"]
    ranks = {
        base64.b64decode(entry["token_bytes"]): first + entry["rank"]
        for entry in root.value["vocab"][: config["default_vocab_size"] - first]
    }
    _, _, special_tokens = parse_tekken(root)
    return _references().from_parts(ranks, config["pattern"], special_tokens)


def _packed_reference(source: Input, root: Node) -> ReferenceTokenizer:
    """As js-tiktoken reads the lines."""
    ranks: dict[bytes, int] = {}
    for line in filter(None, root.value["bpe_ranks"].split("\n")):
        _, first, *tokens = line.split(" ")
        ranks |= {base64.b64decode(token): int(first) + n for n, token in enumerate(tokens)}
    return _references().from_parts(ranks, root.value["pat_str"], root.value["special_tokens"])


def _is_whole_pickle(path: Path) -> bool:
    """Any pickle, but beside ranks only one that can be read instead."""
    return path.is_file() and (
        is_pickle_of_tiktoken(Input(path).head) or not any(path.parent.glob("*.tiktoken"))
    )


RANKS = Source(
    "tiktoken ranks",
    _sniff_ranks,
    _read_ranks,
    _ranks_reference,
    files=("*.tiktoken", "tiktoken.model"),
    takes=frozenset(("pattern", "special_tokens")),
)
TEKKEN = Source(
    "tekken.json",
    _sniff_tekken,
    read_tekken,
    _tekken_reference,
    files=("tekken.json",),
    under_any_name=True,
)
PACKED = Source(
    _PACKED,
    lambda source: source.json if {"pat_str", "bpe_ranks"} <= source.fields.keys() else None,
    lambda source, root: build(source.name, *parse_packed(root), source.files.provenance(_PACKED)),
    _packed_reference,
    under_any_name=True,
)
PICKLE = Source(
    _PICKLE,
    lambda source: (
        read_pickle(source.data, source.name) if is_pickle_of_tiktoken(source.head) else None
    ),
    lambda source, parts: build(source.name, *parts, source.files.provenance(_PICKLE)),
    lambda source, parts: _references().from_parts(*parts),
    files=("tokenizer.pkl",),
    is_whole=_is_whole_pickle,
)
OBJECT = Source(
    "tiktoken.Encoding",
    objects_with("_pat_str", "_mergeable_ranks", "_special_tokens"),
    read_encoding,
    lambda source, encoding: _references()(encoding),
)
