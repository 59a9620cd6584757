"""A conversion writes the whole target or leaves everything unchanged."""

import errno
import io
import json
import os
import stat
from pathlib import Path

import pytest
from json_parts import digits, pre_tokenizers, split, word_piece
from reader_samples import document
from references import reference_for
from tiktoken_encodings import byte_encoding

import tokexport
from tokexport.conversion import file_bytes
from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.output import naming, writing


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "tokenizer.json"
    path.parent.mkdir()
    path.write_text(json.dumps(document()))
    return path


def refused(problem: str, source: Path, target: Path | str, *, force: bool = False) -> None:
    with pytest.raises(TokexportError, match=problem):
        tokexport.convert(source, target, force=force)


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_the_target_can_be_opened_and_its_size_is_reported(source: Path, tmp_path: Path) -> None:
    done = tokexport.convert(source, tmp_path / "tokenizer.bin")
    assert done.target == tmp_path / "tokenizer.bin"
    assert done.size == done.target.stat().st_size
    assert len(repr(done)) < 1000
    assert repr(done.model) == f"<TokenizerModel {len(done.model.tokens):,} tokens, tokenizer.json>"
    assert "strings=<ByteStrings 256>" in repr(done.model.model)
    assert done.source_size == source.stat().st_size
    assert sum(done.sections.values()) <= done.size
    assert tokexport.load(done.target).encode("abc")


def test_an_existing_target_is_not_overwritten_without_force(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "tokenizer.bin"
    target.write_bytes(b"precious")
    refused(r"exists already.*--force", source, target)
    assert target.read_bytes() == b"precious"
    tokexport.convert(source, target, force=True)
    assert target.read_bytes() != b"precious"


def test_a_target_that_appears_during_the_conversion_is_kept(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "tokenizer.bin"

    def another(step: str) -> None:
        if step == "writing":
            target.write_bytes(b"precious")

    with pytest.raises(TokexportError, match="exists already"):
        tokexport.convert(source, target, progress=another)
    assert target.read_bytes() == b"precious"
    assert files(tmp_path) == {"source", "tokenizer.bin"}


def test_only_a_regular_file_is_replaced(source: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for target, kind in (("pipe", "pipe"), ("link", "pipe"), ("source", "directory")):
        refused(kind, source, tmp_path / target, force=True)
    refused("device", source, os.devnull, force=True)
    reader, writer = os.pipe()  # a pipe of a shell has no path that could be resolved
    refused(r"pipe.*; write to standard output", source, f"/dev/fd/{writer}", force=True)
    os.close(reader)
    os.close(writer)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert files(tmp_path) == {"source", "pipe", "link"}


def test_a_symbolic_link_is_written_through(source: Path, tmp_path: Path) -> None:
    (tmp_path / "v1.bin").write_bytes(b"old")
    for name in ("v1.bin", "v2.bin"):  # one exists, the other does not
        link = tmp_path / f"current-{name}"
        link.symlink_to(name)
        tokexport.convert(source, link, force=name == "v1.bin")
        assert link.is_symlink()
        assert tokexport.load(tmp_path / name).n_vocab == 256


def test_a_source_is_never_its_own_target(source: Path, tmp_path: Path) -> None:
    (source.parent / "tokenizer_config.json").write_text("{}")
    (tmp_path / "symbolic").symlink_to(source)
    os.link(source, tmp_path / "hard")
    before = source.read_bytes()
    for force in (False, True):
        for target in (source, tmp_path / "symbolic", tmp_path / "hard"):
            refused("is the source itself", source, target, force=force)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        refused("is the source itself", source.parent, source.parent / name, force=True)
    assert source.read_bytes() == before


def test_a_file_open_for_writing_can_be_a_target(source: Path) -> None:
    target = io.BytesIO()
    done = tokexport.convert(source, target)
    assert done.target is None
    assert tokexport.load(target.getvalue()).n_vocab == 256


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"normalizer": {"type": "Surprise"}}, UnsupportedError),
        ({"pre_tokenizer": {"type": "Other"}}, UnsupportedError),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}, SourceError),
    ],
)
def test_a_refused_source_leaves_no_file_and_an_existing_target_unchanged(
    change: dict[str, object], error: type[TokexportError], source: Path, tmp_path: Path
) -> None:
    source.write_text(json.dumps(document() | change))
    with pytest.raises(error):
        tokexport.convert(source, tmp_path / "new.bin")
    target = tmp_path / "old.bin"
    target.write_bytes(b"precious")
    with pytest.raises(error):
        tokexport.convert(source, target, force=True)
    assert files(tmp_path) == {"source", "old.bin"}
    assert target.read_bytes() == b"precious"


def test_a_refusal_names_the_file_the_field_and_the_value(source: Path, tmp_path: Path) -> None:
    sequence = pre_tokenizers(split(r"(a+)\1"), document()["pre_tokenizer"])
    for change, words in (
        (
            {"normalizer": {"type": "Other"}},
            r'normalizer\.type: the normalizer "Other" is not supported',
        ),
        ({"pre_tokenizer": sequence}, r"pre_tokenizer\.pretokenizers\[0\].*a reference"),
    ):
        source.write_text(json.dumps(document(**change)))
        with pytest.raises(UnsupportedError, match=r"source.tokenizer\.json: " + words):
            tokexport.convert(source, tmp_path / "new.bin")


def test_a_full_disk_leaves_no_file_and_an_existing_target_unchanged(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "tokenizer.bin"
    target.write_bytes(b"precious")

    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", no_space)
    refused("No space left", source, target, force=True)
    assert files(tmp_path) == {"source", "tokenizer.bin"}
    assert target.read_bytes() == b"precious"


def test_a_read_only_file_system_does_not_hide_the_name_of_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "open", fails)
    monkeypatch.setattr(Path, "unlink", fails)
    target = tmp_path / "x.bin"
    sentence = r"x\.bin: cannot be written: Read-only file system$"
    with pytest.raises(TokexportError, match=sentence), writing(target):
        pass
    with pytest.raises(TokexportError, match=sentence), naming(target, tmp_path / "part"):
        target.open("wb")


def test_the_target_has_the_permissions_of_new_files(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    with monkeypatch.context() as patched:
        patched.delattr(os, "umask")  # process-wide: must never change, not even for a moment
        tokexport.convert(source, tmp_path / "tokenizer.bin")
    os.umask(before)
    assert stat.S_IMODE((tmp_path / "tokenizer.bin").stat().st_mode) == 0o640


def test_the_same_source_produces_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for name in ("a.bin", "b.bin"):
        tokexport.convert(source, tmp_path / name)
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()


def test_an_encoding_object_converts_without_a_file(tmp_path: Path) -> None:
    encoding = byte_encoding(r"\w+|\W", [b"ab"], {"<s>": 257})
    done = tokexport.convert(encoding, tmp_path / "tokenizer.bin")
    assert done.source_size is None
    tokenizer = tokexport.load(tmp_path / "tokenizer.bin")
    expected = encoding.encode("ab <s>", allowed_special="all")
    assert tokenizer.encode("ab <s>", allowed_special="all") == expected
    assert tokenizer.self_test() > 0


def test_more_stages_than_the_format_allows_are_refused(source: Path) -> None:
    sequence = pre_tokenizers(*[digits()] * 16, document()["pre_tokenizer"])
    source.write_text(json.dumps(document(pre_tokenizer=sequence)))
    with pytest.raises(UnsupportedError, match="17 stages in a row"):
        file_bytes(tokexport.read(source))


EMPTY: dict[str, dict[str, object]] = {
    "BPE": {"vocab": {}, "merges": []},
    "WordLevel": {"vocab": {}, "unk_token": "x"},
    "Unigram": {"vocab": [], "unk_id": None},
    "WordPiece": word_piece({}),
}


@pytest.mark.parametrize("model", EMPTY)
def test_a_tokenizer_without_tokens_is_refused(model: str, tmp_path: Path) -> None:
    fields = document(pre_tokenizer=None, decoder=None) | {"model": {"type": model, **EMPTY[model]}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields))
    with pytest.raises(UnsupportedError, match="it has no tokens"):
        tokexport.convert(tmp_path, tmp_path / "tokenizer.bin")
    assert not (tmp_path / "tokenizer.bin").exists()


def test_an_empty_charsmap_is_an_error_of_the_source(tmp_path: Path) -> None:
    fields = document(normalizer={"type": "Precompiled", "precompiled_charsmap": ""})
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields))
    with pytest.raises(SourceError, match="expected a map that is not empty"):
        tokexport.convert(tmp_path, tmp_path / "tokenizer.bin")
    with pytest.raises(SourceError, match=r"the library `tokenizers` .* refuses it"):
        reference_for(tmp_path)


WRONG = [{"prefix": "##", "cleanup": True}, {"type": 5}, {"type": "Sequence"}, {"type": "Nothing"}]


@pytest.mark.parametrize("decoder", [*WRONG, [], "ByteLevel"])
def test_an_invalid_decoder_is_refused_with_a_sentence(decoder: object, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(decoder=decoder)))
    refused("decoder", tmp_path, tmp_path / "tokenizer.bin")
