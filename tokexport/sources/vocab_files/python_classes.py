"""Classes of tokenizers that `transformers` has in Python only, so that no tokenizer.json says the
same: what a refusal says of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokexport.sources.tokenizer_json.config import SAVE

_MOSES: Final = "sacremoses cuts its words"
_JIEBA: Final = "jieba cuts its words"
_SUBWORD_NMT: Final = "its pieces have @@ after them"
_WHY: Final[Mapping[str, str]] = {
    "BartphoTokenizer": (
        "a SentencePiece model cuts its words, and another vocabulary numbers the pieces"
    ),
    "BertJapaneseTokenizer": "MeCab, Sudachi or Juman++ cuts its words",
    "BertweetTokenizer": _SUBWORD_NMT,
    "BioGptTokenizer": _MOSES,
    "BlenderbotSmallTokenizer": _SUBWORD_NMT,
    "CTRLTokenizer": _SUBWORD_NMT,
    "ClvpTokenizer": "it spells out numbers and abbreviations",
    "CpmAntTokenizer": _JIEBA,
    "EsmTokenizer": "it looks for its tokens in a text, and cuts the rest at spaces",
    "FSMTTokenizer": _MOSES,
    "FlaubertTokenizer": _MOSES,
    "JukeboxTokenizer": "it encodes an artist, a genre and lyrics",
    "M2M100Tokenizer": "a SentencePiece model cuts its words, and vocab.json numbers the pieces",
    "MarianTokenizer": "a SentencePiece model cuts its words, and vocab.json numbers the pieces",
    "PhobertTokenizer": _SUBWORD_NMT,
    "ProphetNetTokenizer": "its vocabulary is prophetnet.tokenizer",
    "RoCBertTokenizer": "it encodes the shape and the sound of a character too",
    "RoFormerTokenizer": _JIEBA,
    "Speech2Text2Tokenizer": _SUBWORD_NMT,
    "Speech2TextTokenizer": (
        "a SentencePiece model cuts its words, and vocab.json numbers the pieces"
    ),
    "TapasTokenizer": "it encodes a table",
    "VitsTokenizer": "it looks up single characters, or sounds",
    "Wav2Vec2CTCTokenizer": "it looks up single characters",
    "Wav2Vec2PhonemeCTCTokenizer": "it looks up sounds",
    "XLMTokenizer": _MOSES,
}


def is_python_only(name: str | None) -> bool:
    """Whether a class is one of these.

    >>> is_python_only("BioGptTokenizer"), is_python_only("BertTokenizer")
    (True, False)
    """
    return name in _WHY


def without_document(name: str | None) -> str:
    """What can be done about a class of which no files but a tokenizer.json are read; or that there
    is no such.

    >>> without_document("BioGptTokenizer")
    'transformers has this class in Python only (sacremoses cuts its words), so there is no tokenizer.json that says the same'
    """
    why = _WHY.get(name or "")
    if why is None:
        return f"of this class give the tokenizer.json ({SAVE})"
    return (
        f"transformers has this class in Python only ({why}), so there is no tokenizer.json that"
        " says the same"
    )
