"""Ids that other projects publish for a tokenizer, as ``FOLDER.jsonl.gz``.

A line has ``text``, ``ids``, ``add_special`` (whether the post-processor ran) and ``ref``:
``hf:FOLDER`` for its tokenizer.json, ``tiktoken:NAME`` for ranks with the pattern NAME, and
otherwise a kind and the path of the file.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tokexport import Tokenizer
from tokexport.sources.reference import Mode, ReferenceTokenizer
from tokexport.verification.comparison import Comparison

from .find import Found


@dataclass(frozen=True)
class Vectors:
    """The number of vectors compared, the number that differ, and the first difference.

    ``disowned``: vectors whose ids the reference library does not produce for their text either.
    They are not evidence: one is published with the ids of a pair but only the first text.
    """

    compared: int = 0
    differing: int = 0
    first: str = ""
    disowned: int = 0


def references(found: Found) -> frozenset[str]:
    """The possible values of ``ref`` in the vectors of a tokenizer.

    >>> sorted(references(Found("llama2/tokenizer.model")))
    ['gguf:llama2/tokenizer.model', 'sp:llama2/tokenizer.model', 'tekken:llama2/tokenizer.model']
    """
    path = PurePosixPath(found.name)
    folder = path.parent.name
    if path.name == "tokenizer.json":
        return frozenset((f"hf:{folder}",))
    if path.suffix == ".tiktoken" or found.pattern:
        return frozenset((f"tiktoken:{found.pattern or folder}",))
    return frozenset(f"{kind}:{found.name}" for kind in ("sp", "tekken", "gguf"))


def vectors_of(directory: Path, found: Found) -> Iterator[dict[str, Any]]:
    """The vectors of this tokenizer below ``directory``."""
    path = directory / f"{PurePosixPath(found.name).parent.name}.jsonl.gz"
    accepted = references(found)
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (vector for vector in map(json.loads, lines) if vector["ref"] in accepted)


def compare_vectors(
    tokenizer: Tokenizer, reference: ReferenceTokenizer, directory: Path, found: Found
) -> Vectors:
    """Encodes the text of every vector in the way it was published, by the engine and the core."""
    comparison = Comparison(tokenizer, reference)
    files = (comparison.engine, comparison.tokenizer)
    compared = differing = disowned = 0
    first = ""
    for vector in vectors_of(directory, found):
        requested = Mode.TEMPLATE if vector["add_special"] else Mode.IDS
        mode = next(mode for mode in (requested, Mode.IDS, Mode.TEXT) if mode in reference.modes)
        # A library without a post-processor adds BOS on request; with the file, its caller adds it.
        bos = tokenizer.special_ids.bos if requested is Mode.TEMPLATE is not mode else None
        before = [] if bos is None else [bos]
        how: dict[str, Any] = {
            "allowed_special": "all",
            "add_special_tokens": requested is Mode.TEMPLATE,
        }
        both = [before + file.encode(vector["text"], **how) for file in files]
        ids = next((ids for ids in both if ids != vector["ids"]), vector["ids"])
        if ids != vector["ids"]:
            [library] = reference.encode_batch([vector["text"]], mode)
            if before + library == ids:
                disowned += 1
                continue
        compared += 1
        if ids != vector["ids"]:
            differing += 1
            first = first or f"{vector['text']!r}: expected {vector['ids']}, found {ids}"
    return Vectors(compared, differing, first, disowned)
