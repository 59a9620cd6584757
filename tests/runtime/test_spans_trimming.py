"""Post-processors trim white space from the same offsets as in the reference library."""

from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from tokexport.compiler.compile import prepared
from tokexport.conversion import file_bytes
from tokexport.errors import FormatError
from tokexport.runtime.tokenizer import Tokenizer as File
from tokexport.runtime.tokenizer import load
from tokexport.sources import read

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
TEXTS = [
    *("a  b", " a", "  a", "", " ", "   ", "x \u3000<s>\u3000 y", "[M]  a", "\u0120[M]\u0120"),
    *("?? a?", "  <s>", "a\n\n b", "é é", "\t[M] "),
]
KEEPS = processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
TAKES = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
NOTHING = processors.ByteLevel(trim_offsets=False)
ROBERTA = processors.RobertaProcessing(
    ("a", 0), ("b", 1), trim_offsets=True, add_prefix_space=False
)


def byte_level(
    processor: Any, *, unknown: str = "<unk>", missing: str = "?", rstrip: bool = True
) -> Tokenizer:
    """A byte-level tokenizer without one byte, with added tokens of white space."""
    tokens = [token for token in ALPHABET if token not in missing]
    vocab = {token: number for number, token in enumerate([*tokens, "ĠĠ", "Ġa", unknown])}
    tokenizer = Tokenizer(models.BPE(vocab, [("Ġ", "Ġ"), ("Ġ", "a")], unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.post_processor = processor
    tokenizer.add_special_tokens([AddedToken("<s>", lstrip=True, rstrip=True, normalized=False)])
    tokenizer.add_tokens(
        [AddedToken("[M]", rstrip=rstrip), AddedToken("\n\n"), AddedToken("\u0120[M]\u0120")]
    )
    return tokenizer


def file_of(tokenizer: Tokenizer) -> File:
    return load(file_bytes(read(tokenizer)))


@pytest.mark.parametrize("unknown", ["<unk>", "Ġ<unk>", "\u2003<unk> \u00a0", " "])
@pytest.mark.parametrize(
    "passes",
    [[NOTHING], [KEEPS], [TAKES], [KEEPS, TAKES], [TAKES, NOTHING, KEEPS, KEEPS], [TAKES, ROBERTA]],
)
def test_offsets_are_trimmed_as_in_the_library(passes: list[Any], unknown: str) -> None:
    library = byte_level(processors.Sequence(passes), unknown=unknown)
    subject = file_of(library)
    for text in TEXTS:
        for template in (False, True):
            expected = library.encode(text, add_special_tokens=template)
            how: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": template}
            encoding = subject.encode_with_offsets(text, **how)
            assert (encoding.ids, encoding.offsets) == (expected.ids, expected.offsets), text


def test_trimming_changes_something() -> None:
    assert byte_level(TAKES).encode("a b").offsets != byte_level(NOTHING).encode("a b").offsets
    assert byte_level(KEEPS).encode(" a").offsets != byte_level(TAKES).encode(" a").offsets


@pytest.mark.parametrize(
    "passes",
    [
        # Whether a token is the first depends on the call.
        [processors.BertProcessing(("a", 0), ("b", 1)), KEEPS],
        [ROBERTA, TAKES],
        [TAKES] * 16,  # more than a file can store
    ],
)
def test_a_file_without_offsets_says_so(passes: list[Any]) -> None:
    library = byte_level(processors.Sequence(passes))
    subject = file_of(library)
    assert subject.encode("a b", add_special_tokens=True) == library.encode("a b").ids
    with pytest.raises(FormatError, match="encode without offsets") as refusal:
        subject.encode_with_offsets("a b")
    assert refusal.value.code == -13


@pytest.mark.parametrize(("passes", "refused"), [([TAKES], False), ([ROBERTA, TAKES], True)])
def test_a_note_says_that_offsets_are_refused(passes: list[Any], refused: bool) -> None:
    notes = prepared(read(byte_level(processors.Sequence(passes)))).notes
    assert any("offsets are refused" in note for note in notes) == refused


def test_letters_of_a_byte_level_normalizer_are_not_white_space() -> None:
    library = byte_level(TAKES, rstrip=False)
    library.normalizer = normalizers.ByteLevel()
    library.pre_tokenizer = pre_tokenizers.Digits()
    with pytest.raises(FormatError, match="encode without offsets"):
        file_of(library).encode_with_offsets("a\n\nb")


def test_an_unknown_unit_is_an_error() -> None:
    with pytest.raises(ValueError, match='"char" or "byte"'):
        file_of(byte_level(NOTHING)).encode_with_offsets("a", unit="word")  # type: ignore[arg-type]


def test_arrays_have_the_same_values_as_lists() -> None:
    subject = file_of(byte_level(ROBERTA))
    for text in TEXTS:
        lists = subject.encode_with_offsets(text, add_special_tokens=True)
        arrays = subject.encode_with_offsets_to_numpy(text, add_special_tokens=True)
        assert arrays.offsets.shape == (len(lists.ids), 2)
        assert arrays.ids.tolist() == lists.ids
        assert [tuple(pair) for pair in arrays.offsets.tolist()] == lists.offsets
        assert arrays.type_ids.tolist() == lists.type_ids
        assert arrays.special_tokens_mask.tolist() == lists.special_tokens_mask
