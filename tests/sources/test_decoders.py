"""Every decoder, and every chain of them not refused, produces the text of the reference."""

import contextlib
import random
from collections.abc import Sequence
from itertools import product

import pytest
from decoders import ours, streamed, theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from json_parts import FUSE, Json, metaspace, replace
from reader_samples import BYTE_LEVEL
from repository import SLOW

from tokexport.errors import UnsupportedError

FALLBACK = {"type": "ByteFallback"}
LEADING_SPACE = r"(?<!\n)^ "


def strip(content: str, start: int, stop: int) -> Json:
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def sequence(*decoders: Json) -> Json:
    return {"type": "Sequence", "decoders": list(decoders)}


def word_piece(prefix: str, cleanup: bool) -> Json:
    return {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup}


def end_of_word(suffix: str) -> Json:
    return {"type": "BPEDecoder", "suffix": suffix}


# Steps that many of them have.
SPACES, STRIPPED = replace("▁", " "), strip(" ", 1, 0)
LINES = (replace("× ", "\n", "Regex"), replace("×", "\n", "Regex"))
DECODERS: dict[str, Json | None] = {
    "none": None,
    "GPT-2": BYTE_LEVEL,
    "byte level, fused": sequence(BYTE_LEVEL, FUSE),
    "byte level, stripped": sequence(BYTE_LEVEL, STRIPPED),
    "Llama": sequence(SPACES, FALLBACK, FUSE, STRIPPED),
    "Gemma": sequence(SPACES, FALLBACK, FUSE),
    "llm-jp": sequence(
        FALLBACK, replace("▁", " ", "Regex"), FUSE, replace(LEADING_SPACE, "", "Regex")
    ),
    "spaces after the bytes": sequence(FALLBACK, FUSE, SPACES, STRIPPED),
    "BERT": word_piece("##", True),
    "BERT without cleanup": word_piece("##", False),
    "T5": metaspace("always"),
    "metaspace, first": metaspace("first"),
    "metaspace, never": metaspace("never"),
    "GPT": end_of_word("</w>"),
    "a pattern that strips": sequence(FUSE, replace(r"\A▁", "", "Regex"), replace("ab", "")),
    "ends of words after literals": sequence(SPACES, end_of_word("</w>")),
    "GPT-BERT": sequence(BYTE_LEVEL, STRIPPED, replace("\n ", "\n")),
    "BabyLM": sequence(BYTE_LEVEL, metaspace("always"), STRIPPED, *LINES),
    "HPLT": sequence(BYTE_LEVEL, replace("âĸģ", " "), *LINES, SPACES, STRIPPED),
    "ChatGLM": sequence(FALLBACK, metaspace("always")),
    "ChatGLM, never": sequence(FALLBACK, metaspace("never"), FUSE, STRIPPED),
    "ChatGLM, then letters": sequence(FALLBACK, metaspace("always"), replace("A", "é")),
    "bpeasy": sequence(BYTE_LEVEL, FALLBACK),
    "a name that is made": sequence(
        replace("<0x41", "<0x"), FUSE, FALLBACK, replace("\ufffd", "_")
    ),
    "replaced from token to token": sequence(FUSE, replace("ab", "x"), replace("xa", "")),
    "replaced among bytes": sequence(
        FALLBACK, FUSE, replace("é", "e▁"), replace("\ufffd", "?"), strip("e", 2, 0)
    ),
    "what replaces is replaced": sequence(FALLBACK, replace("a", "b"), FUSE, replace("c", "a")),
    "overlapping": sequence(FUSE, replace("aa", "a"), replace("aab", "b"), replace("▁▁▁", "▁▁")),
    "nothing": sequence(),
}
ATOMS = (
    *("a", "b", "▁", "##", "</w>", " ", "  ", ".", " ?", "!", "'", "n't", "'ve", "é", "Ġ", "Ċ"),
    *("中", "🙂", "\ufffd", "<pad>", "|", "_", "<0x41>", "<0x20>", "<0xE2>", "<0x96>", "<0x81>"),
    *("<0xF0>", "<0x9f>", "<0xFF>", "<0x+1>", "<0xC3>", "<0xA9>", "\n", "<", "0x", "4F", "x"),
    *(">", "c"),
)
VOCABULARY = (*ATOMS, "▁a", "▁▁", "##b", "b</w>", "a.", "▁'", "", "<0xZZ>", "ÃĹ", "Ã", "ł", "aĠb")


def check(decoder: Json | None, vocab: Sequence[str], sequences: Sequence[Sequence[int]]) -> int:
    """Compares the texts of a decoder; returns the number of sequences."""
    reference, tokenizer = theirs(decoder, vocab), ours(decoder, dict(enumerate(vocab)))
    for ids in sequences:
        text = tokenizer.decode(ids)
        assert streamed(tokenizer, ids) == text
        tokens = tokenizer.decode_tokens_bytes(ids)
        assert len(tokens) == len(ids)
        assert b"".join(tokens) == tokenizer.decode_bytes(ids)
        assert text == reference.decode(list(ids)), [vocab[id] for id in ids]
    return len(sequences)


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_of_real_tokenizers_produces_the_text_of_the_reference(name: str) -> None:
    dice = random.Random(name)
    ids = range(len(VOCABULARY))
    sequences = [
        [],
        *([id] for id in ids),
        *([first, second] for first in ids for second in dice.choices(ids, k=8)),
    ]
    sequences += [dice.choices(ids, k=dice.randrange(3, 24)) for _ in range(1500)]
    assert check(DECODERS[name], VOCABULARY, sequences) > 1500


literals = st.sampled_from(["▁", "a", "##", " ", "é", "</w>", "ab", "a▁", "▁▁a", "\ufffd", "ba"])
contents = st.sampled_from([" ", "", "x▁", "a", "ab", "\ufffd"])
parts = st.one_of(
    st.sampled_from([BYTE_LEVEL, FUSE, FALLBACK, replace(LEADING_SPACE, "", "Regex")]),
    st.builds(replace, literals, contents, st.sampled_from(["String", "Regex"])),
    st.builds(strip, st.sampled_from(" ▁a"), st.integers(0, 2), st.sampled_from([0, 0, 1])),
    st.builds(metaspace, st.sampled_from(["always", "first", "never"])),
    st.builds(end_of_word, st.sampled_from(["</w>", "", "a"])),
    st.builds(word_piece, st.sampled_from(["##", "", "▁"]), st.booleans()),
)
vocabularies = st.lists(
    st.sampled_from(ATOMS) | st.lists(st.sampled_from(ATOMS), max_size=3).map("".join),
    min_size=1,
    max_size=24,
    unique=True,
)


def test_any_chain_produces_the_text_of_the_reference_or_is_refused() -> None:
    examples = 2000 if SLOW else 300
    compared = 0

    @settings(max_examples=examples)
    @given(st.lists(parts, min_size=1, max_size=4), vocabularies, st.data())
    def try_chain(chain: list[Json], vocab: list[str], data: st.DataObject) -> None:
        nonlocal compared
        ids = st.lists(st.integers(0, len(vocab) - 1), max_size=12)
        sequences = data.draw(st.lists(ids, min_size=1, max_size=8))
        with contextlib.suppress(UnsupportedError):
            compared += check(sequence(*chain), vocab, sequences) > 0

    try_chain()
    assert compared > examples // 4


@pytest.mark.parametrize(
    ("chain", "problem"),
    [
        ((replace("a+", "x", "Regex"),), r"\"a\+\""),
        ((FUSE, replace(" +$", "", "Regex")), r"\" \+\$\""),
        ((FUSE, replace("^ ", "", "Regex")), r"\"\^ \""),
        ((replace("", "x"),), '""'),
        ((FUSE, strip("a", 0, 1)), "a Strip of the end is not supported"),
        (
            (strip("a", 1, 0), FUSE),
            "Strip of each token is not supported; put the Strip after a Fuse",
        ),
        ((replace(r"\A▁", "", "Regex"),), "Replace of each token is not supported"),
        ((FUSE, word_piece("##", True)), "WordPiece after a decoder that joins"),
        ((BYTE_LEVEL, end_of_word("</w>")), "BPEDecoder after a decoder that joins"),
        ((FUSE, BYTE_LEVEL), "ByteLevel after a decoder that joins"),
        ((BYTE_LEVEL, BYTE_LEVEL), "ByteLevel after a decoder that joins"),
        ((FALLBACK, BYTE_LEVEL), "ByteLevel after ByteFallback"),
        ((FALLBACK, FALLBACK), "a second ByteFallback"),
        ((FALLBACK, FUSE, FALLBACK), "a second ByteFallback"),
        ((FALLBACK, end_of_word("</w>")), "BPEDecoder between ByteFallback and Fuse"),
        ((FALLBACK, replace("ab", "c")), "Replace between ByteFallback and Fuse"),
        ((FALLBACK, replace("a", "aa")), "Replace between ByteFallback and Fuse"),
        (
            (FALLBACK, replace("A", "b"), metaspace("always")),
            "Metaspace after other decoders and ByteFallback",
        ),
        ((metaspace("always"), end_of_word("</w>")), "BPEDecoder after Metaspace"),
        ((end_of_word("</w>"), metaspace("always")), "Metaspace after BPEDecoder"),
        ((word_piece("##", False), metaspace("always")), "Metaspace after WordPiece"),
        (
            (metaspace("always"), FALLBACK),
            "ByteFallback where an id is a byte only in some positions",
        ),
        ((FUSE, replace("ab", "x" * 40_000)), "writes 40,000 bytes"),
        ((FUSE, strip("a", 5000, 0)), "more than 4,096 states"),
    ],
)
def test_a_decoder_of_no_published_tokenizer_is_refused_with_its_path(
    chain: tuple[Json, ...], problem: str
) -> None:
    with pytest.raises(UnsupportedError, match=problem) as caught:
        ours(sequence(*chain), dict(enumerate(["a", "Ġ", "<0x41>", "▁<0x41>"])))
    assert caught.value.path.startswith("decoder.decoders[")


def test_marks_within_tokens_are_refused_before_a_step_that_needs_tokens() -> None:
    with pytest.raises(UnsupportedError, match=r"\(id 0\) decodes to .* first of a text"):
        ours(sequence(metaspace("always"), replace("aa", "b")), {0: "a▁b"})


@pytest.mark.parametrize("joins", [FUSE, BYTE_LEVEL], ids=["Fuse", "ByteLevel"])
def test_a_joined_text_that_is_the_name_of_a_byte_becomes_that_byte(joins: Json) -> None:
    characters = "<0x+->123456789abcdefABCDEFgX"
    names = [f"<0x{first}{second}>" for first in characters for second in characters]
    others = ["<0x4", "<0x41", "<0x41>a", "a<0x41>", "<0x41><0x41>", "<<0x41>", "<0x041>", "<0x>"]
    texts = (*names, *others, "<", "", "<0x+")
    sequences = [[characters.index(character) for character in text] for text in texts]
    assert check(sequence(joins, FALLBACK), [*characters], sequences) == len(sequences)


MARKS = ["a▁b", "▁a▁▁b▁", "▁", "", "##b", "a", "▁" * 40]


@pytest.mark.parametrize(
    ("chain", "vocab"),
    [
        ((metaspace("always"),), MARKS),
        ((metaspace("first"), FUSE), MARKS),
        ((replace("b", "▁"), metaspace("always")), MARKS),
        ((FUSE, replace("ab", "x")), ["ab", "c", "b"]),
        ((FALLBACK, FUSE, replace("_", " ")), ["<0x5F>", "_", "<0xC3>", "<0xA9>"]),
        ((FALLBACK, metaspace("always")), ["▁a", "b", "<0xE2>", "<0x96>", "<0x81>"]),
        ((FALLBACK, replace("\ufffd", "?")), ["\ufffd", "b", "<0xE2>"]),
        ((FALLBACK, word_piece("##", False)), ["a", "##b"]),
        ((FUSE, strip(" ", 1, 0), strip(" ", 1, 0)), [" ", "a", "  "]),
        ((FUSE, strip("▁", 2, 0), replace("a", "b")), ["▁", "a"]),
        ((BYTE_LEVEL, strip("é", 1, 0)), ["Ã", "©", "a"]),
        ((BYTE_LEVEL, replace("a", "é")), ["Ã", "a", "Ãa", "©"]),
    ],
)
def test_every_short_sequence_of_a_few_tokens_is_exact(
    chain: tuple[Json, ...], vocab: list[str]
) -> None:
    ids = range(len(vocab))
    longest = 5 if len(vocab) < 6 else 3
    sequences = [[*row] for length in range(longest + 1) for row in product(ids, repeat=length)]
    assert check(sequence(*chain), vocab, sequences) == len(sequences)
