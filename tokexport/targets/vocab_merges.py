"""GPT-2's pair: ``vocab.json`` and ``merges.txt``, in a folder."""

import json
from pathlib import Path
from typing import Final

from tokexport.targets.material import Material, material
from tokexport.targets.parts import Part
from tokexport.targets.target import Files, Target
from tokexport.targets.tokenizer_json import bytes_model, library

VOCAB: Final = "vocab.json"
MERGES: Final = "merges.txt"
_VERSION: Final = "#version: 0.2\n"


def _write(source: Material) -> Files:
    model = bytes_model(source, f"{VOCAB} with {MERGES}", "these files have no other model")
    added = {name: id for id, name in source.parts.get(Part.ADDED_TOKENS, {}).items()}
    vocab = {**model["vocab"], **added}
    lines = "".join(f"{left} {right}\n" for left, right in model["merges"])
    ordered = dict(sorted(vocab.items(), key=lambda one: one[1]))
    return {
        VOCAB: json.dumps(ordered, ensure_ascii=False).encode(),
        MERGES: (_VERSION + lines).encode(),
    }


VOCAB_MERGES: Final = Target(
    "vocab.json",
    "ByteLevelBPETokenizer of tokenizers",
    _write,
    lambda path: material(path / VOCAB),
    lambda path, how: library(path if path.is_file() else path / VOCAB, how),
    Path("vocab.json/golden"),
    {
        Part.PRE_TOKENIZER: "the program uses GPT-2's pattern",
        Part.ADDED_TOKENS: "no merge produces them, so in a text they are plain text",
        Part.MODEL: "it holds only merges",
    },
)
