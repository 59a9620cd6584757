"""A directory with a class of ``transformers`` produces the ids, texts and offsets of
AutoTokenizer, for every class of that library that has a tokenizer.json.
"""

import json
import random
import sys
from pathlib import Path

import pytest
import tokenizers
from references import assert_same, converted, reference_for, refused
from transformers_classes import (
    BYTE_PAIRS,
    GPT2,
    ROBERTA,
    SENTENCEPIECES,
    TEMPLATE,
    WORDPIECES,
    auto,
    pair,
    pieces,
    same,
    settle,
    write,
)

import tokexport
from tokexport.errors import MissingLibraryError, SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.reference import Mode, ReferenceStopsError
from tokexport.sources.sentencepiece.proto import Piece, PieceType, SentencePieceModel, serialize


@pytest.mark.parametrize(
    "name", [*WORDPIECES, *BYTE_PAIRS, *SENTENCEPIECES, "CLIPTokenizer", "HerbertTokenizer"]
)
def test_a_class_produces_the_ids_of_autotokenizer(name: str, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = tokexport.convert(tmp_path, tmp_path / "it.tkx")
    theirs = auto(tmp_path)
    assert type(theirs).__name__ in done.model.provenance.source
    same(tokexport.load(tmp_path / "it.tkx"), theirs)
    assert done.model.special_ids.eos == theirs.eos_token_id or theirs.eos_token is None


def test_scores_that_nearly_tie_are_those_of_the_class_and_the_reference(tmp_path: Path) -> None:
    """`tokenizers` would read other scores from the file that the object saves."""
    scores = {'▁"': -6.248338222503662, "l": -9.356104850769043, "ll": -11.208784103393555}
    special = [Piece("<unk>", type=PieceType.UNKNOWN), Piece("</s>", type=PieceType.CONTROL)]
    pieces = (*special, *(Piece(text, score) for text, score in scores.items()), Piece("▁", -4.0))
    (tmp_path / "spiece.model").write_bytes(serialize(SentencePieceModel("t5", pieces)))
    settle(tmp_path, tokenizer_class="T5Tokenizer", extra_ids=0)
    theirs = auto(tmp_path)
    backend = theirs.backend_tokenizer
    wanted = backend.encode('"lll').ids
    assert tokenizers.Tokenizer.from_str(backend.to_str()).encode('"lll').ids != wanted
    for source in (tmp_path, theirs, backend):
        file, reference = converted(source), reference_for(source)
        assert file.encode('"lll', **TEMPLATE) == wanted
        assert reference.encode_batch(['"lll'], Mode.TEMPLATE) == [wanted]
        assert_same(file, reference, strings=500)
    backend.save(str(tmp_path / "tokenizer.json"))
    file = converted(tmp_path, reference="transformers")
    wanted = auto(tmp_path).backend_tokenizer.encode('"lll').ids
    assert file.encode('"lll', **TEMPLATE) == wanted
    reference = reference_for(tmp_path, reference="transformers")
    assert reference.encode_batch(['"lll'], Mode.TEMPLATE) == [wanted]


def test_decoding_by_clips_class_is_exact_but_for_white_space_at_the_end(tmp_path: Path) -> None:
    """The class replaces decode() of its backend in Python, which what it saves does not say."""
    write(tmp_path, "CLIPTokenizer")
    theirs = auto(tmp_path)
    backend = theirs.backend_tokenizer
    file = converted(tmp_path)
    vocab, dice = backend.get_vocab(), random.Random(1)
    ends = ["<|startoftext|>", "a", "a</w>", "<", "/", "w", ">", "<</w>", "</", "Ġ", "Ċ</w>"]
    ends += ["Â", "ł", "ł</w>", "â", "Ģ", "the</w>", "<|endoftext|>", "Ì"]
    kinds, left_out = [vocab[token] for token in ends if token in vocab], 0
    for _ in range(3000):
        ids = dice.choices(kinds, k=dice.randrange(8))
        for skip in (False, True):
            wanted = theirs.decode(ids, skip_special_tokens=skip)
            stream = file.decode_stream(skip_special_tokens=skip)
            streamed = "".join(part or "" for part in (*map(stream.step, ids), stream.flush()))
            found = file.decode(ids, skip_special_tokens=skip)
            assert found == streamed
            assert found.rstrip() == wanted
            left_out += found != wanted
    assert 0 < left_out < 2000
    for source in (tmp_path, theirs, backend):
        assert any("white space" in note for note in read(source).notes)
        file, reference = converted(source), reference_for(source)
        assert reference.decode_batch([[vocab["a</w>"]] * 2], False) == ["a a"]
        with pytest.raises(ReferenceStopsError):
            reference.decode_batch([[vocab["a"], vocab["Ċ</w>"]]], False)
        assert_same(file, reference, strings=2000)


def test_another_function_in_the_place_of_decode_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "RobertaTokenizer")
    theirs = auto(tmp_path)
    theirs.backend_tokenizer.decode = lambda *_, **__: ""
    refused(UnsupportedError, r"decode\(\) that Python code replaced by .*lambda", theirs)


def test_the_type_of_a_model_implies_its_class(tmp_path: Path) -> None:
    pair(tmp_path, *GPT2)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")
    assert "GPT2Tokenizer of transformers" in read(tmp_path).provenance.source
    # This type has no class, so the pair is read as a bare one.
    (tmp_path / "config.json").write_text('{"model_type": "granite"}', "utf-8")
    assert read(tmp_path).provenance.source == "vocab.json + merges.txt"


def test_settings_and_added_tokens_equal_those_of_the_class(tmp_path: Path) -> None:
    pair(tmp_path, *ROBERTA)
    extra = {"content": "<x>", "lstrip": True, "rstrip": False, "single_word": False}
    settle(
        tmp_path,
        tokenizer_class="RobertaTokenizer",
        add_prefix_space=True,
        additional_special_tokens=[{**extra, "__type": "AddedToken", "normalized": False}],
        chat_template="{{ messages }}",
    )
    done = tokexport.convert(tmp_path, tmp_path / "it.tkx")
    same(tokexport.load(tmp_path / "it.tkx"), auto(tmp_path))
    assert "<x>" in {token.content for token in done.model.added_tokens}
    assert done.model.chat.default == "{{ messages }}"


def test_whisper_inserts_language_and_task_before_a_text(tmp_path: Path) -> None:
    special = [*GPT2, "<|startoftranscript|>", "<|en|>", "<|zh|>", "<|de|>", "<|translate|>"]
    special += ["<|transcribe|>", "<|startofprev|>", "<|notimestamps|>"]
    pair(tmp_path)
    size = len(json.loads((tmp_path / "vocab.json").read_text("utf-8")))
    added = {str(size + n): {"content": c, "special": True} for n, c in enumerate(special)}
    chosen = {"added_tokens_decoder": added, "language": "german", "task": "transcribe"}
    settle(tmp_path, tokenizer_class="WhisperTokenizer", **chosen)
    same(converted(tmp_path), auto(tmp_path))


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_a_named_file_is_read_without_the_tokenizer_json(name: str, tmp_path: Path) -> None:
    pair(tmp_path, *GPT2)
    settle(tmp_path, tokenizer_class="GPT2Tokenizer")
    whole = read(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"added_tokens": []}', "utf-8")
    model = read(tmp_path / name)
    parts = (whole.tokens, whole.model, whole.template)
    assert (model.tokens, model.model, model.template) == parts
    assert "tokenizer.json" not in model.provenance.sha256
    assert {"vocab.json", "merges.txt"} < set(model.provenance.sha256)
    refused(SourceError, "lacks the required field 'model'", tmp_path)


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ("CTRLTokenizer", UnsupportedError, r"CTRLTokenizer .*only in Python"),
        ("NoSuchTokenizer", UnsupportedError, r"the class NoSuchTokenizer .*no such class"),
        ("BertTokenizer", SourceError, r"read from vocab\.txt, and vocab\.txt is not there"),
        ("PhobertTokenizer", SourceError, r"vocab\.txt and bpe\.codes is not there"),
    ],
)
def test_a_class_that_cannot_be_read_is_refused(
    config: str, error: type, message: str, tmp_path: Path
) -> None:
    pair(tmp_path, "<unk>")
    settle(tmp_path, tokenizer_class=config, unk_token="<unk>")
    refused(error, message, tmp_path / "vocab.json")


@pytest.mark.parametrize(
    ("left", "missing"), [("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")]
)
def test_half_of_a_pair_with_a_class_is_refused_by_the_name_of_the_other(
    left: str, missing: str, tmp_path: Path
) -> None:
    pair(tmp_path)
    settle(tmp_path, tokenizer_class="GPT2Tokenizer")
    (tmp_path / missing).unlink()
    refused(SourceError, rf"merges\.txt, and {missing} is not there", tmp_path / left)


@pytest.mark.parametrize(
    ("file", "config"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "MarianTokenizer"}),
        ("config.json", {"model_type": "marian"}),
    ],
)
def test_a_directory_of_marian_is_refused(file: str, config: object, tmp_path: Path) -> None:
    for name in ("source.spm", "target.spm"):
        pieces(tmp_path, name, "unigram")
    vocab = {"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), "utf-8")
    (tmp_path / file).write_text(json.dumps(config), "utf-8")
    refused(UnsupportedError, r"MarianTokenizer .*only in Python", tmp_path)


def test_code_of_a_repository_is_never_run(tmp_path: Path) -> None:
    pair(tmp_path)
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')", "utf-8")
    settle(tmp_path, tokenizer_class="Trap", auto_map={"AutoTokenizer": ["trap.Trap", None]})
    for source in (tmp_path, tmp_path / "vocab.json"):
        refused(UnsupportedError, "the class Trap", source)
    with pytest.raises(SourceError, match="code of the repository, which is not run"):
        tokexport.convert(tmp_path, tmp_path / "it.tkx", reference="transformers")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("library", ["transformers", "google", "google.protobuf"])
def test_without_the_library_a_sentence_says_what_to_install(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair(tmp_path)
    settle(tmp_path, tokenizer_class="GPT2Tokenizer")
    name = "transformers" if library == "transformers" else "protobuf"
    end = f"{name} is not installed; pip install 'tokexport[transformers]'"
    monkeypatch.delitem(sys.modules, "google.protobuf", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    for source, place in ((tmp_path, "in"), (tmp_path / "vocab.json", "beside")):
        why = f"a file {place} it names the class GPT2Tokenizer of `transformers`, which decides"
        found = refused(MissingLibraryError, why, source)
        assert str(found) == f"{source}: {why} its ids, and {end}"
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / name).unlink()
    refused(SourceError, r"only the settings of one \(tokenizer_config.json\)", tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(MissingLibraryError) as caught:
        tokexport.convert(tmp_path, reference="transformers")
    assert str(caught.value) == f"{tmp_path}: the library `transformers` decides its ids, and {end}"


def test_an_object_is_read_like_the_file_that_its_backend_saves(tmp_path: Path) -> None:
    write(tmp_path, "RobertaTokenizer")
    theirs = auto(tmp_path)
    done = tokexport.convert(theirs, tmp_path / "it.tkx")
    assert done.model.special_ids.bos == theirs.bos_token_id
    same(tokexport.load(tmp_path / "it.tkx"), theirs)
