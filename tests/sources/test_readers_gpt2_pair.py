"""vocab.json with merges.txt is read as by ByteLevelBPETokenizer of the reference."""

import json
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from reader_samples import BYTES
from references import assert_same, converted, reference_for, refused

from tokexport.compiler.compile import prepared
from tokexport.conversion import Options, file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import BytePairModel, Split, TokenizerModel
from tokexport.sources import read

VOCAB = {**BYTES, "ab": 256, "abc": 300, "<|endoftext|>": 301}
MERGES = "#version: 0.2\na b\nab c\n"


def write(
    folder: Path,
    vocab: dict[str, int],
    merges: str,
    names: tuple[str, str] = ("vocab.json", "merges.txt"),
) -> list[Path]:
    paths = [folder / name for name in names]
    paths[0].write_text(json.dumps(vocab), encoding="utf-8")
    paths[1].write_bytes(merges.encode("utf-8"))
    return paths


def same_as(theirs: tokenizers.ByteLevelBPETokenizer, model: TokenizerModel) -> None:
    for number, token in enumerate(model.tokens):
        assert (token is None) == (theirs.id_to_token(number) is None)
        if token is not None:
            text = theirs.decode([number], skip_special_tokens=False)
            assert token.content.decode("utf-8", "replace") == text
    stage = theirs._tokenizer.pre_tokenizer
    assert [part for part, _ in stage.pre_tokenize_str("it's")] == ["it", "'s"]
    assert all(isinstance(step, Split) for step in model.pre_tokenizer)


@pytest.mark.parametrize(
    "names",
    [
        ("vocab.json", "merges.txt"),
        ("encoder.json", "vocab.bpe"),
        ("vocab.json", "vocab.bpe"),
        ("gpt2-vocab.json", "gpt2-merges.txt"),
        ("my-vocab.json-merges.txt-vocab.json", "my-vocab.json-merges.txt-merges.txt"),
    ],
)
@pytest.mark.parametrize(
    "merges",
    [MERGES, MERGES.removeprefix("#version: 0.2\n"), MERGES.replace("\n", "\r\n"), MERGES[:-1]],
)
def test_a_pair_is_read_from_either_file_and_from_the_directory(
    names: tuple[str, str], merges: str, tmp_path: Path
) -> None:
    paths = write(tmp_path, VOCAB, merges, names)
    models = [prepared(read(source)) for source in (*paths, tmp_path)]
    assert models[0] == models[1] == models[2]
    assert isinstance(models[0].model, BytePairModel)
    assert models[0].model.merges is not None
    assert models[0].model.merges.tolist() == [[97, 98, 256], [256, 99, 300]]
    same_as(tokenizers.ByteLevelBPETokenizer.from_file(*map(str, paths)), models[0])


@pytest.mark.parametrize("named", [None, "TokenizersBackend", "PreTrainedTokenizerFast"])
def test_a_note_says_that_gpt2s_pattern_is_assumed(named: str | None, tmp_path: Path) -> None:
    write(tmp_path, VOCAB, MERGES)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": named}))
    note = "No file beside vocab.json names a class that says how texts are split, so they are"
    assert read(tmp_path).notes[0].startswith(note)


def test_special_tokens_can_be_given(tmp_path: Path) -> None:
    vocab, merges = write(tmp_path, VOCAB, MERGES)
    assert read(vocab).added_tokens == ()
    model = read(vocab, special_tokens={"<|endoftext|>": 301, "<|new|>": 5})
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(str(vocab), str(merges))
    theirs.add_special_tokens(["<|endoftext|>", "<|new|>"])
    assert {token.content for token in model.added_tokens} == {"<|endoftext|>", "<|new|>"}
    assert all(token.id == theirs.token_to_id(token.content) for token in model.added_tokens)
    assert any("declares the id 5" in note for note in model.notes)


def test_added_tokens_without_a_class_are_refused_unless_they_are_given(tmp_path: Path) -> None:
    write(tmp_path, VOCAB, MERGES)
    (tmp_path / "added_tokens.json").write_text('{"<y>": 303, "<x>": 302}', encoding="utf-8")
    refused(UnsupportedError, r"added_tokens\.json: added tokens beside", tmp_path)
    given = {"<b>": 303, "<a>": 302}
    model = read(tmp_path, special_tokens=given)
    assert [token.content for token in model.added_tokens] == ["<a>", "<b>"]
    assert any("added_tokens.json is left out" in note for note in model.notes)
    reference = reference_for(tmp_path, special_tokens=given)
    assert_same(file_bytes(model, Options()), reference, strings=500)


@pytest.mark.parametrize("others", [("model", "version"), ("b</w>", "\u2581a")])
def test_any_vocabulary_with_every_byte_is_read(others: tuple[str, str], tmp_path: Path) -> None:
    vocab, _ = write(tmp_path, {**VOCAB, others[0]: 302, others[1]: 303}, MERGES)
    assert len(read(vocab).tokens) == 304


def test_a_tokenizer_json_in_the_directory_takes_precedence(tmp_path: Path) -> None:
    write(tmp_path, VOCAB, MERGES)
    (tmp_path / "tokenizer.json").write_text("{")
    refused(SourceError, r"tokenizer\.json: line 1", tmp_path)


SUFFIXED = {f"{character}</w>": 1000 + number for character, number in BYTES.items()}
BROKEN = [
    (VOCAB, "a b\na  c\n", 'merges.txt: line 2 is "a  c"'),
    (VOCAB, "a b\n\nab c\n", "merges.txt: line 2"),
    (VOCAB, "#version: 0.2\na c\n", 'line 2 is "a" "c", and the token "ac"'),
]
UNSUPPORTED = [
    ({**VOCAB, "ac": 97}, MERGES, "the id 97"),
    ({**VOCAB, **SUFFIXED}, MERGES, "of CLIP's kind without"),
    ({"a": 0, "b</w>": 1, "ab</w>": 2}, "a b</w>\n", r'token "!".*; .*give the tokenizer\.json'),
    ({"a@@": 0, "b": 1}, "a b</w>\n", r"\(subword-nmt.*CTRL"),
    ({"\u2581": 0, "a": 1, "\u2581a": 2}, "\u2581 a\n", "give .* or the SentencePiece model"),
    ({token: id for token, id in VOCAB.items() if token != "z"}, MERGES, 'without a token "z"'),
]


@pytest.mark.parametrize(
    ("error", "vocab", "merges", "message"),
    [
        *((SourceError, *case) for case in BROKEN),
        *((UnsupportedError, *case) for case in UNSUPPORTED),
    ],
)
def test_a_pair_that_is_not_byte_level_bpe_is_refused(
    error: type, vocab: dict[str, int], merges: str, message: str, tmp_path: Path
) -> None:
    paths = write(tmp_path, vocab, merges)
    refused(error, message, paths[0])


def test_one_file_without_the_other_is_refused(tmp_path: Path) -> None:
    vocab, merges = write(tmp_path, VOCAB, MERGES)
    merges.unlink()
    only = r"only numbers by name, .* no ids follow, and merges\.txt or vocab\.bpe is not beside it"
    refused(SourceError, only, vocab)
    vocab, merges = write(tmp_path, VOCAB, MERGES, ("a-vocab.json", "b-merges.txt"))
    refused(SourceError, r"a-merges\.txt is not beside it", vocab)
    refused(SourceError, r"b-vocab\.json is not beside it", merges)


def test_one_of_several_prefixes_must_be_given(tmp_path: Path) -> None:
    first = write(tmp_path, VOCAB, MERGES, ("a-vocab.json", "a-merges.txt"))
    (tmp_path / "c-vocab.json").write_text("{}")  # not a pair without merges
    assert read(tmp_path) == read(first[0])
    second = write(tmp_path, {**VOCAB, "new": 400}, MERGES, ("b-vocab.json", "b-merges.txt"))
    problem = r"more than one .*\(a-vocab\.json, b-vocab\.json\); give one"
    refused(SourceError, problem, tmp_path)
    assert [len(read(path).tokens) for path in (*first, *second)] == [302, 302, 401, 401]
    plain = write(tmp_path, {**VOCAB, "new": 500}, MERGES)
    assert read(tmp_path).tokens == read(plain[0]).tokens


def test_bytes_that_no_text_contains_are_not_required(tmp_path: Path) -> None:
    never = (0xC0, 0xC1, *range(0xF5, 0x100))
    in_text = {character: byte for character, byte in BYTES.items() if byte not in never}
    vocab, merges = write(tmp_path, in_text | {"ab": 256, "abc": 257}, MERGES)
    tokenizer = converted(vocab)
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(str(vocab), str(merges))

    @given(st.text(max_size=30))
    def same(text: str) -> None:
        assert tokenizer.encode(text) == theirs.encode(text).ids

    same()


def test_a_note_mentions_the_other_numbering_of_fairseq(tmp_path: Path) -> None:
    write(tmp_path, VOCAB, MERGES, ("encoder.json", "vocab.bpe"))
    assert not any("fairseq" in note for note in read(tmp_path).notes)
    (tmp_path / "dict.txt").write_text("256 10\n300 9\n")
    (note,) = [note for note in read(tmp_path).notes if "fairseq" in note]
    assert note.startswith("The ids are those of encoder.json. dict.txt beside it")


def test_a_pattern_for_a_pair_is_refused(tmp_path: Path) -> None:
    vocab, _ = write(tmp_path, VOCAB, MERGES)
    problem = "only tiktoken ranks and GGUF, which hold none, accept one"
    refused(UnsupportedError, problem, vocab, pattern="gpt2")
