"""Notes on a SentencePiece model whose own model numbers the pieces in another way.

The ids of a ``.model`` are those of the ``sentencepiece`` library. Some tokenizers only cut a text
with it, and take their ids from elsewhere: fairseq and what comes from it put their special tokens
first, Marian has a file of its own. What lies beside the file tells: a tokenizer_config.json names
the class, or a vocabulary lists the same pieces. Source of how classes count: their modules in
`transformers` (tokenization_*.py, and the converters in convert_slow_tokenizer.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.config import CONFIG, NAMES_NO_CLASS, tokenizer_class

_FAIRSEQ: Final = "adds 1 to the id of a piece, and has <s>, <pad>, </s>, <unk> as 0 to 3"
_OWN_FILE: Final = "takes the ids from its vocab.json"
_PREPARES: Final = "changes quotes, accents and upper case of a text before it is cut into pieces"
# Classes whose ids differ, and how. A class that is not here may still put special tokens around a
# text.
CLASSES: Final[Mapping[str, str]] = {
    "XLMRobertaTokenizer": _FAIRSEQ,
    "LayoutXLMTokenizer": _FAIRSEQ,
    "MBartTokenizer": _FAIRSEQ,
    "MBart50Tokenizer": _FAIRSEQ,
    "NllbTokenizer": _FAIRSEQ,
    "PLBartTokenizer": _FAIRSEQ,
    "XGLMTokenizer": _FAIRSEQ,
    "SeamlessM4TTokenizer": (
        "adds 1 to the id of a piece, and has <pad>, <unk>, <s>, </s> as 0 to 3"
    ),
    "CamembertTokenizer": "adds 4 to the id of a piece, and has special tokens as 0 to 4",
    "XLMProphetNetTokenizer": "adds 12 to the id of a piece, and has special tokens first",
    "PegasusTokenizer": (
        "adds 103 to the id of a piece where no other offset is named, and has special tokens first"
    ),
    "MarianTokenizer": _OWN_FILE,
    "M2M100Tokenizer": _OWN_FILE,
    "Speech2TextTokenizer": _OWN_FILE,
    "BartphoTokenizer": "takes the ids from its dict.txt",
    "AlbertTokenizer": _PREPARES,
    "XLNetTokenizer": _PREPARES,
}
_FAIRSEQ_NAME: Final = "sentencepiece.bpe.model"
_VOCABULARIES: Final = ("vocab.json", "vocab.txt", "dict.txt")
_FAIRSEQ_SPECIAL: Final = 4  # tokens before those of a dict.txt


def numbering_notes(
    name: str, pieces: Sequence[str], files: SourceFiles, config: Node | None
) -> tuple[str, ...]:
    """A sentence for each file beside the model ``name`` that says that its ids are not those of
    ``pieces``, their index.

    Where nothing is beside it but its name is the one that fairseq gives, a sentence says so.
    """
    notes = [*_by_class(config), *_by_code(config), *_by_vocabulary(pieces, files)]
    if not notes and name == _FAIRSEQ_NAME and tokenizer_class(config) in NAMES_NO_CLASS:
        notes.append(
            f"{name} is what fairseq calls its models. Those of XLM-RoBERTa, mBART, NLLB and"
            " CamemBERT do not have the ids of the sentencepiece library, which the converted file"
            " has: for such a one give its tokenizer.json."
        )
    return tuple(notes)


def _by_class(config: Node | None) -> Iterator[str]:
    named = tokenizer_class(config)
    if named is not None and named in CLASSES:
        yield (
            f"The ids are those of the sentencepiece library, and not those of {named}, which"
            f" {CONFIG} names: that class {CLASSES[named]}. For its ids give its"
            " tokenizer.json, or the directory, which transformers reads where it can."
        )


def _by_code(config: Node | None) -> Iterator[str]:
    """ChatGLM's first tokenizer writes line ends and rows of spaces as tokens, for one; most
    classes of this kind change nothing.
    """
    table = None if config is None else config.object().get("auto_map")
    named = table.get("AutoTokenizer") if isinstance(table, dict) else None
    first = named[0] if isinstance(named, list) and named else named
    if isinstance(first, str):
        yield (
            f"The ids are those of the sentencepiece library. {CONFIG} names Python code of the"
            f" model's own for its tokenizer, {first.rpartition('--')[2].partition('.')[0]}.py,"
            " which may change a text before, or the ids: look there."
        )


def _by_vocabulary(pieces: Sequence[str], files: SourceFiles) -> Iterator[str]:
    for name in _VOCABULARIES:
        vocab = _vocabulary(name, files)
        differing = [
            (number, piece)
            for number, piece in enumerate(pieces)
            if vocab.get(piece, number) != number
        ]
        # A file of other words has a few in common.
        if differing and 2 * sum(piece in vocab for piece in pieces) >= len(pieces):
            number, piece = differing[-1]  # the first ones are special tokens, which tell less
            yield (
                f"The ids are those of the sentencepiece library, and not those of {name} beside"
                f" it, where {show(piece)} is {vocab[piece]} and not {number}. If the model was"
                " trained with those, give its tokenizer.json."
            )


def _vocabulary(name: str, files: SourceFiles) -> Mapping[str, int]:
    """The ids by piece in a file beside it; none where it is not there, or is something else: it is
    no part of the source.
    """
    if not files.has(name):
        return {}
    assert files.folder is not None
    try:
        text = (files.folder / name).read_bytes().decode("utf-8")
        if name == "vocab.json":
            vocab = json.loads(text)
            return (
                {key: value for key, value in vocab.items() if type(value) is int}
                if isinstance(vocab, dict)
                else {}
            )
    except (OSError, ValueError, RecursionError):
        return {}
    lines = text.split("\n")
    if name == "dict.txt":
        return {
            line.rpartition(" ")[0]: number for number, line in enumerate(lines, _FAIRSEQ_SPECIAL)
        }
    return {line: number for number, line in enumerate(lines)}
