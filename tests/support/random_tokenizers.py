"""Random tokenizers with all unusual features: for `tokenizers` and for tiktoken."""

import random
from typing import Any

import tiktoken
from json_parts import digits, normalizers, pre_tokenizers, split
from reader_samples import BYTES, document, spelled
from regex_patterns import TIKTOKEN

from tokexport.sources.tokenizer_json import document as parts

ALPHABET = sorted(BYTES)

LETTERS = "abcdethsin"
CHARACTERS = (
    "abcdeghikstxABKS0123'.,!-"
    " \n\t\r\u00e9\u00df\u017fK\u00efﬁ\u0301\u0323中文😀\u00a0\u2028가\u1100"
)
# The first ones mean the same to both engines' parsers; the last ones work in one engine only.
PATTERNS = [
    *(TIKTOKEN["whisper-tiktoken"], TIKTOKEN["llama3-tiktoken"]),
    *(r"\p{N}{1,3}", r"\s+$", r"\s?\p{L}+", r"[\r\n]", r"\d+", r"\w+|[^\w\s]+", r"[一-龥]+"),
    *(r"[^a-z]", r"a|ab|abc", r"(?i:the|ss|k)", r"^a", r"\s+", r"\p{Han}+", r"(?<=a)b|c", r"e\b"),
    *(r"[a-z]+!|[a-z]", r"(ab)+", r".+", r"\p{Lu}\p{Ll}*", r"(?=\S)\w{1,2}", r"(?<![0-9])[0-9]"),
    *(r"[^\S\n]+", r"(?:ab|a)(?:c|bcd)", r"[\p{L}&&[^a-m]]+", r"\p{L}++|\p{N}?+x", r"(?>a+)b|a"),
    *(r"\d{1,3}(?=(?:\d{3})*\b)", r"[a-d]+(?=[a-z]*\s)", r"a(?!.*b)|\p{N}+"),
]
ONIGURUMA = [
    *(r"[[:punct:]]+", r"\h+", r"\X", r"\b", r"x*", r"ſ|(?i)straße|fi", r"(?=(\d{3})+(?!\d))"),
    r"(?:[ab]+!)?",
]
FANCY_REGEX = [
    TIKTOKEN["tiktoken 0.14.0 cl100k_base"],
    *(r"[\s\S]{1,4}", r"^.+$|\s", r"[^\W\d_]+|\d{2}|.", r"\p{Script=Greek}+|\P{Greek}"),
    r"(?i)str(a|ß)e|\w",
]
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
CONTENTS = [
    *("<s>", "</s>", "<|end|>", "[MASK]", "<unk>", "<|e", "|>", "  ", "   ", "\n", "\n\n"),
    *(" a", "a ", "é", "e\u0301", "ﬁ", "\u212a"),
]
NAMES = ["<s>", "<|end|>", "|>x", "[M]", "e<", "é>", " ", "中", "abc\n", "s>"]


def text(r: random.Random, longest: int) -> str:
    """A few characters, mostly letters that merge."""
    return "".join(
        r.choice(LETTERS if r.random() < 0.7 else CHARACTERS) for _ in range(r.randint(1, longest))
    )


def _byte_level(**flags: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", **flags}


def _stage(r: random.Random) -> dict[str, Any]:
    kind = r.randrange(10)
    if kind < 5:
        pattern, name = r.choice(PATTERNS + ONIGURUMA), "Regex"
        if r.random() >= 0.85:
            pattern, name = r.choice(["a", " ", "the", "é", ".", "  "]), "String"
        return split(pattern, r.choice(BEHAVIORS), kind=name, invert=r.random() < 0.4)
    if kind == 5:
        return digits(r.random() < 0.5)
    if kind == 6:
        return {"type": "Punctuation", "behavior": r.choice(BEHAVIORS)}
    if kind == 7:
        return {"type": r.choice(["Whitespace", "WhitespaceSplit", "BertPreTokenizer"])}
    if kind == 8:
        return {"type": "FixedLength", "length": r.randint(1, 6)}
    return {"type": "CharDelimiterSplit", "delimiter": r.choice("a .-é")}


def _pre_tokenizer(r: random.Random) -> dict[str, Any]:
    before = [_stage(r) for _ in range(r.choice([0, 0, 1, 1, 2, 3]))]
    after = [_stage(r) for _ in range(r.choice([0, 0, 0, 1, 2]))]
    level = _byte_level(
        add_prefix_space=not before and r.random() < 0.3,
        trim_offsets=r.random() < 0.5,
        use_regex=r.random() < 0.5,
    )
    return pre_tokenizers(*before, level, *after)


def _normalizer(r: random.Random) -> dict[str, Any] | None:
    forms = [{"type": r.choice(["NFC", "NFD", "NFKC", "NFKD"])} for _ in range(r.randint(0, 2))]
    return r.choice([None, None, *forms, normalizers(*forms)])


def _vocabulary(r: random.Random) -> tuple[list[str], list[tuple[str, str]]]:
    """Tokens and merges. Some bytes may be missing, merges and ids may be in different orders, and
    a token may have two merges.
    """
    tokens = list(ALPHABET)
    if r.random() < 0.25:
        for character in r.sample(tokens, r.randint(1, 40)):
            tokens.remove(character)
    known, merges = set(tokens), dict[tuple[str, str], None]()
    for _ in range(r.randint(10, 400)):
        joined = spelled(text(r, 3))
        cut = r.randrange(len(joined))
        left, right = joined[:cut], joined[cut:]
        if r.random() >= 0.5:
            left, right = r.choice(tokens), r.choice(tokens)
        if left in known and right in known and len(left + right) <= 24:
            merges[left, right] = None
            if left + right not in known:
                known.add(left + right)
                tokens.append(left + right)
    for content in (spelled(text(r, 5)) for _ in range(r.choice([0, 0, 3, 8]))):
        if content not in known:  # found only as a whole pre-token, or never
            known.add(content)
            tokens.append(content)
    order = list(merges)
    if r.random() < 0.4:
        r.shuffle(order)
    if r.random() < 0.8:
        r.shuffle(tokens)
    return tokens, order


def _added(r: random.Random, vocab: dict[str, int]) -> list[dict[str, Any]]:
    contents: dict[str, None] = {}
    for _ in range(r.choice([0, 1, 2, 4, 8])):
        content = r.choice(CONTENTS) if r.random() < 0.6 else text(r, 4)
        if contents and r.random() < 0.25:
            content = r.choice(list(contents)) + r.choice(["x", " ", "|>"])
        contents[content] = None
    added, free = [], max(vocab.values()) + 1
    for content in contents:
        if content not in vocab and r.random() < 0.3:
            vocab[content] = free
        number = vocab.get(content, free)
        free += number == free
        flags = {name: r.random() < 0.3 for name in ("single_word", "lstrip", "rstrip")}
        flags |= {name: r.random() < 0.5 for name in ("normalized", "special")}
        number = number if r.random() < 0.95 else r.randrange(free)
        added.append({"id": number, "content": content, **flags})
    return added


def _post_processor(r: random.Random, added: list[dict[str, Any]]) -> dict[str, Any] | None:
    level = _byte_level(add_prefix_space=True, trim_offsets=False, use_regex=True)
    if not added:
        return r.choice([None, level])
    token = r.choice(added)
    around, first, second = parts.special(token["content"]), parts.text("A"), parts.text("B", 1)
    ids = {token["content"]: token["id"]}
    processors = [
        parts.template([around, first], [around, first, around, second], ids),
        {
            "type": "BertProcessing",
            "sep": [token["content"], token["id"]],
            "cls": [added[0]["content"], added[0]["id"]],
        },
        level,
    ]
    processor = r.choice(processors)
    both = {"type": "Sequence", "processors": [processor, level]}
    return r.choice([None, processor, processor, both])


def tokenizer_json(seed: int) -> dict[str, Any]:
    """A tokenizer.json, deterministic for a seed."""
    r = random.Random(seed)
    tokens, merges = _vocabulary(r)
    unknown = r.choice([None, None, "<unk>", r.choice(tokens)])
    spelled = dict.fromkeys([*tokens, *([unknown] if unknown else [])])
    vocab = {token: number for number, token in enumerate(spelled)}
    added = _added(r, vocab)
    model = {
        "unk_token": unknown,
        "continuing_subword_prefix": r.choice([None, ""]),
        "end_of_word_suffix": r.choice([None, ""]),
        "fuse_unk": r.random() < 0.3,
        "ignore_merges": r.random() < 0.4,
        "vocab": vocab,
        "merges": list(map(list if r.random() < 0.6 else " ".join, merges)),
    }
    return document(
        model=model,
        added_tokens=added,
        normalizer=_normalizer(r),
        pre_tokenizer=_pre_tokenizer(r),
        post_processor=_post_processor(r, added),
        decoder=_byte_level(add_prefix_space=True, trim_offsets=True, use_regex=True),
    )


def encoding(seed: int) -> tiktoken.Encoding:
    """A tiktoken encoding for a seed: ranks in any order, and tokens that no merges reach."""
    r = random.Random(seed)
    tokens = dict.fromkeys(bytes([byte]) for byte in range(256))
    for _ in range(r.randint(0, 300)):
        content = text(r, 4).encode() if r.random() < 0.6 else b"".join(r.sample(list(tokens), 2))
        tokens[content[: r.randint(1, 24)]] = None
    order = list(tokens)
    if r.random() < 0.5:
        r.shuffle(order)
    step = r.choice([1, 1, 2])
    ranks = {content: number * step for number, content in enumerate(order)}
    names = r.sample(NAMES, r.choice([0, 1, 3, 6]))
    special = {name: step * len(ranks) + 2 * number for number, name in enumerate(names)}
    pattern = "|".join(r.sample(PATTERNS + FANCY_REGEX, r.choice([1, 1, 2])))
    return tiktoken.Encoding(
        "random", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
    )
