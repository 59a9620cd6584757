"""nanochat's tokenizer.pkl: a pickled ``tiktoken.Encoding``, which is parsed, never loaded."""

from typing import Any

from tokexport.model import TokenizerModel
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Given, Input, Source
from tokexport.sources.tiktoken.encoding import build
from tokexport.sources.tiktoken_pickle.opcodes import read_pickle
from tokexport.sources.unreadable import is_pickle_of_tiktoken


def _sniff(source: Input) -> dict[str, Any] | None:
    return read_pickle(source.data, source.name) if is_pickle_of_tiktoken(source.head) else None


def _read(source: Input, state: dict[str, Any], given: Given) -> TokenizerModel:
    provenance = source.files.provenance("pickle of tiktoken")
    ranks, special_tokens = state["mergeable_ranks"], state["special_tokens"]
    return build(source.name, ranks, state["pat_str"], special_tokens, provenance)


def _reference(source: Input, state: dict[str, Any], given: Given) -> ReferenceTokenizer:
    from tokexport.sources.tiktoken.reference import TiktokenReference

    ranks, special_tokens = state["mergeable_ranks"], state["special_tokens"]
    return TiktokenReference.from_parts(ranks, state["pat_str"], special_tokens)


SOURCE = Source("pickle of tiktoken", _sniff, _read, _reference, files=("tokenizer.pkl",))
