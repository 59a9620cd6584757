"""Random small vocabularies with random added tokens, many of them white space."""

import random
from collections.abc import Iterable
from typing import Any

from json_parts import replace
from reader_samples import BYTES, added, document, spelled

MERGES = ("th", "he", "the", " t", " the", "in", "  ", "    ", "\n\n", " \n", "\u00e9", "ing", "ab")
CONTENTS = (
    *("  ", "   ", "    ", "        ", "\n", "\n\n", "\n\n\n", " \n", "\t\t", " ", "<b>", "</b>"),
    *("<s>", "</s>", "the", "the end", " x", "\u2581\u2581", "\u00e9", "\u4e2d", "<unk>"),
)
WORDS = (
    *("the", " the", "thing", " in", "x", "ab", "abab", "  ", "   ", "\n", "\n\n", " \n", "\t"),
    *("e\u0301", "\u00e9", "\u2581", "\u4e2d\u6587", "\U0001f600", "1", "22", "!?", "<", "s>"),
    *("a" * 70, " " * 90, "\t" * 700, "th" * 600, "\u4e2d" * 400, "don't"),
)


def of_bytes(r: random.Random) -> dict[str, Any]:
    """BPE over bytes with GPT-2's pattern, and NFC or nothing before it."""
    merges = [spelled(word) for word in MERGES if r.random() < 0.7]
    model = with_merges(r, BYTES, merges)
    return document(model=model, normalizer=r.choice((None, {"type": "NFC"})))


def with_merges(r: random.Random, single: dict[str, int], words: Iterable[str]) -> dict[str, Any]:
    """A vocabulary, with a merge of two of its tokens for each other word that is one."""
    vocab, rules = dict(single), []
    for word in words:
        splits = [(word[:at], word[at:]) for at in range(1, len(word))]
        known = [split for split in splits if split[0] in vocab and split[1] in vocab]
        if word not in vocab and known:
            vocab[word] = len(vocab)
            rules.append(list(r.choice(known)))
    return {"vocab": vocab, "merges": rules}


def of_characters(r: random.Random) -> dict[str, Any]:
    """BPE over characters as in Gemma: U+2581 for spaces, bytes for unknown characters."""
    vocab = {f"<0x{byte:02X}>": byte for byte in range(256)}
    for character in "\u2581abcdefghijklmnopqrstuvwxyz\n\t<>/!?\u00e9\u4e2d":
        vocab[character] = len(vocab)
    rules = []
    for word in (word.replace(" ", "\u2581") for word in MERGES if r.random() < 0.7):
        if len(word) > 1 and word[:-1] in vocab and word not in vocab:
            vocab[word] = len(vocab)
            rules.append([word[:-1], word[-1]])
    return document(
        model={"vocab": vocab, "merges": rules, "byte_fallback": True},
        normalizer=replace(" ", "\u2581"),
        pre_tokenizer=None,
        decoder=None,
    )


def with_tokens(r: random.Random, fields: dict[str, Any]) -> dict[str, Any]:
    """The document with some added tokens of random flags."""
    vocab = fields["model"]["vocab"]
    contents = r.sample(CONTENTS, r.randint(1, 10))
    if "  " in contents and "\u2581\u2581" in contents:
        contents.remove("  ")  # refused: the normalizer makes them equal
    normalized = r.random() < 0.5
    plain_spaces = r.random() < 0.6  # as published: the engine takes them for pre-tokens
    fields["added_tokens"] = []
    for number, content in enumerate(contents):
        likely = not (plain_spaces and any(character.isspace() for character in content))
        fields["added_tokens"].append(
            added(
                content,
                vocab.get(content, len(vocab) + number),
                special=r.random() < 0.2 * likely,
                normalized=normalized if r.random() < 0.9 else not normalized,
                **{
                    flag: r.random() < 0.06 * likely for flag in ("lstrip", "rstrip", "single_word")
                },
            )
        )
    return fields
