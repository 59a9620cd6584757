"""Sources are recognized by content; a source that cannot be read is refused with its kind."""

import gzip
import io
import json
import os
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
from reader_samples import BYTES, added, document, read_document, reference
from references import refused

from tokexport.compiler.compile import prepared
from tokexport.errors import SourceError, UnsupportedError
from tokexport.file.layout import MAGIC
from tokexport.sources import read
from tokexport.sources.json_node import Node, parse_large
from tokexport.sources.sentencepiece.proto import Piece, PieceType, SentencePieceModel, serialize


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", "b")
    return buffer.getvalue()


KERAS = b'{"class_name": "Tokenizer", "config": {"word_index": "{}"}}'
BROKEN = [
    (b"", "the file is empty"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS"),
    (b"GGUF\x03\x00\x00\x00", "is truncated: 8 bytes expected, at byte 8; it is damaged"),
    (b"\x1f\x8b\x08\x00", "the gzip file is damaged"),
    # with a time in it, pytest-xdist would collect another test in each of its processes
    (
        gzip.compress(b"\xff", mtime=0),
        r"not CLIP's .*\.gz; if it holds another tokenizer, decompress it",
    ),
    (
        bytes.fromhex("0a0e0a053c756e6b3e15000000001801 0a0c0a033c733e15000000001803"),
        "0 pieces are of type UNKNOWN",
    ),
    (
        b'{"config": {"pattern": "x"}, "vocab": []}',
        "config lacks the required field 'default_vocab_size'",
    ),
    (b"{\n}\n\xff\n", "byte 4 is not UTF-8"),
    (b"{\n(\n\xff\n", "byte 4 is not UTF-8; the file is of no known binary format; supported"),
    (b"\x30" + bytes(4) + b"\0\0\x80\xff\5\0\0\0<pad>", "is not UTF-8; the file is of no known"),
    (b'{"\xff": 1}', "byte 2 is not UTF-8; JSON must be UTF-8"),
    (b'{"version": "1.0", "added_tokens": []}', "required field 'model'"),
    (b'{"tiktoken_file": "x", "added_tokens": []}', "required field 'model'"),
    (b"[PAD]\n[UNK]\n[CLS]\nthe\n", r"no token \"\[SEP\]\""),
    (b"minbpe v1\n", "it ends before line 3"),
    (b"1 'a' 1\n", "255 of the 256 single bytes are not tokens"),
    (b"hello \xff there\n", "byte 6 is not UTF-8"),
    (b"#version: 0.2\na b\n", "only pairs of words, as merges .*; give the whole"),
    (b'{"a": 0, "b": 1}', "only numbers by name, as a vocabulary .*; give the whole"),
    (b'{"pat_str": "x", "bpe_ranks": "x"}', r'line 1 of bpe_ranks is "x"; expected "!"'),
    (b"dGhl 7\nb2Y= 5\nYQ== 1\n*** 9\n", r'line 4 is "\*\*\* 9"; expected a token in base64'),
]
UNSUPPORTED = [
    (MAGIC + bytes(100), "a tokexport file"),
    (zipped(), "a zip archive"),
    (b"\xc8\xd7\x34\x01" + bytes(100), "which only says how ids are decoded; convert it"),
    (b"\x07" + bytes(7) + b"\5\0\0\0<unk>\xff", "of llama2.c, .*; convert it with --from llama2.c"),
    (b"lCRF\xf4\0\0\0", "a model of CRFsuite"),
    *(
        (mark + b"\0{\0", "it is UTF-16, .*; save it as UTF-8")
        for mark in (b"\xff\xfe", b"\xfe\xff")
    ),
    (pickle.dumps({"a": 1}), "it is a Python pickle; give a pickle of a tiktoken"),
    (b'{"tokenizer_class": "X"}', "a tokenizer_config.json"),
    (b'{"tokenizer_class": "X", "added_tokens": []}', "a tokenizer_config.json"),
    (b'{"config": {}, "miditok_version": "3.0.6", "_model": "{}"}', "a tokenizer of MidiTok"),
    *((data, "a JSON object of another kind") for data in (b'{"a": "b"}', b'{"a": 1.5}')),
    (KERAS, "a tokenizer of Keras"),
    (json.dumps(KERAS.decode()).encode(), "a tokenizer of Keras .*has a `model`"),
    (b"<cls>\n<pad>\nL\nA\nG\n", r"tokens without BERT's \[UNK\]; it alone does not"),
    (b'"{"', "JSON that is not an object"),
    (b'"the" and "of"', "JSON that is not an object"),
    (b"[1, 2]", "JSON that is not an object"),
    (b"\xef\xbb\xbf[1, 2]", "JSON that is not an object"),
    (b"{}", "a JSON object of another kind"),
    (b'{"model": "x"}', "it is a JSON object of another kind; give the directory"),
    (b'{"model_type": "gpt2"}', "it is the config.json of a model; give the directory"),
    (b"null", "it is JSON that is not an object; give the directory"),
    (b"\x08" + bytes(7) + b'{"a":{}}', r"weights \(.*give the directory .* embedded"),
    (b"Prose, which\nis no vocabulary.\n", "text that is not a vocabulary; give the directory"),
    (b"\0\1\2", "text that is not a vocabulary"),
    (b"hello there, world\n", "it is text that is not a vocabulary; give the directory"),
    (b"the 1234\n, 1000\nthat 900\n", r"tokens with their counts \(.*give the tokenizer\.json"),
    ("th@@ 33\nдо 9\n".encode(), "tokens with their counts .*subword-nmt"),
    (b"that 33\nof 9\na 8\n", "tokens with their counts .*fairseq"),
    (b"t h 33\nth e</w> 9\n", r"merges with their counts \(codes of fastBPE.*give"),
    (b"256 7932\n233 89\n8218 215\n1 2 3\n"[:24], "pairs of numbers .*YouTokenToMe"),
    (
        "<unk>\t0\n<s>\t0\n\u2581the\t-3.28\n\u2581\t-1.5e-05\n".encode(),
        "pieces with their scores, .*beside its model",
    ),
    (b"<unk>\t0\n \t-0\nt\t-1\n", "pieces with their scores"),
    (b"dGhl 7\nb2Y= 5\n", "tiktoken ranks without a pattern"),
]


@pytest.mark.parametrize(
    ("error", "data", "message"),
    [
        *((SourceError, *case) for case in BROKEN),
        *((UnsupportedError, *case) for case in UNSUPPORTED),
    ],
)
def test_the_kind_of_a_file_does_not_depend_on_its_name(
    error: type, data: bytes, message: str, tmp_path: Path
) -> None:
    for name in ("tokenizer.json", "x.tiktoken", "tokenizer.model", "noname"):
        (tmp_path / name).write_bytes(data)
        found = refused(error, message, tmp_path / name, pattern=None)
        assert str(found).startswith(f"{tmp_path / name}: ")


ONLY_SETTINGS = r"only the settings of one \({}\.json\): its vocabulary is missing"


def test_a_directory_is_read_by_its_contents(tmp_path: Path) -> None:
    refused(SourceError, "there is no tokenizer in this directory", tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    refused(SourceError, ONLY_SETTINGS.format("tokenizer_config"), tmp_path)
    for name in ("a.tiktoken", "b.tiktoken"):
        (tmp_path / name).write_bytes(b"IQ== 0\n")
    problem = r"more than one file of tiktoken ranks .*\(a\.tiktoken, b\.tiktoken\)"
    refused(SourceError, problem, tmp_path)


def test_a_vocabulary_of_a_directory_without_its_merges_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text("{}")
    (tmp_path / "vocab.json").write_text('{"<pad>": 0, "|": 4, "a": 5}')
    refused(SourceError, r"vocab\.json: it holds only numbers by name.* is not beside it", tmp_path)


def test_the_merges_of_a_directory_without_their_vocabulary_are_named(tmp_path: Path) -> None:
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    merges = r"the merges of one \(merges\.txt\): its vocabulary is missing"
    refused(SourceError, f"in this directory, only {merges}", tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    both = rf"only the settings of one \(tokenizer_config\.json\) and {merges}"
    refused(SourceError, both, tmp_path)


def test_the_refusal_of_a_vocab_txt_names_a_model_beside_it(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("48000\n0\n1\n<pad>\t0.0\n")
    refused(UnsupportedError, r"vocab\.txt: it is text that .*; give the directory of", tmp_path)
    (tmp_path / "sl_tokenizer.model").write_bytes(b"anything")
    named = r"text that is not a vocabulary; give another file: sl_tokenizer\.model$"
    refused(UnsupportedError, named, tmp_path)
    refused(UnsupportedError, r"; give the directory of", tmp_path / "vocab.txt")


def test_the_only_tokenizer_of_a_directory_is_found_under_another_name(tmp_path: Path) -> None:
    model = read_document(document(), tmp_path)
    (tmp_path / "tokenizer.json").rename(tmp_path / "bpe_tokenizer.json")
    (tmp_path / "config.json").write_text('{"model": {"type": "llama"}, "a": 1}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "weights.model").write_bytes(b"\x80\x02ab")
    assert read(tmp_path).tokens == model.tokens
    (tmp_path / "z.json").write_text((tmp_path / "bpe_tokenizer.json").read_text())
    problem = r"more than one tokenizer .*\(bpe_tokenizer\.json, z\.json\); give one"
    refused(SourceError, problem, tmp_path)


def test_the_model_of_a_directory_is_found_with_a_version_in_its_name(tmp_path: Path) -> None:
    pieces = (Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("a", -1.0))
    (tmp_path / "tokenizer.model.v3").write_bytes(serialize(SentencePieceModel("", pieces)))
    assert [*read(tmp_path).provenance.sha256] == ["tokenizer.model.v3"]


def test_the_only_tokenizer_of_a_directory_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def counted(data: bytes, file: str) -> Node | None:
        parsed.append(file)
        return parse_large(data, file)

    monkeypatch.setattr("tokexport.sources.source.parse_large", counted)
    (tmp_path / "mine.json").write_text(json.dumps(document()))
    read(tmp_path)
    assert parsed == ["mine.json"]


def test_vocabularies_of_rwkv_and_clip_are_found_by_the_start_of_their_names(
    tmp_path: Path,
) -> None:
    lines = [f"{byte + 1} {bytes([byte])!r} 1" for byte in range(256)]
    (tmp_path / "rwkv_vocab_v1.txt").write_text("\n".join(lines))
    assert len(read(tmp_path).tokens) == 257
    (tmp_path / "rwkv_vocab_v1.txt").rename(tmp_path / "bpe_simple_vocab_x.txt.gz")
    assert len(read(tmp_path).tokens) == 257


def test_a_note_lists_unread_tokenizers_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({**BYTES, "ab": 256}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    assert not any("not read" in note for note in read(tmp_path).notes)
    for name in ("tokenizer.model", "vocab.txt", "source.spm", "vocab.model"):
        (tmp_path / name).write_bytes(b"anything")
    (note,) = [note for note in read(tmp_path).notes if "not read" in note]
    others = "not read: source.spm, tokenizer.model, vocab.model, vocab.txt."
    assert f"vocab.json is read; {others}" in note
    assert not any("not read" in note for note in read(tmp_path / "vocab.json").notes)


def test_a_tokenizer_json_of_settings_does_not_hide_the_tokenizer(tmp_path: Path) -> None:
    settings = tmp_path / "tokenizer.json"
    settings.write_text(
        '{"tokenizer_class": "T5Tokenizer", "eos_token": "</s>", "added_tokens": []}'
    )
    refused(SourceError, ONLY_SETTINGS.format("tokenizer"), tmp_path)
    pieces = (Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("a", -1.0))
    (tmp_path / "spiece.model").write_bytes(serialize(SentencePieceModel("spiece.model", pieces)))
    model = read(tmp_path)
    assert model.provenance.source == "sentencepiece"
    assert any("tokenizer.json in the directory holds only settings" in n for n in model.notes)
    either = "give the file with its vocabulary, or the directory with both"
    refused(UnsupportedError, either, settings)
    settings.write_text(json.dumps(document()))
    assert read(tmp_path).provenance.source == "tokenizer.json"


def test_a_tokenizer_object_is_read_like_its_saved_file(tmp_path: Path) -> None:
    fields = document(added_tokens=[added("<s>", 256, special=True)])
    from_object, from_file = prepared(read(reference(fields))), read_document(fields, tmp_path)
    assert replace(from_object, provenance=from_file.provenance) == from_file
    assert list(from_object.provenance.sha256) == ["tokenizers.Tokenizer"]


def test_an_object_with_other_ids_than_its_saved_file_is_refused() -> None:
    tokenizer = reference(document())
    tokenizer.add_tokens(["<x>"])
    tokenizer.model = tokenizers.models.BPE({**BYTES, "ab": 256, "cd": 257}, [])
    assert tokenizer.token_to_id("<x>") == 256
    assert reference(tokenizer.to_str()).token_to_id("<x>") == 258
    refused(UnsupportedError, "it is '<x>', but None in the file", tokenizer)


def test_an_object_that_is_not_a_source_is_a_type_error() -> None:
    refused(TypeError, r"builtins\.int", 5)


def test_pattern_and_special_tokens_are_only_for_files_that_lack_them(tmp_path: Path) -> None:
    read_document(document(), tmp_path)
    refused(UnsupportedError, "pattern for a", tmp_path, pattern="gpt2")
    refused(UnsupportedError, "special_tokens for a", tmp_path, special_tokens={"<s>": 1})
    refused(SourceError, "has its own pattern", reference(document()), pattern="gpt2")


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="needs /dev/fd")
def test_a_pipe_is_refused_with_a_sentence() -> None:
    end, begin = os.pipe()
    with os.fdopen(begin, "wb") as pipe:
        pipe.write(b'{"version": "1.0"}')
    with os.fdopen(end), pytest.raises(SourceError, match="is a pipe, and a source is read more"):
        read(Path(f"/dev/fd/{end}"))


@pytest.mark.parametrize(
    ("cut", "what"),
    [
        (b'"version', r"column \d+ is not JSON: .*in the middle of the string that begins there"),
        (b'"version":', r"column \d+ is not JSON: .*the file ends there, before its JSON does"),
        (b'"version": "1.0",\n', r"column \d+ is not JSON: .*the file ends there, before its"),
        ('"é'.encode()[:-1], "byte 3 is not UTF-8"),
    ],
)
def test_the_refusal_of_a_json_that_is_cut_off_says_so(
    cut: bytes, what: str, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b"{\n" + cut)
    refused(SourceError, rf"tokenizer\.json: .*{what}.*; it seems to be cut off", tmp_path)


def test_the_refusal_of_a_raw_tab_in_a_json_is_a_whole_sentence(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b'{"a": "x\ty"}')
    refused(SourceError, "column 9 is not JSON: Invalid control character$", tmp_path)


def test_the_refusal_of_a_url_names_it_as_given() -> None:
    url = "https://huggingface.co/Qwen/Qwen3-0.6B"
    refused(SourceError, rf"^{url}: a URL is not read; .* owner/name, or", url)


def test_an_error_names_a_missing_file_and_has_a_hint_if_it_could_be_a_model() -> None:
    refused(SourceError, r"gpt-9: cannot be read: No such file .*; .*owner/name", "gpt-9")
    with pytest.raises(SourceError, match=r"gpt-9\.json: cannot be read: No such f") as caught:
        read("gpt-9.json")
    assert not caught.value.hint
