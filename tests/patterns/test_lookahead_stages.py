"""Stages with lookahead, empty matches or search anchors produce the ids of the reference."""

import itertools
import random

import golden_files
import pytest
import tokexport_reader
from c_harness import Library
from references import converted
from regex_oracle import random_texts
from regex_patterns import TIKTOKEN
from repository import SLOW
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tokexport.runtime.tokenizer import load

BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
OF_THREE = (r"\d{1,3}(?=(?:\d{3})*\b)", r"(?=(\d{3})+(?!\d))")  # groups of digits
PATTERNS = [
    *(*OF_THREE, r"\d{1,3}(?=(\d{3})*$)", "a(?=bc)"),
    *("a*", r"\b", "(?=ab)|b", "$", r"a(?!b*c|..)|.(?=a*b)", r"^|x(?=.*\bb)"),
    *(r"\s+(?!\S)|\s+(?=\s*x)|\S*", "x?(?!.*x)y*", "(?=1)1*2|(?=1)", r"(?<![a1])x|\s"),
    *("[ab]*a[ab]{3}x|[ab](?=[ab]*1)|(?=a)", "(?:[ab]+!)?", "[a-z]+", "a++b|a?+b"),
    r"[a-z]+|\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|.",
    *(r"\A\d{3}|\G\d{3}", r"\d{1,5}(?=(?>\d{5})*(?:\D|$))|\G\d{5}", r"\G[ab1]|x", r"b|\G\w1"),
]
BEHAVIORS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
ALPHABETS = ("ab1x23\n ", "123 ", "aab1!", "ab x\n٣é", "0123456789")


def tokenizer(
    pre_tokenizer: pre_tokenizers.PreTokenizer, normalizer: normalizers.Normalizer | None = None
) -> Tokenizer:
    """A byte-level tokenizer whose ids show where pre-tokens end: any two characters merge."""
    characters = [BYTE_LEVEL.pre_tokenize_str(character)[0][0] for character in " ab1x23!\n"]
    merges = list(itertools.product(characters, characters))
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, merges)]
    vocab = {token: number for number, token in enumerate(tokens)}
    result = Tokenizer(models.BPE(vocab, merges))
    result.pre_tokenizer = pre_tokenizer
    result.decoder = decoders.ByteLevel()
    if normalizer is not None:
        result.normalizer = normalizer
    return result


def sequence(r: random.Random) -> pre_tokenizers.PreTokenizer:
    stages = [
        pre_tokenizers.Split(Regex(r.choice(PATTERNS)), r.choice(BEHAVIORS), r.random() < 0.5)
        for _ in range(r.randint(1, 3))
    ]
    return pre_tokenizers.Sequence(
        [BYTE_LEVEL, *stages] if r.random() < 0.2 else [*stages, BYTE_LEVEL]
    )


@pytest.mark.parametrize("seed", range(1000 if SLOW else 30))
def test_random_sequences_of_stages_produce_the_ids_of_the_reference(seed: int) -> None:
    reference = tokenizer(sequence(random.Random(seed)))
    ours = converted(reference, self_test=False)
    for alphabet in ALPHABETS:
        for text in random_texts(alphabet, 60, longest=25, seed=seed):
            assert ours.encode(text) == reference.encode(text).ids, text


@pytest.mark.parametrize("seed", range(5))
def test_the_core_produces_the_ids_in_the_document(seed: int) -> None:
    content = golden_files.content("look-ahead")
    ours, file = load(content), tokexport_reader.open_file(content)
    for alphabet in ("abx", "123 ", "abc;\u00e9\u0661 3"):
        for text in random_texts(alphabet, 60, longest=25, seed=seed):
            assert ours.encode(text) == tokexport_reader.encode(file, text.encode()), text


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("invert", [False, True])
def test_an_empty_match_divides_the_text_under_every_behavior(behavior: str, invert: bool) -> None:
    for pattern in ("a*", r"\b", "(?=ab)|b", r"(?=(\d{3})+(?!\d))", "x?"):
        split = pre_tokenizers.Split(Regex(pattern), behavior, invert)
        reference = tokenizer(pre_tokenizers.Sequence([split, BYTE_LEVEL]))
        ours = converted(reference, self_test=False)
        for text in random_texts("aabx1", 300, longest=9):
            assert ours.encode(text) == reference.encode(text).ids, (pattern, text)


@pytest.mark.parametrize("pattern", [*OF_THREE, r"[a-z]+(?=[^.]*!)", "(?<=[.1])[12](?=[^ ]*b)"])
def test_blocks_of_a_long_text_change_no_ids(pattern: str) -> None:
    patterns = (pattern, TIKTOKEN["llama3-tiktoken"])
    stages = [pre_tokenizers.Split(Regex(part), "isolated") for part in patterns]
    reference = tokenizer(pre_tokenizers.Sequence([*stages, BYTE_LEVEL]))
    ours = converted(reference, self_test=False)
    for alphabet in ("ab12 ", "123456", "12 a.!\n", "a b", "1é x٣"):
        # For a text without the end of a lookaround, the library takes quadratic time.
        for seed, length in enumerate(
            (8191, 8192, 8193, 20000) if SLOW or "!" in alphabet else (8192, 8193)
        ):
            text = "".join(random.Random(seed).choices(alphabet, k=length))
            assert ours.encode(text) == reference.encode(text).ids


def test_labels_need_one_byte_of_work_memory_per_byte_of_a_pre_token(library: Library) -> None:
    assert library.open(golden_files.content("look-ahead")) == 0
    text = b"7 " * 500
    assert library.encode_within(text, len(text) - 1)[0] == -7
    assert library.encode_within(text, len(text) + 100)[0] == 0
