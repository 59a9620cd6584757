"""The bulk engine encodes texts full of added tokens as ``tokenizers`` and the core do."""

import random
from typing import Any

import pytest
from bulk_cores import NEVER
from reader_samples import BYTES, added, document, reference, spelled
from repository import SLOW

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.sources import read

MODELS = 400 if SLOW else 30
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
    merges = [word for word in MERGES if r.random() < 0.7]
    vocab, rules = dict(BYTES), []
    for word in merges:
        text = spelled(word)
        splits = [(text[:at], text[at:]) for at in range(1, len(text))]
        known = [pair for pair in splits if pair[0] in vocab and pair[1] in vocab]
        if text not in vocab and known:
            vocab[text] = len(vocab)
            rules.append(list(r.choice(known)))
    return document(
        model={"vocab": vocab, "merges": rules}, normalizer=r.choice((None, {"type": "NFC"}))
    )


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
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    return document(
        model={"vocab": vocab, "merges": rules, "byte_fallback": True},
        normalizer=space,
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


def texts_of(r: random.Random, contents: list[str]) -> list[str]:
    """Short and long texts, and some again with one part changed: passages found and new ones."""
    parts = [*r.sample(WORDS, r.randint(3, len(WORDS))), *contents]
    made = []
    for size in (3, 20, 60, 1_000, 6_000):
        chosen = r.choices(parts, k=size)
        made.append("".join(chosen))
        chosen[r.randrange(size)] = r.choice(parts)
        made.append("".join(chosen))
    # Without a cut between two ASCII characters: longer than passages with tokens may be.
    chinese = "".join(chr(r.randrange(0x4E00, 0x9FA5)) for _ in range(90_000))
    made.append(made[2] + chinese + "".join(r.choices(contents, k=5)) + chinese[:9_000])
    return [*made, *made[::-1]]


@pytest.mark.parametrize("make", [of_bytes, of_characters])
def test_random_added_tokens_have_the_ids_of_the_library_at_every_width(make: Any) -> None:
    r = random.Random(make.__name__)
    bulk = 0
    for _ in range(MODELS):
        fields = with_tokens(r, make(r))
        library = reference(fields)
        data = file_bytes(read(library))
        core = Core(data, "core", NEVER)
        engines = [Core(data, "engine", 0, width) for width in split_widths()]
        contents = [token["content"] for token in fields["added_tokens"]]
        # The library panics if a token strips white space that is a token, too.
        strips = any(token["lstrip"] or token["rstrip"] for token in fields["added_tokens"])
        for text in texts_of(r, contents):
            for special in ((), "all"):
                library.encode_special_tokens = special == ()
                expected = core.encode_numpy(text, special, False).tolist()
                if len(text) < 3_000 and not strips:
                    encoded = library.encode(text, add_special_tokens=False)
                    assert encoded.ids == expected, (fields["added_tokens"], text)
                for engine in engines:
                    found = engine.encode_numpy(text, special, False).tolist()
                    assert found == expected, (fields["added_tokens"], text[:3_000])
        bulk += engines[0].uses_bulk
    assert bulk > MODELS * 0.9
