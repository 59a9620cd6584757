"""Random BPE models over characters, with every option of tokenizer.json's model."""

import random
from typing import Any

LETTERS = "abcde"
RARE = "xy\u00e9\u4e2d\u6587\u2581 \U0001f600\n"
UNKNOWN = "\u00ea\u0416z\u3042\U0001f601\x00"


def text(r: random.Random, longest: int) -> str:
    """Mostly letters, so that merges occur; rare and unknown characters in between."""
    kinds = [LETTERS, RARE, UNKNOWN] if r.random() < 0.7 else [LETTERS]
    weights = [8, 2, 2][: len(kinds)]
    parts = ["".join(r.choices(kinds, weights)[0]) for _ in range(r.randint(1, longest))]
    string = "".join(r.choice(part) for part in parts)
    return string * r.randint(2, 40) if r.random() < 0.1 else string


def runs(r: random.Random, letters: str) -> str:
    """Runs of letters; some texts are longer than a short pre-token."""
    chosen = r.choices(letters, k=r.randint(1, 30))
    return "".join(letter * r.choice([1, 1, 2, 3, 8]) for letter in chosen) * r.choice([1, 1, 4])


def character_model(seed: int) -> dict[str, Any]:
    """The ``model`` of a tokenizer.json, deterministic for a seed."""
    r = random.Random(seed)
    prefix, suffix = "", ""
    if r.random() < 0.4:
        prefix = r.choice(["", "##", "b", "\u2581"])
        suffix = r.choice(["", "</w>", "a", "@@"])
    byte_fallback = not (prefix or suffix) and r.random() < 0.6
    tokens = dict.fromkeys(["<unk>"])
    spelled = byte_fallback and r.random() < 0.8
    for byte in range(256):
        if spelled and (r.random() < 0.7 or seed % 3 == 0):
            tokens[f"<0x{byte:02X}>"] = None
    letters = [letter for letter in LETTERS + RARE if r.random() < 0.93]
    for letter in letters:
        for before in {"", prefix}:
            for after in {"", suffix}:
                if r.random() < 0.95:
                    tokens[before + letter + after] = None
    merges = _merges(r, tokens, prefix)
    for _ in range(r.choice([0, 0, 4])):  # found only as a whole pre-token, or never
        tokens[text(r, 4)] = None
    order = list(tokens)
    if r.random() < 0.5:
        r.shuffle(order)
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": r.choice([None, "<unk>", "<unk>", "<unk>", "[UNK]"]),  # the last is no token
        "continuing_subword_prefix": prefix or r.choice([None, ""]),
        "end_of_word_suffix": suffix or r.choice([None, ""]),
        "fuse_unk": r.random() < 0.5,
        "byte_fallback": byte_fallback,
        "ignore_merges": r.random() < 0.3,
        "vocab": {token: number for number, token in enumerate(order)},
        "merges": [list(pair) for pair in merges],
    }


def _merges(r: random.Random, tokens: dict[str, None], prefix: str) -> list[tuple[str, str]]:
    """Merges of any existing tokens, sometimes byte tokens and the unknown token."""
    usable = [token for token in tokens if not token.startswith("<") or r.random() < 0.002]
    merges: dict[tuple[str, str], None] = {}
    for _ in range(r.randint(0, 150)):
        left, right = r.choice(usable), r.choice(usable)
        if not right.startswith(prefix) or right == prefix or len(left + right) > 14:
            continue
        merges[left, right] = None
        joined = left + right[len(prefix) :]
        if joined not in tokens:
            tokens[joined] = None
            usable.append(joined)
    order = list(merges)
    if r.random() < 0.3:
        r.shuffle(order)
    return order
