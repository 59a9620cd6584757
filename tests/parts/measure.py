"""One part: converted and compared with the library, or refused."""

from __future__ import annotations

import json
from dataclasses import dataclass

import tokenizers

from tokexport.conversion import Options, file_bytes
from tokexport.errors import UnsupportedError
from tokexport.runtime.tokenizer import load
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.tokenizer_json.reference import TokenizersReference
from tokexport.verification import compare

from .cases import Case

STRINGS = 150


@dataclass(frozen=True)
class Outcome:
    """``refusal`` is its sentence, ``difference`` what differs from the library; both empty: the
    part is exact.
    """

    case: Case
    refusal: str = ""
    difference: str = ""

    @property
    def exact(self) -> bool:
        """Whether it was converted, and nothing differs."""
        return not self.refusal and not self.difference


def measure(case: Case, strings: int = STRINGS, token_step: int = 1) -> Outcome:
    """Builds the tokenizer of a case with the library, converts it, and compares ids, texts and
    offsets.

    Every id is decoded, every token encoded, or each ``token_step``-th, and random strings are
    encoded in every mode, alone and as pairs, and decoded again.
    """
    source = json.dumps(case.document)
    reference = TokenizersReference(tokenizers.Tokenizer.from_str(source))
    try:
        model = read_tokenizer_json(parse(source.encode(), "tokenizer.json"), SourceFiles(None))
        data = file_bytes(model, Options())
    except UnsupportedError as error:
        return Outcome(case, refusal=f"{error.problem}; {error.hint}")
    result = compare(
        load(data), reference, strings=strings, code_points=False, token_step=token_step
    )
    return Outcome(case, difference="" if result.ok else "\n".join(result.lines()))
