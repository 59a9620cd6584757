"""A file of another runtime becomes a tokexport file with that runtime's ids, or is refused."""

from pathlib import Path

import pytest
from command_line import Run
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT

import tokexport
from tokexport.errors import FormatError, SourceError, TokexportError
from tokexport.targets.from_runtime import convert_from
from tokexport.targets.registry import TARGETS

FORMATS = ROOT / "formats"
LLAMA2C = ("llama2.c", "llama2.c-mobile")
DECODING = ("llm.c", "whisper.cpp")
TEXTS = st.text(st.sampled_from("the in fr\u2581  <s>/\n\u00e9\u4e2d"), max_size=40) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20
)


def golden(name: str) -> Path:
    return FORMATS / TARGETS[name].golden


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tokexport.Tokenizer]:
    folder = tmp_path_factory.mktemp("taken")
    tokenizers = {}
    for name in (*LLAMA2C, *DECODING):
        conversion = convert_from(golden(name), name, folder / name)
        assert conversion.encodes == (name in LLAMA2C)
        assert (conversion.compared > 900) == (name in LLAMA2C)
        tokenizers[name] = tokexport.load(folder / name)
    return tokenizers


@pytest.mark.parametrize("name", LLAMA2C)
@given(text=TEXTS)
def test_ids_equal_those_of_the_runtime(
    name: str, text: str, converted: dict[str, tokexport.Tokenizer]
) -> None:
    assert converted[name].encode(text) == TARGETS[name].runtime(golden(name), {}).encode(text)


@pytest.mark.parametrize("name", DECODING)
def test_a_decode_only_file_decodes_the_same(
    name: str, converted: dict[str, tokexport.Tokenizer]
) -> None:
    tokens = TARGETS[name].read(golden(name)).tokens
    assert len(tokens) > 200
    for id, token in enumerate(tokens):
        assert token is not None
        assert converted[name].decode_single_token_bytes(id) == token.content
    with pytest.raises(FormatError):
        converted[name].encode("a")


def test_a_c_array_contains_the_file(tmp_path: Path) -> None:
    convert_from(golden("c-array"), "c-array", tmp_path / "it.bin")
    assert tokexport.load(tmp_path / "it.bin").encode("abba") == [2, 1, 0]


@pytest.mark.parametrize("name", [*TARGETS])
def test_the_other_formats_are_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    if name in (*LLAMA2C, *DECODING, "c-array"):
        return
    problem = "which has no pre-tokenizer" if name.startswith("qwen3") else "leave out --from"
    with pytest.raises(TokexportError, match=problem):
        convert_from(golden(name), name, tmp_path / "it.bin")
    assert not (tmp_path / "it.bin").exists()


def test_a_file_whose_ids_would_differ_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if run.c did not insert a space before a text."""
    from tokexport.targets import llama2c

    usual = llama2c.Llama2c.encode
    monkeypatch.setattr(llama2c.Llama2c, "encode", lambda self, text: usual(self, text)[1:])
    with pytest.raises(TokexportError, match="other ids than the runtime for"):
        convert_from(golden("llama2.c"), "llama2.c", tmp_path / "it.bin")


@pytest.mark.parametrize("name", ["tok512", "tok4096"])
def test_the_tokenizers_of_llama2c_can_be_read(name: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "tokenizers" / f"llama2c-{name}" / f"{name}.bin"
    assert convert_from(source, "llama2.c", tmp_path / "it.bin").compared > 900


def test_the_command_line_accepts_it(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.bin"
    outcome = run("convert", str(golden("llama2.c")), "--from", "llama2.c", "-o", str(out))
    assert outcome.stderr.startswith("note: same ids as run.c of llama2.c for all 9")
    assert tokexport.load(out).n_vocab == 285
    (tmp_path / "other").write_bytes(bytes(64))  # whisper.cpp: no tokens
    for source, form in (ROOT / "README.md", "llm.c"), (tmp_path / "other", "whisper.cpp"):
        with pytest.raises(SourceError, match=rf"^{source}: .* not of this format$"):
            convert_from(source, form, tmp_path / "no.bin")
