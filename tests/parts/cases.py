"""Every part of a tokenizer.json with its options, each in a small tokenizer that shows its effect:
every character has an id, and neighbours merge.

A line of cases.jsonl names the model, the changes to it, and the other parts. "ByteLevel" means
without options, and added tokens list only the flags that are set.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenizers import pre_tokenizers
from unicode_tables.charsmap import charsmap_of

Json = dict[str, Any]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
CHARACTERS = [*" ▁abcdeghikstxABKS0123.,'!-#|é中ß"]
# Neighbours that merge, so that a pre-token that is cut, joined or rewritten gets other ids.
NEIGHBOURS = [*" ▁abest1.é中'"]
PAIRS = [[left, right] for left in NEIGHBOURS for right in NEIGHBOURS]
BYTE_PAIRS = [[left, right] for left in "Ġabest1.Ã" for right in "Ġabest1.©"]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
CHARSMAP = {"a": "x", "é": "e", "\u3000": " ", "ﬁ": "fi", "\t": " ", "ab": "ba", "\u200b": ""}


def _ids(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def _joined(pairs: list[list[str]]) -> list[str]:
    return ["".join(pair) for pair in pairs]


_TOKENS: Final = [*SPECIAL, *BYTES, *CHARACTERS, *_joined(PAIRS)]
_WORDS: Final = [token for token in _TOKENS if token not in BYTES]
_AFFIXED: Final = _ids([*_WORDS, *(f"##{word}" for word in _WORDS)])
_LETTERS: Final = [pair for pair in PAIRS if not set(pair) & set(" ▁'.")]
_BPE: Final[Json] = {"type": "BPE", "dropout": None, "unk_token": "[UNK]"} | {
    **dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix")),
    "fuse_unk": False,
    "byte_fallback": True,
    "ignore_merges": False,
}
_PLAIN: Final = {"byte_fallback": False, "unk_token": None}
MODELS: Final[dict[str, Json]] = {
    "characters": {**_BPE, "vocab": _ids(_TOKENS), "merges": PAIRS},
    "letters": {
        **_BPE,
        "merges": _LETTERS,
        "vocab": _ids([*SPECIAL, *BYTES, *CHARACTERS, *_joined(_LETTERS)]),
    },
    "bytes": {
        **_BPE,
        **_PLAIN,
        "merges": BYTE_PAIRS,
        "vocab": _ids([*SPECIAL, *ALPHABET, *_joined(BYTE_PAIRS)]),
    },
    "affixes": {**_BPE, "byte_fallback": False, "vocab": _AFFIXED},
    "unigram": {  # longer tokens are more likely, and some are equally likely
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [
            [piece, 0.0 if number < 260 else -10.0 - number % 7 + 4 * len(piece)]
            for number, piece in enumerate(_ids(_TOKENS))
        ],
    },
    "WordPiece": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": _AFFIXED,
    },
    "WordLevel": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": _ids(_WORDS)},
}


@dataclass(frozen=True)
class Case:
    """A part with an option, and a tokenizer.json that has it. ``place`` is its field."""

    place: str
    part: str
    option: str
    document: Json

    @property
    def name(self) -> str:
        return f"{self.place}, {self.part}, {self.option}"


def cases() -> Iterator[Case]:
    """All cases, in the order in which parts run."""
    for line in Path(__file__).with_name("cases.jsonl").read_text("utf-8").splitlines():
        fields = _expanded(json.loads(line))
        place, part, option = (fields.pop(name) for name in ("place", "part", "option"))
        model, change = MODELS[fields.pop("model")], fields.pop("change", {})
        if "add" in change or "drop" in change:
            dropped = change.pop("drop", ())
            kept = {token: n for token, n in model["vocab"].items() if token not in dropped}
            change["vocab"] = kept | change.pop("add", {})
        yield Case(place, part, option, document({**model, **change}, **fields))


def document(model: Json, **parts: Any) -> Json:
    """A tokenizer.json with a model; every other part is null unless given."""
    empty = ["normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding"]
    return {"version": "1.0", "added_tokens": [], **dict.fromkeys(empty), **parts, "model": model}


def _expanded(value: Any, inside: str = "") -> Any:
    if isinstance(value, dict):
        if inside == "added_tokens":
            return {"id": 0, **dict.fromkeys(FLAGS, False), **value}
        return {name: _expanded(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_expanded(inner, inside) for inner in value]
    if value == "ByteLevel" and inside not in ("part", "type"):
        return {**BYTE_LEVEL, "use_regex": False}
    return base64.b64encode(charsmap_of(CHARSMAP)).decode() if value == "CHARSMAP" else value
