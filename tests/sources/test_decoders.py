"""Every decoder of tokenizer.json, and every chain of them that is not refused, gives the text that
the reference gives.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from decoders import ours, theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from parts.bases import bpe, document
from reader_samples import added, read_document
from repository import SLOW

from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.runtime.decode_stream import DecodeStream
from tokexport.runtime.tokenizer import Tokenizer, load

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
FUSE, FALLBACK = {"type": "Fuse"}, {"type": "ByteFallback"}


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def strip(content: str, start: int, stop: int) -> dict[str, Any]:
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def sequence(*decoders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}


def end_of_word(suffix: str) -> dict[str, Any]:
    return {"type": "BPEDecoder", "suffix": suffix}


def bytes_of(text: str) -> list[str]:
    """The names of its bytes, each once."""
    return [*dict.fromkeys(f"<0x{byte:02X}>" for byte in text.encode())]


def ctc(cleanup: bool) -> dict[str, Any]:
    return {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": cleanup}


DECODERS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "byte level": BYTE_LEVEL,
    "byte level, fused": sequence(BYTE_LEVEL, FUSE),
    "llama": sequence(replace("▁", " "), FALLBACK, FUSE, strip(" ", 1, 0)),
    "gemma": sequence(replace("▁", " "), FALLBACK, FUSE),
    "bert": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "word pieces as they are": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    "t5": metaspace("always"),
    "metaspace, first": metaspace("first"),
    "metaspace, never": metaspace("never"),
    "end of word": end_of_word("</w>"),
    "wav2vec": ctc(True),
    "ctc without cleanup": ctc(False),
    "ctc, then spaces": sequence(ctc(True), metaspace("always")),
    "ctc, then ends of words": sequence(ctc(True), end_of_word("</w>")),
    "stripped at both ends": sequence(replace("▁", " "), FUSE, strip(" ", 2, 1)),
    "stripped of more than ASCII": sequence(FUSE, strip("▁", 3, 2)),
    "each token stripped": sequence(strip("▁", 1, 0), replace("a", "bb")),
    "bytes stripped": sequence(BYTE_LEVEL, strip("é", 1, 2)),
    "a regular expression": replace("[▁ab]+", " ", "Regex"),
    "whole text replaced": sequence(
        FUSE, replace("▁", " "), {"type": "WordPiece", "prefix": "", "cleanup": False}
    ),
    "ends of words and spaces": sequence(end_of_word("</w>"), metaspace("always")),
    "LTG's": sequence(BYTE_LEVEL, strip(" ", 1, 0), replace("\n ", "\n")),
    "replaced from token to token": sequence(FUSE, replace("ab", "x"), replace("xa", "")),
    "replaced among bytes": sequence(
        FALLBACK, FUSE, replace("é", "e▁"), replace("\ufffd", "?"), strip("e", 2, 2)
    ),
    "replaced after bytes": sequence(
        BYTE_LEVEL, replace("\ufffd", "a"), replace("a", ""), strip("×", 1, 1)
    ),
    "stripped of one and another": sequence(
        FUSE, strip("a", 2, 1), strip("▁", 3, 3), replace("b", "a"), strip("a", 1, 2)
    ),
    "overlapping": sequence(FUSE, replace("aa", "a"), replace("aab", "b"), replace("▁▁▁", "▁▁")),
    "chatglm": sequence(FALLBACK, metaspace("always")),
    "metaspace never, then the space": sequence(
        FALLBACK, metaspace("never"), FUSE, strip(" ", 1, 0)
    ),
    "runs and tokens replaced": sequence(
        FALLBACK, replace("é", "e▁"), replace("▁", " "), FUSE, replace("  ", "_")
    ),
    "runs stripped": sequence(
        FALLBACK, strip("A", 1, 0), replace("\ufffd", "?"), FUSE, strip("▁", 0, 2)
    ),
    "runs as pieces of words": sequence(
        FALLBACK, {"type": "WordPiece", "prefix": "▁", "cleanup": False}
    ),
    "BabyLM's": sequence(
        BYTE_LEVEL,
        metaspace("always"),
        strip(" ", 1, 0),
        replace("× ", "\n", "Regex"),
        replace("×", "\n", "Regex"),
    ),
    "converted from Llama": sequence(
        FALLBACK,
        replace("▁", " ", "Regex"),
        FUSE,
        replace(r"(?<!\n)^ ", "", "Regex"),
        replace("é+", "e", "Regex"),
    ),
    "a space at the start of lines": sequence(
        replace("▁", " ", "Regex"), FUSE, replace(r"\n", "\n ", "Regex"), replace("^ ", "", "Regex")
    ),
    "white space of the whole text": sequence(
        FALLBACK, FUSE, replace(r"\s+", " ", "Regex"), strip(" ", 1, 1)
    ),
    "cleaned up": sequence(
        *(replace("▁", " "), FALLBACK, FUSE),
        *(replace(" " + mark, mark) for mark in (".", "?", "!", ",")),
        replace(" ' ", "'"),
        *(replace(" " + end, end) for end in ("n't", "'m", "'s", "'ve", "'re")),
    ),
    "bpeasy's": sequence(BYTE_LEVEL, FALLBACK),
    "fallback twice": sequence(FALLBACK, FALLBACK, FUSE, replace("A", "<")),
    "ctc of bytes": sequence(ctc(False), metaspace("always"), FALLBACK, FUSE, strip(" ", 1, 0)),
    "cleaned up as a whole": sequence(FUSE, {"type": "WordPiece", "prefix": "##", "cleanup": True}),
    "cleaned up by CTC as a whole": sequence(BYTE_LEVEL, ctc(True), strip(" ", 1, 1)),
    "runs cleaned up": sequence(FALLBACK, {"type": "WordPiece", "prefix": "▁", "cleanup": True}),
    "the name of a byte": sequence(
        replace("<0x41", "<0x", "String"), FUSE, FALLBACK, replace("\ufffd", "_")
    ),
    "any character": sequence(FUSE, replace(".", "é", "Regex"), replace("é{2}", "<0x", "Regex")),
    "anything but": sequence(FALLBACK, FUSE, replace("[^aé]+", "-", "Regex"), strip("-", 1, 0)),
    "where words begin and end": sequence(
        BYTE_LEVEL, replace(r"(?<!\d)(?=\d)|(?<=\d)(?!\d)", "|", "Regex")
    ),
    "matches of nothing": sequence(FUSE, replace("▁*", "-", "Regex"), replace("", "x")),
    "matches of nothing in runs": sequence(
        FALLBACK, replace("A*|(?=é)", "-", "Regex"), replace("", "▁"), FUSE
    ),
    "characters held back": sequence(FUSE, replace(r"\w(?!\S)", "x", "Regex"), replace("xb", "")),
    "spaces at the end": sequence(
        replace("▁", " "), FUSE, strip(" ", 1, 0), replace(r" +\z", "", "Regex")
    ),
    "nothing": sequence(),
}
ATOMS = (
    *(
        "a",
        "b",
        "▁",
        "##",
        "</w>",
        " ",
        "  ",
        ".",
        " ?",
        "!",
        "'",
        "n't",
        " do not",
        "'ve",
        "é",
        "Ġ",
        "Ċ",
        "中",
    ),
    *(
        "🙂",
        "\ufffd",
        "<pad>",
        "|",
        "_",
        "<0x41>",
        "<0x20>",
        "<0xE2>",
        "<0x96>",
        "<0x81>",
        "<0xF0>",
        "<0x9f>",
    ),
    *("<0xFF>", "<0x+1>", "<0xC3>", "<0xA9>", "\n", "<", "0x", "4F", "x", ">", "c"),
)
VOCABULARY = (
    *ATOMS,
    "▁a",
    "▁▁",
    "##b",
    "b</w>",
    "a.",
    "▁'",
    "",
    "</w></w>",
    "<0xZZ>",
    "ÃĹ",
    "Ã",
    "ł",
    "aĠb",
)


def stream(tokenizer: Tokenizer, ids: Sequence[int], skip: bool = False) -> list[str]:
    decoder = DecodeStream(tokenizer, skip_special_tokens=skip)
    parts = [*map(decoder.step, ids), decoder.flush()]
    assert "" not in parts
    return [part for part in parts if part is not None]


def check(
    decoder: dict[str, Any] | None, vocab: Sequence[str], sequences: Sequence[Sequence[int]]
) -> int:
    """Compare what one decoder makes of ids; the number of sequences at which the reference does
    not fail itself.
    """
    reference, tokenizer = theirs(decoder, vocab), ours(decoder, dict(enumerate(vocab)))
    compared = 0
    for ids in sequences:
        try:
            expected = reference.decode(list(ids))
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            expected = None  # Strip panics where the two ends meet
        text = tokenizer.decode(ids)
        assert "".join(stream(tokenizer, ids)) == text
        tokens = tokenizer.decode_tokens_bytes(ids)
        assert len(tokens) == len(ids)
        assert b"".join(tokens) == tokenizer.decode_bytes(ids)
        if expected is not None:
            assert text == expected, [vocab[id] for id in ids]
            compared += 1
    return compared


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_of_real_tokenizers_gives_the_text_of_the_reference(name: str) -> None:
    dice = random.Random(name)
    # A decoder that takes tokens of one string for one is refused where they have two ids.
    ids = range(len(VOCABULARY))
    sequences = [
        [],
        *([id] for id in ids),
        *([first, second] for first in ids for second in dice.choices(ids, k=8)),
    ]
    sequences += [dice.choices(ids, k=dice.randrange(3, 24)) for _ in range(1500)]
    assert check(DECODERS[name], VOCABULARY, sequences) > 1500


parts = st.one_of(
    st.sampled_from([BYTE_LEVEL, FUSE, FALLBACK]),
    st.builds(
        replace,
        st.sampled_from(
            [
                "▁",
                "a",
                "##",
                " ",
                "é",
                "",
                "</w>",
                "<0x41>",
                "ab",
                "a▁",
                "aa",
                "▁▁a",
                "\ufffd",
                "ba",
            ]
        ),
        st.sampled_from([" ", "", "x▁", "a", "ab", "\ufffd"]),
    ),
    st.builds(
        replace,
        st.sampled_from(
            [
                "[ab]",
                "▁+",
                "^ ",
                r"\s+$",
                r"\w+(?!\S)",
                "<0x..>",
                "▁",
                r"(?<=\S) (?=\S)",
                "é|ab?",
                "a{2,3}▁",
                "▁(?=aa|b[ab])",
                r"(?<!ab)(?<=\w) +(?=a)",
                r" (?=\d)",
                r"[ \n]\z",
                "[^a]+",
                ".",
                "a*|(?=é)",
                r"[^\x00-\x7f]",
                "(?<=a)(?!b)",
            ]
        ),
        st.sampled_from([" ", "", "$0"]),
        st.just("Regex"),
    ),
    st.builds(strip, st.sampled_from(" ▁a"), st.integers(0, 2), st.integers(0, 2)),
    st.builds(metaspace, st.sampled_from(["always", "first", "never"])),
    st.builds(ctc, st.booleans()),
    st.builds(end_of_word, st.sampled_from(["</w>", "", "a"])),
    st.builds(
        lambda prefix, cleanup: {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup},
        st.sampled_from(["##", "", "▁"]),
        st.booleans(),
    ),
)
vocabularies = st.lists(
    st.sampled_from(ATOMS) | st.lists(st.sampled_from(ATOMS), max_size=3).map("".join),
    min_size=1,
    max_size=24,
    unique=True,
)


@settings(max_examples=1000 if SLOW else 20, deadline=None)
@given(st.lists(parts, min_size=1, max_size=4), vocabularies, st.data())
def test_any_chain_gives_the_text_of_the_reference_or_is_refused(
    chain: list[dict[str, Any]], vocab: list[str], data: st.DataObject
) -> None:
    ids = st.lists(st.integers(0, len(vocab) - 1), max_size=12)
    sequences = data.draw(st.lists(ids, min_size=1, max_size=8))
    with contextlib.suppress(UnsupportedError):
        check(sequence(*chain), vocab, sequences)


@pytest.mark.parametrize(
    ("chain", "vocab"),
    [
        ((FUSE, replace("a+b", "x", "Regex")), ["a"]),
        (
            (FALLBACK, FUSE, replace(r"\w-", "x", "Regex")),
            [f"<0x{byte:02X}>" for byte in range(256)],
        ),
        ((FUSE, replace(r"\w*-", "x", "Regex")), ["ab"]),
        ((FUSE, replace(".-", "x", "Regex")), [chr(0x4E00 + number) for number in range(4097)]),
        ((FUSE, replace(r" +\z", "x", "Regex")), [" "]),
        ((FUSE, replace(" +$", "", "Regex")), [" ", "\n"]),
        ((FUSE, strip("a", 1, 0), replace(r" +\z", "", "Regex")), [" "]),
        ((FUSE, replace(r" +\z", "", "Regex"), replace("a", "")), [" ", "a"]),
        ((FUSE, replace(" *a", "x", "Regex")), [" ", "a"]),
        ((FUSE, replace("a(?=a*b)", "x", "Regex")), ["a", "b"]),
        ((FUSE, replace(r"(.)\1", "x", "Regex")), ["a"]),
        ((FUSE, BYTE_LEVEL), ["Ġ", "a b"]),
        ((FUSE, strip("a", 1, 0), BYTE_LEVEL), ["Ġ"]),
        ((FUSE, replace("ab", "Ġ"), BYTE_LEVEL), ["a", "b"]),
        ((BYTE_LEVEL, BYTE_LEVEL), ["Ä", "ł"]),
        ((FALLBACK, FUSE, BYTE_LEVEL), ["<0x41>", "<0xC4>", "<0xA0>"]),
        ((FALLBACK, FUSE, BYTE_LEVEL), ["Ġ", "<0x20>"]),
        ((FALLBACK, replace("a", "b"), FALLBACK), ["<0x41>"]),
        ((FALLBACK, ctc(True)), ["<0x41>"]),
        ((FALLBACK, end_of_word("</w>")), bytes_of("</w>")),
        ((FALLBACK, end_of_word("")), ["<0x41>"]),
        ((FALLBACK, end_of_word("\ufffd")), ["<0x80>"]),
        ((FALLBACK, replace("A", "w>"), end_of_word("</w>")), bytes_of("</A")),
        ((FALLBACK, FALLBACK, end_of_word("</w>")), ["<0x41>"]),
        ((FALLBACK, strip("a", 65, 0)), ["<0x41>"]),
        ((FALLBACK, BYTE_LEVEL), ["<0xC4>", "<0xA0>"]),
        ((FALLBACK, BYTE_LEVEL), ["Ã", "<0x96>"]),
        ((ctc(True), ctc(True)), ["a"]),
        ((replace("b", "a"), ctc(True)), ["a", "b"]),
        ((ctc(True), FALLBACK, metaspace("always")), ["<0x41>"]),
        ((FUSE, strip("a", 65, 0), replace("a", "")), ["a"]),
        ((FUSE, replace("ab", "x" * 40_000)), ["a"]),
        ((metaspace("always"), FALLBACK), ["▁<0x41>"]),
    ],
)
def test_what_needs_the_whole_text_is_refused_with_its_place(
    chain: tuple[dict[str, Any], ...], vocab: list[str]
) -> None:
    with pytest.raises(UnsupportedError, match=r"^decoder\.decoders\[\d\]"):
        ours(sequence(*chain), dict(enumerate(vocab)))


@pytest.mark.parametrize("skip", [False, True])
def test_special_tokens_that_are_left_out_end_no_run(skip: bool, tmp_path: Path) -> None:
    vocab = {token: id for id, token in enumerate(("a", "▁", "<0xE2>", "<0x96>", "<0x81>"))}
    model = bpe() | {"vocab": vocab, "merges": [], "unk_token": None, "byte_fallback": True}
    fields = document(
        model,
        decoder=sequence(FALLBACK, metaspace("always")),
        added_tokens=[added("▁<s>", 5, special=True)],
    )
    reference, tokenizer = (
        tokenizers.Tokenizer.from_str(json.dumps(fields)),
        load(file_bytes(read_document(fields, tmp_path))),
    )
    for length in range(6):
        for ids in product(range(6), repeat=length):
            expected = reference.decode(list(ids), skip_special_tokens=skip)
            assert tokenizer.decode(ids, skip_special_tokens=skip) == expected, ids
            assert "".join(stream(tokenizer, ids, skip)) == expected, ids


@pytest.mark.parametrize("spelled", ["<0x41>", "<0xC3>", "<0x4>"])
def test_a_run_of_bytes_that_is_the_name_of_a_byte_is_that_byte(spelled: str) -> None:
    vocab = ["a", "<0xC3>", *dict.fromkeys(f"<0x{byte:02X}>" for byte in spelled.encode())]
    name = [vocab.index(f"<0x{byte:02X}>") for byte in spelled.encode()]
    some = ([], [0], [1], name)
    sequences = [[*first, *second, *third] for first in some for second in some for third in some]
    assert check(sequence(FALLBACK, FALLBACK), vocab, sequences) == len(sequences)


@pytest.mark.parametrize("joins", [FUSE, BYTE_LEVEL], ids=["Fuse", "ByteLevel"])
def test_a_joined_text_that_is_the_name_of_a_byte_is_that_byte(joins: dict[str, Any]) -> None:
    characters = "<0x+->123456789abcdefABCDEFgX"
    names = [f"<0x{first}{second}>" for first in characters for second in characters]
    others = [
        "<0x4",
        "<0x41",
        "<0x41>a",
        "a<0x41>",
        "<0x41><0x41>",
        "<<0x41>",
        "<0x041>",
        "<0x>",
        "<",
        "",
        "<0x+",
    ]
    sequences = [[characters.index(character) for character in text] for text in (*names, *others)]
    assert check(sequence(joins, FALLBACK), [*characters], sequences) == len(sequences)


@pytest.mark.parametrize(
    ("chain", "vocab"),
    [
        ((FUSE, replace("ab", "x")), ["ab", "c", "b"]),
        ((FALLBACK, FUSE, replace("_", " ")), ["<0x5F>", "_", "<0xC3>", "<0xA9>"]),
        ((FALLBACK, metaspace("always")), ["▁a", "b"]),
        ((BYTE_LEVEL, replace("a", "é")), ["Ã", "a", "Ãa", "©"]),
        ((FALLBACK, FALLBACK), ["a", "<0xC3>", *(f"<0x{byte:02X}>" for byte in b"<0xA>")]),
        ((ctc(True), FALLBACK), ["<0xC3>", "<0xA9>", "<pad>", "a", ""]),
        ((FUSE, BYTE_LEVEL), ["a", "Ġb", "Ã", "©", ""]),
        (
            (strip("▁", 1, 1), FUSE, replace("b", "é"), BYTE_LEVEL, strip(" ", 1, 1)),
            ["▁Ġ", "Ġb", "a▁"],
        ),
        ((FUSE, strip(" ", 1, 0), strip(" ", 1, 1)), [" ", "a", "  "]),
        ((FUSE, strip(" ", 1, 0), replace("a", "b")), [" ", "a"]),
        ((FUSE, BYTE_LEVEL), ["a", "a b", "ń"]),
        ((FUSE, replace("ab", "中"), strip("a", 1, 0), BYTE_LEVEL), ["a", "b"]),
        ((BYTE_LEVEL, BYTE_LEVEL), ["a", "Ġ", "Ã"]),
        ((FALLBACK, FUSE, BYTE_LEVEL), ["▁", *bytes_of("A ▁")]),
        ((FALLBACK, FUSE, BYTE_LEVEL), ["Ġ", "Ã", "©", "<0x41>"]),
        ((FALLBACK, BYTE_LEVEL), ["Ã", "©", "a b", *bytes_of("A ")]),
        ((FALLBACK, BYTE_LEVEL), ["Ġa", "<0x41>", *bytes_of("▁")]),
        ((FALLBACK, replace("A", "Z"), BYTE_LEVEL), ["Ġa", "<0x41>"]),
        ((FUSE, replace(r"\w-", "x", "Regex")), ["a", "é-", "-中"]),
        (
            (FUSE, replace("ab", "é-"), replace(r"\w-|\w\S(?!\w)", "x", "Regex")),
            ["a", "b", "-", " 中"],
        ),
        ((FALLBACK, FUSE, replace(".b", "x", "Regex")), ["a", "b", "中", *bytes_of("🙂é")]),
        ((BYTE_LEVEL, replace(".b", "x", "Regex")), ["Ġ", "b", "Ã", "©"]),
        ((FUSE, replace(r"\s+$", "", "Regex")), ["a ", " ", "b"]),
        (
            (FALLBACK, FUSE, replace(r" *\z", "", "Regex"), strip(" ", 1, 1)),
            ["a ", "<0x20>", "<0xC3>"],
        ),
        ((FUSE, strip("a", 0, 1), replace(r"a+?\z", "", "Regex")), ["a", "aa", "b"]),
        ((FALLBACK, end_of_word("</w>")), ["a</w>", *bytes_of("</w▁")]),
        (
            (FALLBACK, replace("A", "w"), end_of_word("</w>"), metaspace("first")),
            ["</w>▁", *bytes_of("</A")],
        ),
        ((FALLBACK, end_of_word("▁"), FUSE, strip(" ", 1, 0)), ["▁▁", "<0xE2>", "<0x96>"]),
    ],
)
def test_what_each_token_can_say_for_itself_is_not_refused(
    chain: tuple[dict[str, Any], ...], vocab: list[str]
) -> None:
    ids = range(len(vocab))
    sequences = [[*row] for length in range(4) for row in product(ids, repeat=length)]
    assert check(sequence(*chain), vocab, sequences)
