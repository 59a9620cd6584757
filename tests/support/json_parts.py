"""Parts of a tokenizer.json that many tests use, as JSON."""

from typing import Any

Json = dict[str, Any]
FUSE: Json = {"type": "Fuse"}
STRIP: Json = {"type": "Strip", "strip_left": True, "strip_right": True}


def normalizers(*parts: Json) -> Json:
    return {"type": "Sequence", "normalizers": list(parts)}


def bert(**changes: bool | None) -> Json:
    """The normalizer of BERT without cases."""
    options = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
    return {"type": "BertNormalizer", **options, "lowercase": True, **changes}


def pre_tokenizers(*parts: Json) -> Json:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def replace(pattern: str, content: str, kind: str = "String") -> Json:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def split(
    pattern: str, behavior: str = "Isolated", *, kind: str = "Regex", invert: bool = False
) -> Json:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def metaspace(scheme: str = "always", split: bool = True) -> Json:
    """A pre-tokenizer or decoder with U+2581 for a space."""
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}


def digits(alone: bool = True) -> Json:
    """A pre-tokenizer that isolates digits, one by one or in runs."""
    return {"type": "Digits", "individual_digits": alone}


def word_piece(vocab: dict[str, int], prefix: str = "##") -> Json:
    """The model of BERT."""
    options = {"continuing_subword_prefix": prefix, "max_input_chars_per_word": 100}
    return {"type": "WordPiece", "unk_token": "[UNK]", **options, "vocab": vocab}
