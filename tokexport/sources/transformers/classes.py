"""Finds the class of ``transformers`` that a directory names, without importing the library.

Source: ``AutoTokenizer.from_pretrained``, which looks for ``tokenizer_class`` in
tokenizer_config.json and in config.json, and then for the model's type.
"""

from dataclasses import dataclass
from typing import Final

from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse_beside
from tokexport.sources.tokenizer_json.config import (
    CONFIG,
    MODEL_CONFIG,
    NAMES_NO_CLASS,
    read_config,
    tokenizer_class,
)
from tokexport.sources.tokenizer_json.parts import flat

# A class makes a tokenizer from these; without a class they are bare vocabularies.
_VOCABULARIES: Final = ("vocab.json", "merges.txt", "encoder.json", "vocab.bpe", "vocab.txt")

# Classes that rebuild a part of a tokenizer.json.
_OWN_NORMALIZER: Final = ("LlamaTokenizer", "MBartTokenizer")
_OWN_MODEL: Final = ("BertTokenizer", "DistilBertTokenizer")
_OWN_SPLIT: Final = ("GPT2Tokenizer", "RobertaTokenizer")
_T5_UNKNOWN: Final = 2


@dataclass(frozen=True, slots=True)
class NamedClass:
    """``name`` is the name of the class, or None if only ``model_type`` implies one; ``file`` names
    either. ``remote``: it may be code in the repository, which is never run.
    """

    name: str | None
    file: str = CONFIG
    model_type: str | None = None
    remote: bool = False

    def __str__(self) -> str:
        return f"the class {self.name}" if self.name else f"the model type {self.model_type}"


def is_vocabulary(name: str) -> bool:
    """Whether a file of this name is a vocabulary that does not determine its class.

    >>> is_vocabulary("vocab.txt"), is_vocabulary("gpt2-merges.txt"), is_vocabulary("spiece.model")
    (True, True, False)
    """
    return name.endswith(_VOCABULARIES)


def named_class(files: SourceFiles) -> NamedClass | None:
    config = read_config(files)
    name, file = tokenizer_class(config), CONFIG
    model_type = None
    if name in NAMES_NO_CLASS:
        model = parse_beside(files, MODEL_CONFIG)
        name, model_type = tokenizer_class(model), model.object().get("model_type")
        file = MODEL_CONFIG
    code = _code(config)
    name = None if name in NAMES_NO_CLASS else name
    model_type = model_type if isinstance(model_type, str) and model_type else None
    if name is None and model_type is None:
        if code is None:
            return None
        name, file = code, CONFIG
    return NamedClass(name, file, model_type, code is not None)


def _code(config: Node) -> str | None:
    """The class in the repository's own code that ``auto_map`` names."""
    table = config.object().get("auto_map")
    named = table.get("AutoTokenizer") if isinstance(table, dict) else table
    found = [each for each in (named if isinstance(named, list) else [named]) if each]
    return str(found[0]).rpartition(".")[2] if found else None


def rebuilt_note(root: Node, files: SourceFiles) -> str | None:
    """A sentence if release 5 of the library is known to make a different tokenizer from a
    tokenizer.json, as its class rebuilds a part: seen on Phi-3, Yi and Llama-2, whose class has no
    normalizer, on StarCoder 2, whose class does not split digits, and on BERTchen, whose class is
    BERT's and whose model is BPE. By the type of the model it may leave the parts as they are
    (Mistral, OpenVLA), with rules that change with each release.
    """
    name = tokenizer_class(read_config(files))
    normalizer, split = root.optional("normalizer"), root.optional("pre_tokenizer")
    post, unknown = root.optional("post_processor"), root.field("model").value.get("unk_id")
    if name in _OWN_NORMALIZER and normalizer is not None and flat(normalizer, "normalizers"):
        part = "a normalizer of its own"
    elif name in _OWN_MODEL and root.field("model").value.get("type", "WordPiece") != "WordPiece":
        part = "a WordPiece model of its own"
    elif name in _OWN_SPLIT and split is not None and split.value.get("type") != "ByteLevel":
        part = "a pre-tokenizer of its own"
    elif name == "T5Tokenizer" and unknown not in (_T5_UNKNOWN, None):
        part = f"{_T5_UNKNOWN} as the unknown id"
    elif name == "RobertaTokenizer" and (post is None or post.value.get("type") == "ByteLevel"):
        part = "a post-processor of its own"
    else:
        return None
    return (
        f"transformers 5 and later can build {name}, which {CONFIG} names, with {part}; then"
        " AutoTokenizer gives other ids for some texts. The ids here are those of tokenizers; for"
        ' those of AutoTokenizer use --reference transformers (reference="transformers").'
    )
