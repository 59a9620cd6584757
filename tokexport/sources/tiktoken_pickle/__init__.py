"""nanochat's tokenizer.pkl: a pickled ``tiktoken.Encoding``, which is parsed, never loaded."""

from tokexport.model import TokenizerModel
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import Given, Input, Source
from tokexport.sources.tiktoken.encoding import build
from tokexport.sources.tiktoken_pickle.opcodes import PickledEncoding, read_pickle
from tokexport.sources.unreadable import is_pickle_of_tiktoken


def _sniff(source: Input) -> PickledEncoding | None:
    return read_pickle(source.data, source.name) if is_pickle_of_tiktoken(source.head) else None


def _read(source: Input, encoding: PickledEncoding, given: Given) -> TokenizerModel:
    return build(
        source.name,
        encoding.ranks,
        encoding.pattern,
        encoding.special_tokens,
        source.files.provenance("pickle of tiktoken"),
    )


def _reference(source: Input, encoding: PickledEncoding, given: Given) -> ReferenceTokenizer:
    from tokexport.sources.tiktoken.reference import TiktokenReference

    return TiktokenReference.from_parts(
        encoding.ranks, encoding.pattern, dict(encoding.special_tokens)
    )


SOURCE = Source("pickle of tiktoken", _sniff, _read, _reference, files=("tokenizer.pkl",))
