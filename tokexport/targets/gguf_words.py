"""The ``tokenizer.ggml.*`` of longest-match models: WordPiece ("bert") and RWKV's ("rwkv")."""

from collections.abc import Mapping
from itertools import product
from typing import Any, Final

from tokexport.model import GreedyModel, TokenizerModel, WordPieceModel
from tokexport.sources.json_node import Node
from tokexport.sources.sentencepiece.proto import PieceType
from tokexport.sources.tokenizer_json.normalizer import read_normalizer
from tokexport.sources.tokenizer_json.pre_tokenizer import read_pre_tokenizer
from tokexport.targets.parts import refuse

_PREFIX: Final = b"##"
_WORD: Final = "\u2581"  # before a token that begins a word
_LONGEST: Final = 100  # characters of a word
# At id 0, where RWKV has no token: bytes of no text. The converter's "<s>" is found in texts, and a
# control token by its spelling here.
_FIRST: Final = r"\xff" * 8


def word_keys(model: TokenizerModel, inner: WordPieceModel) -> dict[str, Any]:
    """The keys of WordPiece as in BERT. TokexportError for any other."""
    if (inner.prefix, inner.max_characters) != (_PREFIX, _LONGEST):
        raise refuse("gguf", "its WordPiece is not BERT's", "a GGUF has no other")
    names = {id: _spelled(key.decode()) for key, id in inner.vocab.items()}
    names |= {token.id: token.content for token in model.added_tokens}
    count = len(model.tokens)
    kinds = dict.fromkeys(range(count), PieceType.NORMAL)
    for token in model.added_tokens:
        kinds[token.id] = PieceType.CONTROL if token.special else PieceType.USER_DEFINED
    tokens = tokens_and_types(count, names, kinds)
    # llama.cpp always puts these around a text: without the keys, the ids 101 and 102.
    ends = model.template.single[0].id, model.template.single[-1].id
    keys = zip(("bos_token_id", "seperator_token_id"), ends, strict=True)
    around = {key: id for key, id in keys if id is not None}
    return {"model": "bert", "pre": "default", **tokens, **around, **_normalizer(model)}


def rwkv_keys(model: TokenizerModel, inner: GreedyModel) -> dict[str, Any]:
    """The keys of RWKV's vocabulary: tokens as Python's literals of bytes."""
    names = {id: repr(key)[2:-1] for key, id in inner.vocab.items()}
    first = {} if 0 in names else {0: _FIRST}
    kinds = dict.fromkeys(first, PieceType.UNUSED)
    return {"model": "rwkv", **tokens_and_types(len(model.tokens), names | first, kinds)}


def tokens_and_types(
    count: int, names: Mapping[int, str], kinds: Mapping[int, PieceType]
) -> dict[str, list[Any]]:
    """The lists of all ids; what has a name and no kind is a normal token."""
    usual = {**dict.fromkeys(names, PieceType.NORMAL), **kinds}
    return {
        "tokens": [names.get(id, f"[PAD{id}]") for id in range(count)],
        "token_type": [int(usual.get(id, PieceType.UNUSED)) for id in range(count)],
    }


def _spelled(token: str) -> str:
    """As converters write it: the start of a word is marked, not its continuation."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token.removeprefix("##") if token.startswith("##") else _WORD + token


def _normalizer(model: TokenizerModel) -> dict[str, bool]:
    """Whether texts are lower-cased and lose their accents; BERT's other steps are implicit.
    TokexportError for any other normalizer or pre-tokenizer.
    """
    cuts = read_pre_tokenizer(Node("gguf", "", {"pre_tokenizer": {"type": "BertPreTokenizer"}}))
    for lowercase, accents in product((True, False), repeat=2):
        usual = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
        value = {**usual, "lowercase": lowercase, "strip_accents": accents}
        if read_normalizer(Node("gguf", "", value)) == model.normalizer:
            if cuts != model.pre_tokenizer:
                break
            return {"normalizer.lowercase": lowercase, "normalizer.strip_accents": accents}
    raise refuse("gguf", "its texts are not normalized and cut as in BERT", "a GGUF has no other")
