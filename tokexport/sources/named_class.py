"""Finds the class of ``transformers`` that a directory names, without importing the library.

Source: ``AutoTokenizer.from_pretrained``, which looks for ``tokenizer_class`` in
tokenizer_config.json and in config.json, and then for the model's type.
"""

from dataclasses import dataclass
from typing import Final

from tokexport.sources.config import (
    CONFIG,
    MODEL_CONFIG,
    NAMES_NO_CLASS,
    read_config,
    tokenizer_class,
)
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse_beside

# The ends of the names of vocabularies that do not determine a class. A class makes a tokenizer
# from these; without one they are bare vocabularies.
VOCABULARIES: Final = ("vocab.json", "merges.txt", "encoder.json", "vocab.bpe", "vocab.txt")


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
