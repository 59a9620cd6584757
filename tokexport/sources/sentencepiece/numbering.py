"""A note on a SentencePiece model whose tokenizer numbers the pieces in another way.

The ids of a ``.model`` are those of the ``sentencepiece`` library. Some tokenizers only cut a text
with it, and take their ids from elsewhere: fairseq and what comes from it put their special tokens
first, Marian has a file of its own. Others change a text before it is cut.
"""

from __future__ import annotations

from typing import Final

from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.config import CONFIG, tokenizer_class

# Classes of `transformers` that give other ids.
CLASSES: Final = frozenset(
    (
        *("XLMRobertaTokenizer", "LayoutXLMTokenizer", "MBartTokenizer", "MBart50Tokenizer"),
        *("NllbTokenizer", "PLBartTokenizer", "XGLMTokenizer", "SeamlessM4TTokenizer"),
        *("CamembertTokenizer", "XLMProphetNetTokenizer", "PegasusTokenizer", "MarianTokenizer"),
        *("M2M100Tokenizer", "Speech2TextTokenizer", "BartphoTokenizer", "AlbertTokenizer"),
        "XLNetTokenizer",
    )
)
_FAIRSEQ_NAME: Final = "sentencepiece.bpe.model"


def numbering_notes(name: str, config: Node | None) -> tuple[str, ...]:
    """A sentence if a config beside ``name``, or that name, says that ids are others."""
    named = tokenizer_class(config)
    if named in CLASSES:
        other = f"{named}, which {CONFIG} names, gives others"
    elif named is None and name == _FAIRSEQ_NAME:
        other = "XLM-RoBERTa, mBART, NLLB and CamemBERT, whose models have this name, give others"
    else:
        return ()
    note = f"The ids are those of the sentencepiece library; {other}."
    return (f"{note} For those give the tokenizer.json, or the directory with its {CONFIG}.",)
