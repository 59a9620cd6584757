"""Where a file allows cuts of a text, the reference gives its two sides the ids of the whole."""

import random
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from bare_models import tokenizer_model
from references import converted
from regex_patterns import TIKTOKEN, TRINITY
from tokenizers import AddedToken as ReferenceToken
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, Unigram, WordLevel
from tokenizers.normalizers import NFC, NFKC, NFKD, Normalizer, Prepend, Replace, Strip
from tokenizers.trainers import BpeTrainer
from unicode_tables.charsmap import charsmap_of

from tokexport.compiler.compile import compile_model
from tokexport.compiler.tables import Pairs
from tokexport.conversion import file_bytes
from tokexport.model import GreedyModel, Reference
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

LLAMA3 = TIKTOKEN["llama3-tiktoken"]
TEXT = [
    "the cat sat on the mat, didn't it? 123 4567 \n\n  We'll see:  x = y + z;\n\treturn 'it''s'",
    "aaa bbb   ccc...",
]
BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def cuts_of(tokenizer: Tokenizer) -> Pairs:
    encoding = compile_model(read(tokenizer)).encoding
    assert encoding is not None
    return encoding.cuts


def pairs_of(cuts: Pairs) -> list[str]:
    """The two characters on both sides of each cut."""
    return [chr(left) + chr(right) for left, right in np.argwhere(cuts).tolist()]


def unigram(*tokens: str) -> Tokenizer:
    """A tokenizer of an unknown token and others, each less likely than those before it."""
    vocab = [(token, -float(number)) for number, token in enumerate(("<unk>", *tokens))]
    return Tokenizer(Unigram(vocab, unk_id=0))


def split(
    pattern: str, behavior: str = "isolated", invert: bool = False
) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(*stages: str | pre_tokenizers.PreTokenizer) -> pre_tokenizers.PreTokenizer:
    """Bytes after some stages, or splits that isolate the matches of patterns."""
    parts = [split(stage) if isinstance(stage, str) else stage for stage in stages]
    return pre_tokenizers.Sequence([*parts, BYTE_LEVEL])


PRE_TOKENIZERS = {
    "gpt2": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "prefix space": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "llama3": byte_level(LLAMA3),
    "removed inverted": byte_level(split(LLAMA3, "removed", True)),
    "digits first": byte_level(r"\p{N}{1,3}", r"[a-m]+", LLAMA3),
    "words removed": byte_level(split(r"[a-z]+", "removed")),
    "falcon": pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.Digits(individual_digits=False),
            split("[0-9][0-9][0-9]"),
        ]
    ),
    "merged with previous": byte_level(split(r" +", "merged_with_previous"), LLAMA3),
    "merged with next": byte_level(split(r"[.,]", "merged_with_next")),
    "long lookahead": byte_level(r"[a-z]+!|[a-z]|\s+\.|[^a-z]"),
    "possessive": byte_level(r"[^\r\n\p{L}\p{N}]?+\p{L}++| ?[^\s\p{L}\p{N}]++|\p{N}|\s"),
    "groups of three": byte_level(r"\d{1,3}(?=(?:\d{3})*\b)", LLAMA3),
    "cuts between digits": byte_level(r"(?=(\d{3})+(?!\d))", LLAMA3),
    "unbounded": byte_level(r"[a-z]+(?=[^.]*!)|\s+(?=\s*=)", LLAMA3),
    "unbounded alone": byte_level(
        r" ?[a-z]+|\d{1,3}(?=(?:\d{3})*(?!\d))| ?[^\sa-z0-9]+|\s+(?!\S)|\s"
    ),
    "lookaround": byte_level(r"(?<=b)c(?=[a-z]*!)|[a-z](?=[a-z]*(?<=b)c)|\d(?!\d*3)", LLAMA3),
    "search starts": byte_level(*TRINITY.values()),
    "search starts and labels": byte_level(r"\d{1,2}(?=(?>\d{2})*(?:\D|$))|\G\d{2}|a\b", LLAMA3),
    "empty matches": byte_level(r"(?:[a-c]+!)?|\d*", LLAMA3),
    "first of words": byte_level(
        pre_tokenizers.WhitespaceSplit(),
        pre_tokenizers.Metaspace("_", prepend_scheme="first", split=False),
    ),
    "one pre-token": BYTE_LEVEL,
}
# All of these have a cut between a letter and a space.
COMMON = (
    *("gpt2", "llama3", "removed inverted", "digits first", "falcon", "prefix space", "possessive"),
    *("groups of three", "unbounded alone", "search starts"),
)
ADDED = [
    ReferenceToken("<s>", special=True),
    ReferenceToken("ab", lstrip=True, normalized=True),
    ReferenceToken("y z", rstrip=True, normalized=False),
    ReferenceToken("cat", single_word=True, normalized=False),
]


def trained(pre_tokenizer: pre_tokenizers.PreTokenizer, added: list[ReferenceToken]) -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.normalizer = NFC()
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXT * 3, BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer.add_tokens(added)
    return tokenizer


@pytest.mark.parametrize("with_added", [False, True])
@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_both_sides_of_a_cut_have_the_ids_of_the_whole(name: str, with_added: bool) -> None:
    tokenizer = trained(PRE_TOKENIZERS[name], ADDED if with_added else [])
    cuts = cuts_of(tokenizer)
    rng = random.Random(name)
    alphabet = "abcmnyzst  \n\t\r'.,!<>=0123456\x00\x1c{é\u0301中"
    pairs = {*pairs_of(cuts)}
    checked = 0
    for _ in range(3000):
        text = "".join(rng.choices(alphabet, k=rng.randrange(2, 30)))
        offsets = [at for at in range(1, len(text)) if text[at - 1 : at + 1] in pairs]
        if not offsets:
            continue
        at = rng.choice(offsets)
        sides = tokenizer.encode(text[:at]).ids + tokenizer.encode(text[at:]).ids
        assert sides == tokenizer.encode(text).ids, (text[:at], text[at:])
        checked += 1
    assert (checked > 100) == cuts.any()
    if name in COMMON and not with_added:
        assert cuts[ord("n"), ord(" ")]
        assert not cuts[ord(" "), ord("n")]


@pytest.mark.parametrize("content", ["é", "▁"])
def test_a_stage_on_bytes_reads_several_for_a_non_ascii_character(content: str) -> None:
    letters = pre_tokenizers.ByteLevel.alphabet()
    tokenizer = Tokenizer(BPE({letter: number for number, letter in enumerate(letters)}, []))
    tokenizer.normalizer = Replace("x", content)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([BYTE_LEVEL, split("b|[^ab]+")])
    cuts = cuts_of(tokenizer)
    assert not cuts[ord("x")].any()
    assert not cuts[:, ord("x")].any()
    assert cuts[ord("a"), ord("b")]


@pytest.mark.parametrize("unknown", ["", "\u00e9", "x\u00e9"])
def test_spans_after_a_dropped_character_are_those_of_the_whole_pre_token(unknown: str) -> None:
    """BPE without an unknown token drops it, and the library shifts all spans after it."""
    theirs = Tokenizer(BPE(vocab={"a": 0, "-": 1, "aa": 2}, merges=[("a", "a")]))
    theirs.normalizer = NFKC()  # normalized in blocks, which end at cuts
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    text = " -".join([unknown + "aaa-" * 20_000] * 2)
    whole, ours = theirs.encode(text), converted(theirs).encode_with_offsets(text)
    assert ours.ids == whole.ids
    assert [tuple(span) for span in ours.offsets] == whole.offsets


def unknown_as_one(theirs: Tokenizer) -> None:
    theirs.model = BPE({"?": 0, "a": 1, "e": 2, "=": 3}, [], unk_token="?", fuse_unk=True)


def punctuation_alone(theirs: Tokenizer) -> None:
    theirs.pre_tokenizer = pre_tokenizers.Punctuation()


def normalized_added_token(theirs: Tokenizer) -> None:
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    theirs.add_tokens([ReferenceToken(".é", normalized=True)])


@pytest.mark.parametrize("has", [unknown_as_one, punctuation_alone, normalized_added_token])
@pytest.mark.parametrize("form", [NFC, NFKC])
def test_no_cut_is_before_a_character_that_composes_to_what_belongs_to_the_left_side(
    has: Callable[[Tokenizer], None], form: Callable[[], Normalizer]
) -> None:
    theirs = Tokenizer(WordLevel({"?": 0, "a": 1, "a\u2260": 2, ".": 3, "é": 4}, unk_token="?"))
    theirs.normalizer = form()
    has(theirs)
    ours = converted(theirs)
    assert cuts_of(theirs)[ord("a"), ord("!")]
    for end in ("!", "a=\u0338", ".e\u0301", "]o\u0302\u0301"):
        text = "a!" + end
        ids = [id for part in ours.encode_stream([*text]) for id in part.tolist()]
        assert ids == theirs.encode(text).ids, text
    long = "a!.e\u0301]o\u0302\u0301a=\u0338" * 30_000
    assert ours.encode(long) == theirs.encode(long).ids


# The rules of a charsmap, and whether a text may be cut between a digit and a space.
CHARSMAPS = {
    "of words": ({"e\u0301": "é", "½": "1<2", "A": "a", "\t": " ", "\n": " ", "\x01": ""}, True),
    "that changes a space before a mark": ({" \u0308": "ab", "A": "a"}, False),
    "that drops a space before a mark": ({" \u0308": "", "A": "a"}, False),
    "with a sequence of two words": ({"a b": "ab", "e\u0301": "é"}, True),
    "with a sequence that ends in a space": ({"e ": "e", "b\u0301 ": "b", "A": "a"}, True),
    "that replaces what joins a letter": ({"\u0600": "<", "\U000110bda": " ", "A": "a"}, False),
    "that makes spaces": ({"b": " ", "!": "a ", ".": " a", "A": "a"}, True),
    "that makes marks": ({"b": "\u0301", "!": "a\u0301", "A": "a"}, True),
    "of both characters of a newline": ({"\r": "a", "\n": " ", "\u0308": "b"}, True),
}


@pytest.mark.parametrize("name", CHARSMAPS)
def test_both_sides_of_a_cut_have_the_ids_of_the_whole_with_a_charsmap(name: str) -> None:
    rules, has_cuts = CHARSMAPS[name]
    theirs = unigram(*sorted("abeA1.,!<▁é\u0301"), "▁a", "ab", "▁é", "b.", "a!")
    theirs.normalizer = normalizers.Precompiled(charsmap_of(rules))
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    pairs = pairs_of(cuts_of(theirs))
    assert ("1 " in pairs) == has_cuts
    rng = random.Random(name)
    others = "  abbeeA1.!\t\r\n\x01\u0301\u0308\u0600\U000110bd\u1100\u200d"
    alphabet = [*others, *rules]
    common = [pair for pair in pairs if {*pair} <= {*alphabet}]
    for _ in range(5000 if pairs else 0):
        pair = rng.choice(rng.choice([pairs, common or pairs]))
        left = "".join(rng.choices(alphabet, k=rng.randrange(5))) + pair[0]
        right = pair[1] + "".join(rng.choices(alphabet, k=rng.randrange(5)))
        sides = theirs.encode(left).ids + theirs.encode(right).ids
        assert sides == theirs.encode(left + right).ids, (left, right)


SPACES = Regex(" {2,}")
# What is replaced before Metaspace, where a text may be cut between a digit and a space, and where
# it may not.
WITH_CUT: dict[str, list[Normalizer]] = {
    "two spaces by one, as in CamemBERT": [Replace(SPACES, " ")],
    "quotes and spaces, as in ALBERT": [Replace("``", '"'), NFKD(), Replace(SPACES, " ")],
    "spaces by the marker": [Replace(SPACES, "▁")],
    "spaces by a space and a letter": [Replace(SPACES, " a")],
    "a space and a letter by a space": [Replace(" a", " ")],
    "a digit and a letter by a digit": [Replace("a1", "b1")],
    "a digit by a space": [Replace("1", " ")],
    "spaces at the end": [Strip(left=False)],
    "a space before the text, then two spaces by one": [Prepend(" "), Replace(SPACES, " ")],
}
WITHOUT_CUT: dict[str, list[Normalizer]] = {
    "spaces by a letter": [Replace(SPACES, "a")],
    "spaces by nothing": [Replace(SPACES, "")],
    "a space and a letter by the letter": [Replace(" a", "a")],
    "digits by a space, then two by one": [Replace(Regex("1+"), " "), Replace(SPACES, " ")],
    "a digit before a space": [Replace("1 ", "1 ")],
    "spaces at the start": [Strip(right=False)],
    "a space before the text": [Prepend(" ")],
    "a space before the text, then three by one": [Prepend(" "), Replace(Regex(" {3,}"), " ")],
    "a space before the text, then two by one, except before a digit": [
        Prepend(" "),
        Replace(Regex(" {2,}(?!1)"), " "),
    ],
    "a letter before the text, then two spaces by one": [Prepend("a"), Replace(SPACES, " ")],
}


@pytest.mark.parametrize("name", [*WITH_CUT, *WITHOUT_CUT])
def test_both_sides_have_ids_and_spans_of_the_whole_where_a_match_was_replaced(name: str) -> None:
    theirs = unigram(*"ab1.▁", "▁a", "▁▁", "ab", "1▁")
    theirs.normalizer = normalizers.Sequence((WITH_CUT | WITHOUT_CUT)[name])
    theirs.pre_tokenizer = pre_tokenizers.Metaspace()
    pairs = pairs_of(cuts_of(theirs))
    assert ("1 " in pairs) == (name in WITH_CUT)
    common = [pair for pair in pairs if {*pair} <= {*"  ab1."}]
    rng = random.Random(name)
    for _ in range(3000 if common else 0):
        pair = rng.choice(common)
        left = "".join(rng.choices("  ab1.`", k=rng.randrange(6))) + pair[0]
        right = pair[1] + "".join(rng.choices("  ab1.`", k=rng.randrange(6)))
        whole, one, two = map(theirs.encode, (left + right, left, right))
        assert one.ids + two.ids == whole.ids, (left, right)
        moved = [(start + len(left), end + len(left)) for start, end in two.offsets]
        assert one.offsets + moved == whole.offsets, (left, right)


MANY: dict[str, list[Normalizer]] = {
    "replacements": [
        Replace(Regex(f"{letter} {{2,}}| {letter}"), f"{letter.upper()}x")
        for letter in "abcdefghijklmnopqr"
    ],
    "normal forms": [NFC(), Replace("ab", "ba")] * 3,
}


@pytest.mark.parametrize("name", MANY)
def test_the_memory_does_not_grow_exponentially_with_the_number_of_operations(name: str) -> None:
    theirs = unigram("a")
    theirs.normalizer = normalizers.Sequence(MANY[name])
    theirs.pre_tokenizer = pre_tokenizers.Metaspace()
    tracemalloc.start()
    cuts_of(theirs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000


def test_a_charsmap_that_drops_the_start_of_a_long_text_moves_its_spans_after_every_cut() -> None:
    theirs = unigram("a", "b")
    theirs.normalizer = normalizers.Precompiled(charsmap_of({"\x01": ""}))
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    theirs.add_tokens([ReferenceToken("<s>", normalized=False)])
    assert cuts_of(theirs)[ord("b"), ord(" ")]
    ours = converted(theirs)
    for start in ("\x01", "<s>\x01", "ab \x01"):
        text = start + "ab " * 10_000
        found, expected = ours.encode_with_offsets(text), theirs.encode(text)
        assert (found.ids, found.offsets) == (expected.ids, expected.offsets), start


def test_a_greedy_model_is_cut_where_no_token_has_both_characters() -> None:
    """As RWKV's, which has no pre-tokenizer; compared with the published algorithm."""
    cut = 0
    for seed in range(300):
        rng = random.Random(seed)
        words = {"".join(rng.choices("ab \n\u00e9", k=rng.randrange(2, 5))) for _ in range(8)}
        tokens = [*(bytes([byte]) for byte in range(256)), *map(str.encode, words)]
        model = GreedyModel({token: number for number, token in enumerate(tokens)})
        file = load(file_bytes(tokenizer_model(tokens, model, Reference.RWKV)))
        text = "".join(rng.choices("ab \n\u00e9", k=30))
        expected, rest = [], text.encode()
        while rest:
            expected.append(max(filter(rest.startswith, tokens), key=len))
            rest = rest.removeprefix(expected[-1])
        parts = [ids.tolist() for ids in file.encode_stream([*text])]
        assert [tokens[id] for ids in parts for id in ids] == expected, text
        cut += len(parts) - 1
    assert cut > 500
