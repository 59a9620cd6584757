"""The keys ``tokenizer.ggml.*`` of longest-match models: WordPiece ("bert") and RWKV's vocabulary
("rwkv").
"""

from __future__ import annotations

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
_FIRST: Final = "<s>"  # converters put it at id 0, where RWKV has no token


def word_keys(model: TokenizerModel) -> dict[str, Any]:
    """The keys of WordPiece as in BERT. TokexportError for any other."""
    inner = model.model
    assert isinstance(inner, WordPieceModel)
    if (inner.prefix, inner.max_characters) != (_PREFIX, _LONGEST):
        raise refuse("gguf", "its WordPiece is not as BERT's", "there is no other one in it")
    names = {id: key.decode() for key, id in inner.vocab.items()}
    names |= {token.id: token.content for token in model.added_tokens}
    special = {token.id for token in model.added_tokens if token.special}
    return {
        "model": "bert",
        "pre": "default",
        "tokens": [_spelled(names[id]) if id in names else f"[PAD{id}]" for id in _ids(model)],
        "token_type": [
            int(PieceType.CONTROL if id in special else PieceType.NORMAL) for id in _ids(model)
        ],
        **_normalizer(model),
    }


def rwkv_keys(model: TokenizerModel) -> dict[str, Any]:
    """The keys of RWKV's vocabulary: tokens as Python's literals of bytes."""
    inner = model.model
    assert isinstance(inner, GreedyModel)
    names = {id: repr(key)[2:-1] for key, id in inner.vocab.items()}
    first = {} if 0 in names else {0: _FIRST}
    return {
        "model": "rwkv",
        "tokens": [names.get(id) or first.get(id, f"[PAD{id}]") for id in _ids(model)],
        "token_type": [
            int(
                PieceType.NORMAL
                if id in names
                else PieceType.CONTROL
                if id in first
                else PieceType.UNUSED
            )
            for id in _ids(model)
        ],
    }


def _ids(model: TokenizerModel) -> range:
    return range(len(model.tokens))


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
    raise refuse("gguf", "its texts are not normalized and cut as BERT's", "WordPiece there is so")
