"""Small tokenizers whose ids show all that a part does to a text: every character has an id, and
neighbours merge.
"""

from __future__ import annotations

from typing import Any

from tokenizers import pre_tokenizers

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
CHARACTERS = [*" ▁abcdeghikstxABKS0123.,'!-#|é中ß"]
# What merges: a piece that is cut, joined or rewritten gets other ids.
NEIGHBOURS = [*" ▁abest1.é中'"]
PAIRS = [[left, right] for left in NEIGHBOURS for right in NEIGHBOURS]
BYTE_PAIRS = [[left, right] for left in "Ġabest1.Ã" for right in "Ġabest1.©"]


def document(model: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A tokenizer.json with a model; every other part is null unless given."""
    fields = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    return {"version": "1.0", **dict.fromkeys(fields), "added_tokens": [], "model": model, **parts}


def ids(tokens: list[str]) -> dict[str, int]:
    """Tokens with ids in their order; one that comes again keeps its id."""
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def bpe(**options: Any) -> dict[str, Any]:
    """BPE over characters; one that is no token is its bytes."""
    vocab = ids([*SPECIAL, *BYTES, *CHARACTERS, *(left + right for left, right in PAIRS)])
    fields = {
        "dropout": None,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
    }
    flags = {"fuse_unk": False, "byte_fallback": True, "ignore_merges": False}
    return {"type": "BPE", **fields, **flags, "vocab": vocab, "merges": PAIRS, **options}


def byte_bpe(**options: Any) -> dict[str, Any]:
    """BPE over bytes, in GPT-2's alphabet."""
    vocab = ids([*SPECIAL, *ALPHABET, *(left + right for left, right in BYTE_PAIRS)])
    return (
        bpe(unk_token=None, byte_fallback=False) | {"vocab": vocab, "merges": BYTE_PAIRS} | options
    )


def unigram(**options: Any) -> dict[str, Any]:
    """Unigram over the same tokens; longer ones are likelier, and some are equally likely."""
    pieces = list(bpe()["vocab"])
    scores = [
        0.0 if number < 260 else -10.0 - number % 7 + 4 * len(piece)
        for number, piece in enumerate(pieces)
    ]
    return {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [list(pair) for pair in zip(pieces, scores, strict=True)],
        **options,
    }


def words(kind: str, **options: Any) -> dict[str, Any]:
    """WordPiece or WordLevel over the same tokens, with their continuations."""
    tokens = [token for token in bpe()["vocab"] if token not in BYTES]
    more = (
        {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
        if kind == "WordPiece"
        else {}
    )
    vocab = ids([*tokens, *(f"##{token}" for token in tokens if kind == "WordPiece")])
    return {"type": kind, "unk_token": "[UNK]", **more, "vocab": vocab, **options}
