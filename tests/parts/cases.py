"""Every part of a tokenizer.json with its options, each in a small tokenizer that shows what it
does.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unicode_tables.charsmap import charsmap_of

from .bases import BYTES, CHARACTERS, bpe, byte_bpe, document, unigram, words

Json = dict[str, Any]
LETTERS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
SPACES = {"type": "WhitespaceSplit"}
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
CHARSMAP = {
    "a": "x",
    "é": "e",
    "\u3000": " ",
    "ﬁ": "fi",
    "\t": " ",
    "e\u0301": "é",
    "ab": "ba",
    "\u200b": "",
}


@dataclass(frozen=True)
class Case:
    """A part, with an option of it, and the tokenizer.json that has it. ``place`` is its field."""

    place: str
    part: str
    option: str
    document: Json

    @property
    def name(self) -> str:
        """Unique among the cases."""
        return f"{self.place}, {self.part}, {self.option}"


def cases() -> list[Case]:
    """All of them, in the order in which parts run."""
    found: list[Case] = []
    for place, members in (
        ("normalizer", _normalizers()),
        ("pre-tokenizer", _pre_tokenizers()),
        ("model", _models()),
        ("post-processor", _post_processors()),
        ("decoder", _decoders()),
        ("added token", _added_tokens()),
        ("field", _fields()),
    ):
        found += [Case(place, part, option, content) for part, option, content in members]
    return found


Members = Iterator[tuple[str, str, Json]]


def _normalizers() -> Members:
    def case(part: str, option: str, *steps: Json) -> tuple[str, str, Json]:
        normalizer = (
            steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": list(steps)}
        )
        return part, option, document(bpe(), normalizer=normalizer)

    def replace(content: str, **pattern: str) -> Json:
        return {"type": "Replace", "pattern": pattern, "content": content}

    for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"):
        yield case(name, "always", {"type": name})
    for left, right in ((True, True), (True, False), (False, True), (False, False)):
        option = f"strip_left {left} and strip_right {right}".lower()
        yield case("Strip", option, {"type": "Strip", "strip_left": left, "strip_right": right})
    yield case("Replace", "String", replace("▁", String=" "))
    yield case("Replace", "Regex", replace("e", Regex=r"\s+|[0-9]{2,}"))
    yield case("Replace", "Regex with lookahead", replace("-", Regex=r"a(?=b)|b(?=ab)"))
    yield case("Replace", "Regex with lookbehind", replace("-", Regex=r"(?<=ab)t|(?<!th)e(?!\w\w)"))
    yield case(
        "Replace", "Regex that refers back to one of a few texts", replace("-", Regex=r"(a|b)\1")
    )
    yield case(
        "Replace", "Regex that refers back to the character before", replace("-", Regex=r"(.)\1+")
    )
    yield case("Replace", "Regex that refers back to any text", replace("-", Regex=r"(a+)\1"))
    yield case("Replace", "Regex that matches nothing too", replace("-", Regex=r"a*"))
    yield case("Replace", "Regex that matches nothing too, by nothing", replace("", Regex=r"a*"))
    yield case(
        "Replace",
        "Regex that matches at the start, before NFC",
        replace("-", Regex=r"a*"),
        {"type": "NFC"},
    )
    yield case("Replace", "empty String", replace("-", String=""))
    yield case("Prepend", "a text", {"type": "Prepend", "prepend": "▁"})
    yield case("Prepend", "no text", {"type": "Prepend", "prepend": ""})
    charsmap = base64.b64encode(charsmap_of(CHARSMAP)).decode()
    yield case("Precompiled", "any map", {"type": "Precompiled", "precompiled_charsmap": charsmap})
    for option in ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"):
        fields = {
            "clean_text": False,
            "handle_chinese_chars": False,
            "strip_accents": False,
            "lowercase": False,
        }
        yield case("BertNormalizer", option, {"type": "BertNormalizer", **fields, option: True})
    fields = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    yield case("BertNormalizer", "strip_accents null", {"type": "BertNormalizer", **fields})
    mapped = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "ByteLevel"}]}
    yield "ByteLevel", "last", document(byte_bpe(), normalizer=mapped)
    mapped = {"type": "Sequence", "normalizers": [{"type": "ByteLevel"}, {"type": "NFC"}]}
    yield "ByteLevel", "not last", document(byte_bpe(), normalizer=mapped)
    yield case(
        "Sequence", "any", {"type": "NFKD"}, {"type": "StripAccents"}, replace("▁", String=" ")
    )


def _pre_tokenizers() -> Members:
    def plain(*steps: Json) -> Json:
        part = steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": list(steps)}
        return document(bpe(), pre_tokenizer=part)

    def on_bytes(*steps: Json) -> Json:
        return document(
            byte_bpe(), pre_tokenizer={"type": "Sequence", "pretokenizers": [LETTERS, *steps]}
        )

    def split(behavior: str = "Isolated", invert: bool = False, **pattern: str) -> Json:
        return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}

    for option in ("add_prefix_space", "trim_offsets", "use_regex"):
        fields = {**LETTERS, "trim_offsets": False, option: True}
        yield "ByteLevel", option, document(byte_bpe(), pre_tokenizer=fields)
    yield "ByteLevel", "twice", on_bytes(LETTERS)
    for behavior in BEHAVIORS:
        yield "Split", behavior, plain(split(behavior, Regex=r"[ab]+|\s"))
    yield "Split", "invert", plain(split(invert=True, Regex=r"\w+"))
    yield "Split", "String", plain(split(String="a."))
    yield "Split", "empty String", plain(split(String=""))
    yield "Split", "look-ahead", plain(split(Regex=r"\s+(?!\S)|\d{1,3}(?=(?:\d{3})*\b)"))
    yield "Split", "look-behind", plain(split(Regex=r"(?<=a)b|(?<!b)e"))
    yield "Split", "atomic groups", plain(split(Regex=r"(?>a+)b|\s++"))
    yield "Split", "back-references to one of a few characters", plain(split(Regex=r"([ab.!])\1*"))
    yield "Split", "back-references to any text", plain(split(Regex=r"(a+)\1"))
    for alone in (True, False):
        yield (
            "Digits",
            f"individual_digits {alone}".lower(),
            plain({"type": "Digits", "individual_digits": alone}),
        )
    for behavior in BEHAVIORS:
        yield "Punctuation", behavior, plain({"type": "Punctuation", "behavior": behavior})
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"):
        yield name, "always", plain({"type": name})
        yield name, "after ByteLevel", on_bytes({"type": name})
    yield (
        "CharDelimiterSplit",
        "any character",
        plain({"type": "CharDelimiterSplit", "delimiter": "a"}),
    )
    yield "FixedLength", "any length", plain({"type": "FixedLength", "length": 3})
    for scheme in ("always", "first", "never"):
        fields = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme}
        yield "Metaspace", scheme, plain({**fields, "split": True})
        yield "Metaspace", f"{scheme} without split", plain({**fields, "split": False})
    fields = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    shorter = {"type": "Replace", "pattern": {"String": "ab"}, "content": ""}
    option = "first, after a Replace"
    yield "Metaspace", option, document(bpe(), normalizer=shorter, pre_tokenizer=fields)
    yield "Metaspace", "after ByteLevel", on_bytes(fields)
    yield (
        "Sequence",
        "any",
        plain({"type": "Punctuation", "behavior": "Isolated"}, split(Regex="[a-c]"), SPACES),
    )


def _models() -> Members:
    yield "BPE", "over characters", document(bpe(byte_fallback=False))
    yield "BPE", "over bytes", document(byte_bpe(), pre_tokenizer=LETTERS)
    yield "BPE", "byte_fallback", document(bpe())
    missing = {
        token: number for token, number in bpe()["vocab"].items() if token not in BYTES[200:]
    }
    yield "BPE", "byte_fallback to some bytes", document(bpe(vocab=missing))
    yield "BPE", "unk_token null", document(bpe(byte_fallback=False, unk_token=None))
    yield "BPE", "fuse_unk", document(bpe(byte_fallback=False, fuse_unk=True))
    yield "BPE", "ignore_merges", document(bpe(ignore_merges=True))
    vocab = {**words("WordPiece")["vocab"], "a&": 9000, "&": 9001, "b&": 9002}
    affixes: Json = {"vocab": vocab, "merges": [["a", "##b"], ["b", "##a"]], "byte_fallback": False}
    yield (
        "BPE",
        "continuing_subword_prefix",
        document(bpe(**affixes, continuing_subword_prefix="##"), pre_tokenizer=SPACES),
    )
    affixes["merges"] = [["a", "b"], ["a", "b&"]]
    vocab.update({"ab&": 9003})
    yield (
        "BPE",
        "end_of_word_suffix",
        document(bpe(**affixes, end_of_word_suffix="&"), pre_tokenizer=SPACES),
    )
    affixes |= {
        "byte_fallback": True,
        "vocab": {**bpe()["vocab"], **{f"{c}&": 9000 + n for n, c in enumerate("ab")}},
    }
    affixes["merges"] = [["a", "b"]]
    yield (
        "BPE",
        "affixes and byte_fallback",
        document(bpe(**affixes, end_of_word_suffix="&"), pre_tokenizer=SPACES),
    )
    unknown = {
        "vocab": {**bpe()["vocab"], "[UNK]a": 9000},
        "merges": [["[UNK]", "a"]],
        "byte_fallback": False,
    }
    yield "BPE", "a merge of the unk_token", document(bpe(**unknown))
    yield "BPE", "one id for two tokens", document(bpe(vocab={**bpe()["vocab"], "another": 7}))
    yield "BPE", "dropout 0", document(bpe(dropout=0.0))
    yield "BPE", "dropout", document(bpe(dropout=0.1))
    yield "Unigram", "scores", document(unigram(byte_fallback=False))
    yield "Unigram", "byte_fallback", document(unigram(byte_fallback=True))
    yield "Unigram", "unk_id null", document(unigram(unk_id=None, byte_fallback=False))
    yield (
        "Unigram",
        "after ByteLevel",
        document(unigram(byte_fallback=False), pre_tokenizer=LETTERS),
    )
    yield (
        "Unigram",
        "byte_fallback after ByteLevel",
        document(unigram(byte_fallback=True), pre_tokenizer=LETTERS),
    )
    for prefix in ("##", ""):
        model = words("WordPiece", continuing_subword_prefix=prefix)
        yield (
            "WordPiece",
            f'continuing_subword_prefix "{prefix}"',
            document(model, pre_tokenizer=SPACES),
        )
    model = words("WordPiece", max_input_chars_per_word=5)
    yield "WordPiece", "max_input_chars_per_word", document(model, pre_tokenizer=SPACES)
    model = words("WordPiece", continuing_subword_prefix="中")
    yield (
        "WordPiece",
        "after ByteLevel a prefix that is no bytes",
        document(model, pre_tokenizer=LETTERS),
    )
    yield "WordLevel", "with unk_token", document(words("WordLevel"), pre_tokenizer=SPACES)
    yield (
        "WordLevel",
        "unk_token not in vocab",
        document(words("WordLevel", unk_token="none"), pre_tokenizer=SPACES),
    )


def _post_processors() -> Members:
    text, other = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
    start = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    tokens = {"[CLS]": {"id": "[CLS]", "ids": [1, 2], "tokens": ["[CLS]", "[SEP]"]}}
    both = {"sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}

    def template(single: list[Json], pair: list[Json]) -> Json:
        return {
            "type": "TemplateProcessing",
            "single": single,
            "pair": pair,
            "special_tokens": tokens,
        }

    def case(option: str, *steps: Json) -> tuple[str, str, Json]:
        part = steps[0] if len(steps) == 1 else {"type": "Sequence", "processors": list(steps)}
        name = "Sequence" if len(steps) > 1 else steps[0]["type"]
        return name, option, document(byte_bpe(), pre_tokenizer=LETTERS, post_processor=part)

    yield case("one text and pairs", template([start, text], [start, text, start, other]))
    yield case("pairs in the other order", template([text, start], [other, start, text]))
    yield case("a text twice", template([text, start, text], [text, other]))
    nowhere = {"[CLS]": {"id": "[CLS]", "ids": [9999], "tokens": ["[CLS]"]}}
    yield case(
        "an id that is no token",
        template([start, text], [text, other]) | {"special_tokens": nowhere},
    )
    yield case("always", {"type": "BertProcessing", **both})
    for trim in (True, False):
        fields = {
            "type": "RobertaProcessing",
            **both,
            "trim_offsets": trim,
            "add_prefix_space": trim,
        }
        yield case(f"trim_offsets {trim}".lower(), fields)
    for trim in (True, False):
        yield case(f"trim_offsets {trim}".lower(), {**LETTERS, "trim_offsets": trim})
    yield case("any", LETTERS, template([start, text], [start, text, other]))


def _decoders() -> Members:
    def case(
        part: str, option: str, *steps: Json, model: Json | None = None
    ) -> tuple[str, str, Json]:
        decoder = steps[0] if len(steps) == 1 else {"type": "Sequence", "decoders": list(steps)}
        return part, option, document(model or bpe(), decoder=decoder)

    def replace(content: str, **pattern: str) -> Json:
        return {"type": "Replace", "pattern": pattern, "content": content}

    def strip(content: str, start: int, stop: int) -> Json:
        return {"type": "Strip", "content": content, "start": start, "stop": stop}

    fallback, fuse = {"type": "ByteFallback"}, {"type": "Fuse"}
    yield "null", "always", document(bpe())
    yield "ByteLevel", "always", document(byte_bpe(), pre_tokenizer=LETTERS, decoder=LETTERS)
    for cleanup in (True, False):
        fields = {"type": "WordPiece", "prefix": "##", "cleanup": cleanup}
        yield case("WordPiece", f"cleanup {cleanup}".lower(), fields, model=words("WordPiece"))
        yield case(
            "WordPiece",
            f"cleanup {cleanup} of the whole text".lower(),
            fuse,
            fields,
            model=words("WordPiece"),
        )
    for scheme in ("always", "first", "never"):
        fields = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}
        yield case("Metaspace", scheme, fields)
    yield case("BPEDecoder", "always", {"type": "BPEDecoder", "suffix": "t"})
    for cleanup in (True, False):
        fields = {
            "type": "CTC",
            "pad_token": "[PAD]",
            "word_delimiter_token": "|",
            "cleanup": cleanup,
        }
        yield case("CTC", f"cleanup {cleanup}".lower(), fields)
        yield case("CTC", f"cleanup {cleanup} of the whole text".lower(), fuse, fields)
    yield case("ByteFallback", "always", fallback)
    yield case("ByteFallback", "twice", fallback, fallback)
    yield case("Fuse", "always", fuse)
    yield case("Strip", "a token's ends", strip("a", 1, 1))
    yield case("Strip", "the whole text's ends", fuse, strip(" ", 1, 2))
    yield case("Replace", "String", replace(" ", String="▁"))
    yield case("Replace", "Regex", replace(" ", Regex="▁+|b"))
    yield case("Replace", "Regex that matches nothing too", replace("-", Regex=r"a*|(?=b)"))
    yield case(
        "Replace", "Regex that refers back to one of a few texts", replace(" ", Regex=r"(a)\1")
    )
    yield case("Replace", "Regex that refers back to any text", replace(" ", Regex=r"(a+)\1"))
    yield case("Replace", "Regex of the whole text", fuse, replace(" ", Regex="[▁a]+b?|t "))
    yield case(
        "Replace",
        "Regex of thousands of characters of the whole text",
        fuse,
        replace(" ", Regex=r"\d+"),
    )
    yield case(
        "Replace",
        "Regex of the whole text with lookaround",
        fuse,
        replace(" ", Regex=r"a(?=bc)|(?<!ab)c"),
    )
    yield case(
        "Replace", "Regex of any characters of the whole text", fuse, replace(" ", Regex=r"\w+")
    )
    yield case(
        "Replace",
        "Regex of the whole text that waits for its end",
        fuse,
        replace(" ", Regex=r" +$"),
    )
    yield case(
        "Replace",
        "Regex of the whole text that waits after any character",
        fuse,
        replace(" ", Regex=r"\w(?!\S)"),
    )
    option = "Regex of the whole text that waits after any character of a vocabulary without bytes"
    yield case("Replace", option, fuse, replace(" ", Regex=r"\w(?!\S)"), model=words("WordLevel"))
    yield case(
        "Replace",
        "Regex of a row at the end of the whole text, by nothing",
        fuse,
        replace("", Regex=r"t+\z"),
    )
    yield case(
        "Replace",
        "Regex of the whole text that matches nothing too",
        fuse,
        replace(" ", Regex=r"a*"),
    )
    yield case("Replace", "empty String of the whole text", fuse, replace("-", String=""))
    yield case("Replace", "one character of the whole text", fuse, replace(" ", String="▁"))
    yield case("Replace", "more characters of the whole text", fuse, replace("-", String="ab"))
    yield case("Sequence", "Llama's", replace(" ", String="▁"), fallback, fuse, strip(" ", 1, 0))
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    yield case("Sequence", "ChatGLM's", fallback, metaspace)
    joined = document(
        byte_bpe(),
        pre_tokenizer=LETTERS,
        decoder={"type": "Sequence", "decoders": [LETTERS, fallback]},
    )
    yield "Sequence", "bpeasy's", joined
    yield case("Sequence", "ByteLevel of the joined text", fuse, LETTERS, model=byte_bpe())
    yield case("Sequence", "ByteLevel after ByteFallback", fallback, fuse, LETTERS)
    ends = {"type": "BPEDecoder", "suffix": "t"}
    yield case("Sequence", "BPEDecoder after ByteFallback", fallback, ends)
    for option, bytes_of_texts, steps in (
        ("ByteLevel after ByteFallback to ASCII", BYTES[:0x80], [fallback, LETTERS]),
        (
            "BPEDecoder after ByteFallback that cannot spell its suffix",
            [*BYTES[:0x74], *BYTES[0x75:]],
            [fallback, ends],
        ),
    ):
        texts = {*bytes_of_texts, *CHARACTERS, "[UNK]"}
        vocab = {token: number for token, number in bpe()["vocab"].items() if token in texts}
        yield case("Sequence", option, *steps, model=bpe(vocab=vocab, merges=[]))


def _added_tokens() -> Members:
    def token(content: str, **flags: bool) -> Json:
        off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        return {"id": 0, "content": content, **off, **flags}

    def case(option: str, *tokens: Json, **parts: Any) -> tuple[str, str, Json]:
        parts.setdefault("normalizer", {"type": "Lowercase"})
        return "flags", option, document(bpe(), added_tokens=list(tokens), **parts)

    for flag in ("special", "single_word", "lstrip", "rstrip", "normalized"):
        yield case(
            flag, *(token(content, **{flag: True}) for content in ("<M>", "ab", "Ee ", " \n"))
        )
    yield case(
        "all flags",
        *(token(text, single_word=True, lstrip=True, rstrip=True) for text in ("aB", "<s>")),
    )
    yield case(
        "overlapping",
        token("ab"),
        token("abc", special=True),
        token("bc"),
        token("<ab", normalized=True),
    )
    yield case("with another id than the library gives", token("<new>") | {"id": 7})
    yield case("normalized alike", token("<M>", normalized=True), token("<m>", normalized=True))
    nothing = {"type": "Replace", "pattern": {"String": "<M>"}, "content": ""}
    yield case("normalized to nothing", token("<M>", normalized=True), normalizer=nothing)
    mapped = document(
        byte_bpe(),
        normalizer={"type": "ByteLevel"},
        added_tokens=[token("ab", normalized=True, lstrip=True)],
    )
    yield "flags", "normalized with lstrip, rstrip or single_word, ByteLevel normalizer", mapped


def _fields() -> Members:
    yield (
        "any",
        "one that the library ignores",
        document(bpe(), normalizer={"type": "NFC", "form": "NFD"}),
    )
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    yield "truncation (left to the caller)", "on", document(bpe(), truncation=cut)
    fill = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 3}
    yield (
        "padding (left to the caller)",
        "on",
        document(bpe(), padding=fill | {"pad_type_id": 0, "pad_token": "[PAD]"}),
    )
