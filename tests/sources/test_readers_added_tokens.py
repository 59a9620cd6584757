"""An added token has the id, flags and bytes of the reference, whatever the file declares."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_parts import normalizers
from reader_samples import BYTES, FLAGS, added, document, read_document, reference

from tokexport.errors import UnsupportedError
from tokexport.model import SpellBytes, TokenizerModel, TokenKind

# In and outside the vocabulary and the byte alphabet, changed and unchanged by normal forms.
CONTENTS = [
    *("", "a", "<s>", "</s>", "Ġ", "é", "e\u0301", "ﬁ", "fi", "中", "<a b>", "xy", "Å", "\u212b"),
    "①",
]
NORMALIZERS: list[Any] = [
    None,
    {"type": "NFC"},
    {"type": "NFKC"},
    normalizers({"type": "NFD"}, normalizers()),
    {"type": "ByteLevel"},
]
EACH_FLAG = dict.fromkeys(FLAGS, st.booleans())
TOKEN = st.builds(added, st.sampled_from(CONTENTS), st.integers(0, 400), **EACH_FLAG)


def same_added_tokens(fields: dict[str, Any], model: TokenizerModel) -> None:
    """Compares ids, flags, spelling and skipped tokens with the reference."""
    theirs = reference(fields)
    decoder = theirs.get_added_tokens_decoder()
    assert {token.id for token in model.added_tokens} == decoder.keys()
    for token in model.added_tokens:
        other = decoder[token.id]
        for name in ("content", "single_word", "lstrip", "rstrip", "normalized"):
            assert getattr(token, name) == getattr(other, name)
    for number in range(max(theirs.get_vocab(with_added_tokens=True).values()) + 2):
        token_or_none = model.tokens[number] if number < len(model.tokens) else None
        assert (token_or_none is None) == (theirs.id_to_token(number) is None)
        if token_or_none is not None:
            whole = token_or_none.content.decode("utf-8", "replace")
            assert theirs.decode([number], skip_special_tokens=False) == whole
            kept = "" if token_or_none.special else whole
            assert theirs.decode([number], skip_special_tokens=True) == kept


@settings(max_examples=300)
@given(
    tokens=st.lists(TOKEN, max_size=8), normalizer=st.sampled_from(NORMALIZERS), holes=st.booleans()
)
def test_ids_and_bytes_equal_those_of_the_reference(
    tokens: list[Any], normalizer: Any, holes: bool, tmp_path: Path
) -> None:
    vocab = BYTES | {"<s>": 300 if holes else 256, "中": 301 if holes else 257}
    fields = document(
        added_tokens=tokens,
        normalizer=normalizer,
        pre_tokenizer=None if normalizer == {"type": "ByteLevel"} else document()["pre_tokenizer"],
        model={"vocab": vocab},
    )
    try:
        model = read_document(fields, tmp_path)
    except UnsupportedError:
        assert is_doubtful(tokens, vocab, normalizer)
        return
    same_added_tokens(fields, model)


def is_doubtful(tokens: list[Any], vocab: dict[str, int], normalizer: Any) -> bool:
    """Whether a refusal is correct: contents or model tokens that normalize to the same text, or
    word boundaries in mapped text.
    """

    theirs = reference(document(normalizer=normalizer)).normalizer

    def normal(content: str) -> str:
        return content if theirs is None else theirs.normalize_str(content)

    last = {token["content"]: token for token in tokens if token["content"]}
    ever = {token["content"] for token in tokens if token["normalized"]}
    found = [normal(content) for content, token in last.items() if token["normalized"]]
    edges = any(
        token["normalized"] and (token["single_word"] or token["lstrip"] or token["rstrip"])
        for token in last.values()
    )
    return (
        len(set(found)) < len(found)
        or any(content in vocab and normal(content) != content for content in ever)
        or (normalizer == {"type": "ByteLevel"} and edges)
    )


def test_a_declared_id_is_ignored_and_a_note_says_so(tmp_path: Path) -> None:
    model = read_document(document(added_tokens=[added("<s>", 1000), added("a", 999)]), tmp_path)
    found = [(token.content, token.id) for token in model.added_tokens]
    assert found == [("a", BYTES["a"]), ("<s>", 256)]
    assert any("1000" in note and "256" in note for note in model.notes)
    assert any("999" in note and "97" in note for note in model.notes)


def test_a_token_without_content_is_skipped(tmp_path: Path) -> None:
    fields = document(added_tokens=[added("", 256), added("<s>", 257)])
    model = read_document(fields, tmp_path)
    same_added_tokens(fields, model)
    assert model.added_tokens[0].id == 256
    assert any("no content" in note for note in model.notes)


def test_an_id_that_collides_because_of_a_hole_is_refused(tmp_path: Path) -> None:
    fields = document(added_tokens=[added("<x>", 300)], model={"vocab": {**BYTES, "ab": 257}})
    assert reference(fields).token_to_id("<x>") == 257
    with pytest.raises(UnsupportedError, match=r"added_tokens\[0\].*257"):
        read_document(fields, tmp_path)


def test_two_tokens_that_normalize_to_one_text_are_refused(tmp_path: Path) -> None:
    tokens = [added("ﬁ", 256, normalized=True), added("fi", 257, normalized=True)]
    with pytest.raises(UnsupportedError, match=r"added_tokens\[1\].*added_tokens\[0\]"):
        read_document(document(added_tokens=tokens, normalizer={"type": "NFKC"}), tmp_path)
    fine = document(added_tokens=tokens, normalizer={"type": "NFC"})
    same_added_tokens(fine, read_document(fine, tmp_path))


def test_the_normal_form_of_a_content_is_from_the_reference_not_from_python(tmp_path: Path) -> None:
    # U+11938 is new in Unicode 13: the older tables of the reference do not change it
    content = "a\U00011938\u0301"
    tokens = [added(content, 256, normalized=True)]
    fields = document(added_tokens=tokens, normalizer={"type": "NFD"})
    token = read_document(fields, tmp_path).tokens[256]
    assert token is not None
    assert token.content.decode() == reference(fields).decode([256], skip_special_tokens=False)


def test_word_boundaries_after_a_byte_level_normalizer_are_in_the_alphabet(tmp_path: Path) -> None:
    fields = document(
        added_tokens=[added("<x>", 256, normalized=True, lstrip=True)],
        normalizer={"type": "ByteLevel"},
        pre_tokenizer=None,
    )
    assert read_document(fields, tmp_path).normalizer == (SpellBytes(),)


def test_kinds_tell_the_origin_of_an_id(tmp_path: Path) -> None:
    fields = document(
        added_tokens=[added("<s>"), added("<x>")],
        model={"vocab": {**BYTES, "<s>": 256, "<unk>": 257}, "unk_token": "<unk>"},
    )
    model = read_document(fields, tmp_path)
    kinds = [token.kind for token in model.tokens[256:] if token is not None]
    assert kinds == [TokenKind.MODEL, TokenKind.UNKNOWN, TokenKind.ADDED]
