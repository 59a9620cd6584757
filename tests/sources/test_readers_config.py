"""Files beside a tokenizer.json define roles of ids and the chat template, but change no id."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from reader_samples import added, document, read_document

from tokexport.compiler.compile import prepared
from tokexport.conversion import file_bytes
from tokexport.errors import SourceError
from tokexport.model import SpecialIds
from tokexport.sources import read
from tokexport.sources.registry import open_source

NAMES = ("<s>", "</s>", "<pad>")
TOKENS = [added(name, 1000 + number, special=True) for number, name in enumerate(NAMES)]


def test_roles_have_the_ids_that_the_reference_emits(tmp_path: Path) -> None:
    config = {
        "bos_token": "<s>",
        "eos_token": {"content": "</s>", "lstrip": False},
        "pad_token": "<pad>",
        "unk_token": None,
    }
    model = read_document(document(added_tokens=TOKENS), tmp_path, tokenizer_config=config)
    assert model.special_ids == SpecialIds(bos=256, eos=257, pad=258, unk=None, stop=(257,))


def test_stop_ids_are_also_read_from_the_generation_config(tmp_path: Path) -> None:
    model = read_document(
        document(added_tokens=TOKENS),
        tmp_path,
        tokenizer_config={"eos_token": "</s>"},
        generation_config={"eos_token_id": [258, 257, 9999]},
    )
    assert model.special_ids.stop == (257, 258)
    assert any("9999" in note for note in model.notes)


def test_a_note_mentions_a_role_of_a_missing_token(tmp_path: Path) -> None:
    model = read_document(document(), tmp_path, tokenizer_config={"bos_token": "<nope>"})
    assert model.special_ids.bos is None
    assert any("<nope>" in note for note in model.notes)


def test_a_note_says_that_whisper_decodes_without_timestamps(tmp_path: Path) -> None:
    config = {"tokenizer_class": "WhisperTokenizer"}
    tokens = [added("<|endoftext|>", 1000, special=True), added("<|0.00|>", 1001)]
    model = read_document(document(added_tokens=tokens), tmp_path, tokenizer_config=config)
    (note,) = [note for note in model.notes if "timestamps" in note]
    assert "<|0.00|>" in note
    del tokens[1]
    model = read_document(document(added_tokens=tokens), tmp_path, tokenizer_config=config)
    assert not any("timestamps" in note for note in model.notes)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (None, None),
        ("{{x}}", "{{x}}"),
        ([{"name": "tool", "template": "T"}, {"name": "default", "template": "D"}], "D"),
    ],
)
def test_the_default_template_is_used(template: Any, expected: str | None, tmp_path: Path) -> None:
    model = read_document(document(), tmp_path, tokenizer_config={"chat_template": template})
    assert model.chat.default == expected


def test_a_jinja_file_takes_precedence_over_the_config(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_bytes("Ä\r\n".encode())
    model = read_document(document(), tmp_path, tokenizer_config={"chat_template": "other"})
    assert model.chat.default == "Ä\r\n"


def test_provenance_has_the_digest_of_every_file_read(tmp_path: Path) -> None:
    model = read_document(
        document(), tmp_path, tokenizer_config={}, generation_config={}, added_tokens={}
    )
    names = {"generation_config.json", "tokenizer.json", "tokenizer_config.json"}
    assert model.provenance.sha256.keys() == names
    for name, digest in model.provenance.sha256.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert file_bytes(prepared(read(tmp_path))) == file_bytes(model)


def test_files_beside_a_source_are_opened_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"[UNK]\n[SEP]\n[CLS]\na\n")
    (tmp_path / "tokenizer_config.json").write_bytes(b'{"do_lower_case": true}')
    opened: list[str] = []

    def open_and_count(path: Path, *modes: str) -> Any:
        opened.append(path.name)
        return original(path, *modes)

    original: Any = Path.open
    monkeypatch.setattr(Path, "open", open_and_count)
    source = open_source(tmp_path / "vocab.txt")
    source.read()
    assert opened.count("tokenizer_config.json") == 1


def test_files_beside_a_source_of_another_name_are_not_read(tmp_path: Path) -> None:
    read_document(document(added_tokens=TOKENS), tmp_path, tokenizer_config={"bos_token": "<s>"})
    (tmp_path / "tokenizer.json").rename(tmp_path / "mine.json")
    model = read(tmp_path / "mine.json")
    assert model.special_ids == SpecialIds()
    assert list(model.provenance.sha256) == ["mine.json"]


def test_a_broken_config_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"tokenizer_config.json: chat_template is 5"):
        read_document(document(), tmp_path, tokenizer_config={"chat_template": 5})
