"""A model file with an embedded tokenizer is the same model, and maps the tokenizer in place."""

import errno
import io
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import gguf
import golden_files
import numpy as np
import pytest
from command_line import Run
from gguf_files import written
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

import tokexport
from tokexport.embedding import embed
from tokexport.errors import FormatError, SourceError, TokexportError
from tokexport.runtime.embedded import embedded_extent, tail

TOKENIZER = golden_files.FOLDER / "added.bin"
CONTENT = TOKENIZER.read_bytes()
OTHER = golden_files.FOLDER / "holes.bin"
TEXT = "hello, world"
SIZES = st.lists(st.integers(0, 30), max_size=4)
DTYPES = st.sampled_from([np.uint8, np.float16, np.float32, np.int64])


def safetensors_file(path: Path, tensors: dict[str, NDArray[Any]]) -> Path:
    save_file(tensors, path, {"format": "pt"})
    return path


def gguf_file(path: Path, alignment: int = 32) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(alignment)
    writer.add_string("general.name", "x" * 9)
    writer.add_tensor("a", np.arange(7, dtype=np.float32))
    writer.add_tensor("b", np.arange(12, dtype=np.int8).reshape(3, 4))
    return written(path, writer)


def check_tokenizer(path: Path, content: bytes) -> None:
    """Checks that the tokenizer is complete and aligned, and runs from the mapping itself."""
    data = path.read_bytes()
    extent = embedded_extent(data)
    assert extent is not None
    assert data[slice(*extent)] == content
    assert extent[0] % 64 == 0
    tokenizer, original = tokexport.load(path), tokexport.load(content)
    assert tokenizer.encode(TEXT) == original.encode(TEXT)
    assert isinstance(tokenizer._data, memoryview)
    assert tokenizer.to_bytes() == content
    assert tokenizer.chat_templates == original.chat_templates
    assert tokenizer.sections() == original.sections()
    assert (tokenizer.records == original.records).all()
    assert pickle.loads(pickle.dumps(tokenizer)).encode(TEXT) == original.encode(TEXT)


@given(SIZES, DTYPES)
def test_the_tensors_of_safetensors_are_unchanged(
    tmp_path: Path, sizes: list[int], dtype: type[np.generic]
) -> None:
    tensors = {f"t{i}": np.arange(size).astype(dtype) for i, size in enumerate(sizes)}
    model, one = safetensors_file(tmp_path / "m.safetensors", tensors), tmp_path / "one.safetensors"
    done = embed(TOKENIZER, model, one, force=True)
    assert done.offset % 64 == 0
    assert done.file_size == one.stat().st_size
    with safe_open(one, "np") as file:
        assert {*file.keys()} - {"tokexport.padding"} == {*tensors, "tokexport.tokenizer"}
        assert file.metadata() == {"format": "pt"}
        for name, tensor in tensors.items():
            assert file.get_tensor(name).tobytes() == tensor.tobytes()
            assert file.get_tensor(name).dtype == tensor.dtype
        embedded = file.get_tensor("tokexport.tokenizer").tobytes()
    assert embedded == CONTENT + tail(len(CONTENT))
    (length,) = struct.unpack("<Q", one.read_bytes()[:8])
    assert (8 + length) % 8 == 0
    check_tokenizer(one, CONTENT)


@pytest.mark.parametrize("alignment", [8, 32, 64, 4096])
def test_a_gguf_file_begins_with_the_whole_original(tmp_path: Path, alignment: int) -> None:
    model, one = gguf_file(tmp_path / "m.gguf", alignment), tmp_path / "one.gguf"
    done = embed(TOKENIZER, model, one)
    data, size = one.read_bytes(), model.stat().st_size
    assert data.startswith(model.read_bytes())
    assert 0 <= done.offset - size < 64
    assert not any(data[size : done.offset])
    assert data[done.offset :] == CONTENT + tail(len(CONTENT))
    before, after = gguf.GGUFReader(model), gguf.GGUFReader(one)
    assert [*before.fields] == [*after.fields]
    assert [t.name for t in after.tensors] == ["a", "b"]
    for old, new in zip(before.tensors, after.tensors, strict=True):
        assert old.data.tobytes() == new.data.tobytes()
    check_tokenizer(one, CONTENT)


@pytest.mark.parametrize("kind", ["safetensors", "gguf"])
def test_a_second_tokenizer_replaces_the_first(tmp_path: Path, kind: str) -> None:
    model = tmp_path / f"m.{kind}"
    if kind == "gguf":
        gguf_file(model)
    else:
        safetensors_file(model, {"t": np.arange(3, dtype=np.uint8)})
    embed(TOKENIZER, model, tmp_path / "one")
    embed(OTHER, tmp_path / "one", tmp_path / "two")
    embed(OTHER, model, tmp_path / "direct")
    assert (tmp_path / "two").read_bytes() == (tmp_path / "direct").read_bytes()
    check_tokenizer(tmp_path / "two", OTHER.read_bytes())


def test_an_embedded_tokenizer_can_be_extracted_and_embedded_again(tmp_path: Path) -> None:
    embed(TOKENIZER, gguf_file(tmp_path / "m.gguf"), tmp_path / "one.gguf")
    model = safetensors_file(tmp_path / "m.safetensors", {"t": np.zeros(2, np.float32)})
    embed(tmp_path / "one.gguf", model, tmp_path / "one.safetensors")
    check_tokenizer(tmp_path / "one.safetensors", CONTENT)


def test_transformers_loads_the_model(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    config = transformers.GPT2Config(vocab_size=20, n_positions=8, n_embd=8, n_layer=1, n_head=1)
    model = transformers.GPT2LMHeadModel(config)
    model.save_pretrained(tmp_path / "m")
    file = tmp_path / "m" / "model.safetensors"
    embed(TOKENIZER, file, tmp_path / "one.safetensors")
    (tmp_path / "one.safetensors").replace(file)
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "m")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    check_tokenizer(file, CONTENT)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "neither a GGUF nor a safetensors"),
        (b"some other file", "neither a GGUF nor a safetensors"),
        ((1 << 60).to_bytes(8, "little") + b"{}", "neither a GGUF nor a safetensors"),
        ((3).to_bytes(8, "little") + b"{x}", "header is damaged"),
        ((8).to_bytes(8, "little") + b'{"a":1} ', "header is damaged"),
        ((2).to_bytes(8, "little") + b"{}more", "do not end with the file"),
    ],
)
def test_a_file_that_is_not_a_model_is_refused_and_no_file_is_left(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(SourceError, match=sentence):
        embed(TOKENIZER, tmp_path / "m", tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_gguf_that_is_cut_off_is_refused_and_no_file_is_left(tmp_path: Path) -> None:
    whole = gguf_file(tmp_path / "m").read_bytes()
    last = gguf.GGUFReader(tmp_path / "m").tensors[-1].data_offset
    for size in [*range(4, last, 7), last - 1]:
        (tmp_path / "m").write_bytes(whole[:size])
        with pytest.raises(SourceError, match=r"m: it (ends before|is truncated)"):
            embed(TOKENIZER, tmp_path / "m", tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


class FailingFile(io.FileIO):
    """A file on a disk that fails after its first bytes."""

    def read(self, size: int | None = 9, /) -> bytes:
        if self.tell() >= 9:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(min(size or 0, 9))


def test_an_error_while_reading_names_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [gguf_file(tmp_path / "m.gguf"), safetensors_file(tmp_path / "m.safetensors", {})]
    opened = Path.open
    monkeypatch.setattr(
        Path, "open", lambda path, how: FailingFile(path) if path in models else opened(path, how)
    )
    for model in models:
        with pytest.raises(SourceError, match=rf"{model.name}: cannot be read: Input"):
            embed(TOKENIZER, model, tmp_path / "one")
    assert sorted(tmp_path.iterdir()) == models


def test_a_source_is_not_overwritten(tmp_path: Path) -> None:
    model = gguf_file(tmp_path / "m.gguf")
    with pytest.raises(TokexportError, match="is the source itself"):
        embed(TOKENIZER, model, model, force=True)


def test_a_wrong_tail_is_refused_as_not_a_tokexport_file() -> None:
    for size in (0, 1, 63, len(CONTENT) - 1, 1 << 63):
        with pytest.raises(FormatError):
            tokexport.load(b"model" + CONTENT + tail(size))
    assert tokexport.load(b"model" + CONTENT + tail(len(CONTENT))).encode(TEXT)


def test_the_commands_accept_a_model_file(run: Run, tmp_path: Path) -> None:
    model = gguf_file(tmp_path / "m.gguf")
    made = run("embed", TOKENIZER, model, "-o", tmp_path / "one.gguf", "--json")
    assert made.code == 0
    ids = tokexport.load(TOKENIZER).encode(TEXT)
    encoded = run("encode", tmp_path / "one.gguf", TEXT)
    assert encoded.code == 0
    assert [int(word) for word in encoded.stdout.split()] == ids
    inspected = run("inspect", tmp_path / "one.gguf")
    assert inspected.code == 0
    assert "RECS" in inspected.text
