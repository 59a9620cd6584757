"""Golden files for features that the others do not have: each is read from a tiny document like a
user's, and its ids and spans are those of the document's own library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import tokenizers
from golden import Golden, Special
from piece_models import piece_golden
from unicode_tables.charsmap import charsmap_of

from tokexport.model import AddedToken
from tokexport.sources import read
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
)

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "use_regex": False,
    "trim_offsets": False,
}
UNKNOWN = Piece("<unk>", 0.0, PieceType.UNKNOWN)
# Their sums differ in the last bit, and are soon so large that they are rebased.
SUMS = {
    "a": -30000.009765625,
    "b": -30000.109375,
    "ab": -60000.43359375,
    "ba": -60000.13671875,
    "aba": -90000.0078125,
    "bab": -90000.0078125,
    "abb": -90000.1953125,
    "baa": -90000.25,
    "aab": -90000.71875,
    "abab": -120000.3671875,
}


def rare_goldens() -> tuple[Golden, ...]:
    """All of them."""
    return (
        *(keys(), dropped(), first(), empty_matches(), contiguous()),
        *(decomposed(), stripped_marks()),
        *(trimmed("trimmed-all", False), trimmed("trimmed-first", True)),
        *(single_precision(), sums_anew(), fused_words(), suffix(), collapsed()),
    )


# ---- Documents of tokenizers ------------------------------------------------


def keys() -> Golden:
    """KEYS with WHOLE_FIRST: `<0x41>` is a pre-token, and a token that decodes to A."""
    tokens = ["<unk>", "A", "<0x41>", "<0x42>", "B", "ab", "a", "b"]
    model = _byte_pairs(tokens, [("a", "b")], byte_fallback=True, ignore_merges=True)
    texts = ["<0x41>", "A", "AB", "<0x42>", "ab", "abab", "<unk>"]
    return _document("keys", model | {"unk_token": "<unk>"}, texts)


def dropped() -> Golden:
    """Bytes without an id and without an unknown token produce nothing, and shift what follows."""
    tokens = ["a", "b", "\u0120", "ab", "\u00c3"]
    model = _byte_pairs(tokens, [("a", "b")])
    texts = ["\u00e9 ab", "xab a", "\u00e8\u00e9ab a b", "a\u4e2dab", "!ab~ab\x7fab", "\x7fabab"]
    return _document("dropped", model, texts, pre_tokenizer=BYTE_LEVEL)


def first() -> Golden:
    """ONLY_FIRST: a mark before the first word of the input only, by position."""
    metaspace = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": False}
    return _document(
        "first",
        _unigram("ab_"),
        ["ab a", "a<s>a b", " a", "<s>a", "_a b", "ab<s>"],
        pre_tokenizer=_sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace),
        added_tokens=[_added(4, "<s>")],
    )


def empty_matches() -> Golden:
    """REPLACE with EMPTY_MATCHES: at both ends of the text, and not after another match."""
    replace = {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "-"}
    texts = ["axxb", "", "ab", "xx", "axx", "xa\u00e9x"]
    return _document("empty-matches", _unigram("ab-x\u00e9"), texts, normalizer=replace)


def contiguous() -> Golden:
    """CONTIGUOUS with EMPTY_MATCHES: an empty match keeps two gaps apart."""
    split = {"type": "Split", "pattern": {"Regex": "(?=b)|c"}, "invert": False}
    model = _unigram(["a", "b", "c", "ab", "bb", "cc", "ac"])
    texts = ["abbccb", "aabb", "ccab", "acab"]
    return _document("contiguous", model, texts, pre_tokenizer=split | {"behavior": "Contiguous"})


def decomposed() -> Golden:
    """NFD: Hangul, reordered marks, and no composition. Raw added tokens are not found in the
    normalizer's output.
    """
    letters = "ae\u0301\u0316\u0325\u0308\u1100\u1161\u11a8\u212b\u030aA"
    letters += "\u1112\u1173\u1175\u11ab\u11af\u11c2"
    texts = [
        "\uac00\uac01\u1100\u1161",
        "\ud7a3\uae00\ud55c",
        "\u00e9\u0316",
        "a\u0301\u0316\u0308\u0325",
        "\u212b",
        "\u1e17",
    ]
    return _document(
        "decomposed",
        _unigram(letters),
        [*texts, "e\u0301\u00e9"],
        normalizer={"type": "NFD"},
        added_tokens=[_added(1 + len(letters), "e\u0301")],
        trimmed=True,
    )


def stripped_marks() -> Golden:
    """MAP_LETTERS: stripping marks also decomposes Hangul syllables."""
    normalizer = _sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"})
    model = _unigram("ae\u1100\u1161\u11a8o")
    texts = ["\uac00\uac01a", "\u00e9e\u0301a", "\u00f6\u0308", "\u01d5"]
    return _document("stripped-marks", model, texts, normalizer=normalizer, trimmed=True)


def trimmed(name: str, keeps_first: bool) -> Golden:
    """TRIM: exceptions, for white space other than U+0020; two passes; with ``keeps_first``, one
    space at the start of a text is not trimmed.
    """
    merges = [("\u3000", "a"), (" ", "a"), (" ", " a"), ("a", "\u3000"), ("b", " ")]
    merges += [("\u2003", "b "), ("\u0120", "x")]
    tokens = [*" ab\u3000\u0120x\u2003", *(left + right for left, right in merges)]
    byte_level = BYTE_LEVEL | {"trim_offsets": True}
    second = byte_level | {"add_prefix_space": keeps_first}
    texts = [
        "\u3000a b a \u3000a",
        "  a a",
        " a",
        "a\u3000",
        "\u2003b \u2003b  ",
        "\u0120x\u0120 x",
        "a<s> b",
        "x\u0120<t>\u3000a",
        "a  <r> \u3000 b",
        "  a  a <r>",
        "  ",
        "<r> a",
        "\u00e9 a",
        "\u00e8 a",
    ]
    added = [
        _added(len(tokens), "<s> "),
        _added(len(tokens) + 1, "\u0120<t>\u3000"),
        _added(len(tokens) + 2, "<r>", rstrip=True, lstrip=True),
    ]
    processors = (second,) if keeps_first else (byte_level, byte_level)
    return _document(
        name,
        _byte_pairs(tokens, merges),
        texts,
        added_tokens=added,
        normalizer=_sequence("normalizers", _replace("\u00e9", "b a"), _replace("\u00e8", "")),
        post_processor=_sequence("processors", *processors),
        trimmed=True,
    )


# ---- Models of sentencepiece ------------------------------------------------


def single_precision() -> Golden:
    """SINGLE_PRECISION: sums that differ in the last bit, and sums so large that they are rebased.
    ALGN with bytes of unknown text.
    """
    pieces = [UNKNOWN, *(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256))]
    pieces += [Piece("\u2581", -1.0), *(Piece(*piece) for piece in SUMS.items())]
    texts = [
        "aabbbbaababaabbbaaaaabbabbaaabaababbba",
        "baabaaaabaaaaababaabaaaabababaaabababbb",
        "<unk>ab",
        "\u00e9a\u4e2d a",
        "",
    ]
    model = SentencePieceModel("golden.model", tuple(pieces), Algorithm.UNIGRAM, byte_fallback=True)
    return piece_golden("single-precision", model, texts)


def sums_anew() -> Golden:
    """SINGLE_PRECISION with ADDT: after an added token, a sum begins again, and so does a text."""
    pieces = [UNKNOWN, Piece("\u2581", -1.0), *(Piece(*piece) for piece in SUMS.items())]
    found = [AddedToken(12, "<s>"), AddedToken(13, "<a>", special=False)]
    pieces += [Piece(token.content, 0.0, PieceType.CONTROL) for token in found]
    model = SentencePieceModel("golden.model", tuple(pieces), Algorithm.UNIGRAM)
    texts = ["aab<s>babab", "babba<a>aabbbbabab", "aab<s>", "<s><a>", "a <s> b  <a>  a", "<s>ab"]
    return piece_golden("sums-anew", model, texts, found)


def fused_words() -> Golden:
    """WORDLEVEL with FUSE_UNKNOWN; ALGN with a protected text that word boundaries divide."""
    pieces = [UNKNOWN, *(Piece(f"\u2581{word}", -1.0) for word in ("a", "b", "y"))]
    pieces.append(Piece("x\u2581y", 0.0, PieceType.USER_DEFINED))
    model = SentencePieceModel("golden.model", tuple(pieces), Algorithm.WORD)
    texts = ["a b z x ab", "z z", "za  b", "a x\u2581y a", "b  x\u2581y  y", "", "z \u4e2d a z z"]
    texts += ["x\u2581yb", "a x y"]
    return piece_golden("fused-words", model, texts)


def suffix() -> Golden:
    """ALGN with SUFFIX, and spaces that are not removed."""
    pieces = [UNKNOWN, *(Piece(letter, -3.0) for letter in "\u2581ab"), Piece("a\u2581", -1.0)]
    model = SentencePieceModel(
        "golden.model",
        tuple(pieces),
        Algorithm.UNIGRAM,
        whitespace_as_suffix=True,
        normalizer=NormalizerSpec(remove_extra_whitespaces=False),
    )
    return piece_golden("suffix", model, ["a b  ab", "a  bx  a", "  a ", "ab  ", " ", "", "\u00e9"])


def collapsed() -> Golden:
    """ALGN with COLLAPSE: a text that is protected, and spaces that become adjacent."""
    pieces = [UNKNOWN, *(Piece(letter, -3.0) for letter in "\u2581ab<"), Piece("a\u2581", -1.0)]
    pieces.append(Piece("b \x02", 0.0, PieceType.USER_DEFINED))
    model = SentencePieceModel(
        "golden.model",
        tuple(pieces),
        Algorithm.BPE,
        normalizer=NormalizerSpec(charsmap_of({"\x01": " ", "\x02": "a ", "\x03": ""})),
    )
    texts = [
        "a b  ab",
        "a  b  <  a",
        "  a ",
        "\x01 \x01a\x01\x01  b",
        "b \x02b \x02 \x02",
        "\x02 \x03 \x02a",
    ]
    return piece_golden("collapsed", model, [*texts, " \x03  b", "ab  ", ""])


# ---- Small helpers ----------------------------------------------------------


def _document(
    name: str,
    model: Mapping[str, Any],
    texts: Sequence[str],
    *,
    added_tokens: Sequence[Mapping[str, Any]] = (),
    trimmed: bool = False,
    **parts: Any,
) -> Golden:
    """A tokenizer.json, and `tokenizers` that has loaded it."""
    fields = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    document = {"version": "1.0", "added_tokens": added_tokens, **fields, **parts, "model": model}
    library = tokenizers.Tokenizer.from_str(json.dumps(document))

    def encode(text: str, special: Special) -> Sequence[int]:
        ids: list[int] = library.encode(text, add_special_tokens=False).ids
        return ids

    def locate(text: str, special: Special) -> Sequence[tuple[int, int]]:
        spans: list[tuple[int, int]] = library.encode(text, add_special_tokens=False).offsets
        return spans

    version = f"tokenizers {tokenizers.__version__}"
    return Golden(name, read(library), encode, version, texts, locate, trimmed=trimmed)


def _numbered(tokens: Sequence[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def _byte_pairs(
    tokens: Sequence[str], merges: Sequence[tuple[str, str]], **fields: Any
) -> dict[str, Any]:
    pairs = [list(pair) for pair in merges]
    return {"type": "BPE", "vocab": _numbered(tokens), "merges": pairs, **fields}


def _unigram(tokens: Sequence[str]) -> dict[str, Any]:
    """A model whose first token is the unknown one; longer tokens are better."""
    vocab = [["<unk>", 0.0], *([token, -1.0 - 1.0 / len(token)] for token in tokens)]
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab}


def _replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def _sequence(name: str, *parts: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", name: list(parts)}


def _added(number: int, content: str, **flags: bool) -> dict[str, Any]:
    fields = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": number, "content": content, **fields, **flags}
