"""Formats that libraries read: their results are the same for the file and for the source."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from command_line import Run
from gguf_files import written
from hypothesis import given
from hypothesis import strategies as st
from references import reference_for
from repository import ROOT, script, small_source

import tokexport
from tokexport.errors import TokexportError
from tokexport.model import Behavior, CharacterTest, Dialect, Split
from tokexport.sources.patterns import GPT2, LLAMA3
from tokexport.sources.reference import BYTE_OF
from tokexport.sources.sentencepiece import proto
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.targets.compare import compare_runtime
from tokexport.targets.equivalence import are_equivalent
from tokexport.targets.registry import TARGETS
from tokexport.targets.write import write_target

GOLDEN = script(ROOT / "formats" / "golden_targets.py")


@pytest.mark.parametrize(
    ("name", "small"),
    [
        *(("tokenizer.json", small) for small in ("gpt2", "llama3", "qwen", "ranks")),
        *(("gguf", small) for small in ("gpt2", "llama3", "qwen")),
    ],
)
def test_a_small_tokenizer_keeps_its_ids(name: str, small: str, tmp_path: Path) -> None:
    source = small_source(small)
    write_target(source, name, tmp_path / "file")
    result = compare_runtime(tmp_path / "file", name, against=source, strings=200)
    # llama.cpp has no NFC.
    assert result.compared == 400
    assert result.ok or (name, small) == ("gguf", "qwen"), result.lines()


def test_a_pair_keeps_the_ids_of_gpt2(tmp_path: Path) -> None:
    folder, source = tmp_path / "folder", small_source("gpt2")
    write_target(source, "vocab.json", folder)
    result = compare_runtime(folder, "vocab.json", against=source, strings=200)
    kinds = {kind for kind in result.differing if kind.startswith("encode")}
    assert kinds <= {"encode added-tokens", "encode mixed", "encode tokens"}, result.lines()


@pytest.mark.parametrize("name", ["tokenizer.json", "gguf"])
def test_pieces_keep_their_ids(name: str, sources: tuple[Path, Path], tmp_path: Path) -> None:
    write_target(sources[1], name, tmp_path / "file")
    result = compare_runtime(tmp_path / "file", name, against=sources[1], strings=300)
    assert not any(kind.startswith("encode") for kind in result.differing), result.lines()


def test_a_pair_of_clip_becomes_a_tokenizer_json_with_its_ids(tmp_path: Path) -> None:
    ends = [character + "</w>" for character in BYTE_OF]
    names = [*BYTE_OF, *ends, "th", "the</w>", "<|startoftext|>", "<|endoftext|>"]
    (tmp_path / "vocab.json").write_text(json.dumps({name: id for id, name in enumerate(names)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nt h\nth e</w>\n")
    write_target(tmp_path / "vocab.json", "tokenizer.json", tmp_path / "tokenizer.json")
    reference = reference_for(tmp_path / "vocab.json")
    runtime = TARGETS["tokenizer.json"].runtime(tmp_path / "tokenizer.json", {})
    for text in ("The  tide", "the<|endoftext|>e\u0301"):
        assert runtime.encode(text) == reference.encode(text, True)
    assert runtime.encode("the") == [names.index("the</w>")]


def test_llamacpp_does_not_normalize(sources: tuple[Path, Path]) -> None:
    runtime = TARGETS["gguf"].runtime(ROOT / "formats" / TARGETS["gguf"].golden, {})
    reference = reference_for(sources[0])
    assert runtime.encode("the ferry é") == reference.encode("the ferry é", True)
    assert runtime.encode("e\u0301") != reference.encode("e\u0301", True)


def test_llamacpp_keeps_spaces_that_a_model_removes(tmp_path: Path) -> None:
    pieces = replace(GOLDEN.piece_model(), normalizer=proto.NormalizerSpec())
    (tmp_path / "tokenizer.model").write_bytes(proto.serialize(pieces))
    result = write_target(tmp_path / "tokenizer.model", "gguf", tmp_path / "file")
    assert "keeps all spaces" in str(result.losses[0])
    runtime = TARGETS["gguf"].runtime(tmp_path / "file", {})
    reference = reference_for(tmp_path / "tokenizer.model")
    assert runtime.encode("the  tide") != reference.encode("the  tide", False)
    assert runtime.encode("the tide") == reference.encode("the tide", False)


@pytest.mark.parametrize(
    ("algorithm", "changes", "part"),
    [
        (proto.Algorithm.BPE, {}, "MODEL"),
        (proto.Algorithm.UNIGRAM, {}, "MODEL"),
        (proto.Algorithm.UNIGRAM, {"byte_fallback": True}, "UNKNOWN"),
    ],
)
def test_a_part_that_llamacpp_treats_differently_is_lost(
    algorithm: proto.Algorithm, changes: dict[str, Any], part: str, tmp_path: Path
) -> None:
    model = replace(GOLDEN.piece_model(), algorithm=algorithm, **changes)
    if part == "MODEL":
        user_defined = proto.Piece("<user>", 0.0, proto.PieceType.USER_DEFINED)
        model = replace(model, pieces=(*model.pieces, user_defined))
    (tmp_path / "tokenizer.model").write_bytes(proto.serialize(model))
    result = write_target(tmp_path / "tokenizer.model", "gguf", tmp_path / "file")
    assert part in {loss.part.name for loss in result.losses}


def test_gguf_refuses_pieces_at_which_llamacpp_stops(tmp_path: Path) -> None:
    model = GOLDEN.piece_model()
    pieces = tuple(piece for piece in model.pieces if piece.type is not proto.PieceType.BYTE)
    model = replace(model, pieces=pieces, byte_fallback=False)
    (tmp_path / "tokenizer.model").write_bytes(proto.serialize(model))
    with pytest.raises(TokexportError, match=r"no tokens for bytes, and llama\.cpp stops"):
        write_target(tmp_path / "tokenizer.model", "gguf", tmp_path / "file")


def test_the_runtime_of_llamacpp_refuses_user_defined_pieces_of_unigram(tmp_path: Path) -> None:
    model = replace(GOLDEN.piece_model(), algorithm=proto.Algorithm.UNIGRAM)
    pieces = (*model.pieces, proto.Piece("<user>", 0.0, proto.PieceType.USER_DEFINED))
    (tmp_path / "tokenizer.model").write_bytes(proto.serialize(replace(model, pieces=pieces)))
    write_target(tmp_path / "tokenizer.model", "gguf", tmp_path / "file")
    with pytest.raises(TokexportError, match=r"user-defined pieces before.*not done here"):
        TARGETS["gguf"].runtime(tmp_path / "file", {})


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("collapses", [True, False])
def test_the_spaces_of_unigram_in_llamacpp_go_together(
    prefix: bool, collapses: bool, tmp_path: Path
) -> None:
    spec = proto.NormalizerSpec(add_dummy_prefix=prefix, remove_extra_whitespaces=collapses)
    model = replace(GOLDEN.piece_model(), algorithm=proto.Algorithm.UNIGRAM, normalizer=spec)
    (tmp_path / "tokenizer.model").write_bytes(proto.serialize(model))
    result = write_target(tmp_path / "tokenizer.model", "gguf", tmp_path / "file")
    assert ("NORMALIZER" in {loss.part.name for loss in result.losses}) == (prefix != collapses)
    if prefix != collapses:
        with pytest.raises(TokexportError, match=r"llama\.cpp .*space.*not done here"):
            TARGETS["gguf"].runtime(tmp_path / "file", {})


def test_a_tokenizer_json_of_pieces_becomes_a_gguf_with_its_ids(
    sources: tuple[Path, Path], tmp_path: Path
) -> None:
    write_target(sources[1], "tokenizer.json", tmp_path / "tokenizer.json")
    for name in ("gguf", "llama2.c"):
        write_target(tmp_path / "tokenizer.json", name, tmp_path / name)
        runtime = TARGETS[name].runtime(tmp_path / name, {})
        for text in ("the  ferry ", " in the tidé", "x"):
            assert runtime.encode(text) == reference_for(sources[1]).encode(text, False)


def test_a_gguf_file_with_tensors_gets_another_tokenizer_and_is_otherwise_unchanged(
    run: Run, sources: tuple[Path, Path], tmp_path: Path
) -> None:
    existing, target = tmp_path / "model.gguf", tmp_path / "new.gguf"
    writer = gguf.GGUFWriter(existing, "llama")
    writer.add_string("tokenizer.ggml.model", "none")
    writer.add_uint32("llama.block_count", 2)
    writer.add_array("general.tags", ["a", "b"])
    writer.add_tensor("weights", np.arange(96, dtype=np.float32).reshape(8, 12))
    writer.add_tensor("more", np.arange(7, dtype=np.float16))
    written(existing, writer)
    words = ("convert", sources[0], "--to", "gguf", "--into", existing, "-o", target)
    assert run(*words).code == 0
    reader = gguf.GGUFReader(target)
    assert reader.fields["llama.block_count"].contents() == 2
    assert reader.fields["general.tags"].contents() == ["a", "b"]
    assert reader.fields["tokenizer.ggml.model"].contents() == "gpt2"
    tensors = {tensor.name: tensor.data for tensor in reader.tensors}
    assert np.array_equal(tensors["weights"], np.arange(96, dtype=np.float32).reshape(8, 12))
    assert np.array_equal(tensors["more"], np.arange(7, dtype=np.float16))
    ids = reference_for(target).encode("the ferry", False)
    assert ids == reference_for(sources[0]).encode("the ferry", False)
    assert run(*words).code == 2  # it exists
    assert run(*words[:-1], existing, "--force").code == 2  # the source itself


def test_gguf_refuses_a_pattern_without_a_name(tmp_path: Path) -> None:
    document = GOLDEN.byte_document()
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = r"\w\w|\W"
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(TokexportError, match=r"no known name of tokenizer\.ggml\.pre"):
        write_target(tmp_path / "tokenizer.json", "gguf", tmp_path / "file")


def test_the_array_contains_the_file(sources: tuple[Path, Path], tmp_path: Path) -> None:
    tokexport.convert(sources[0], tmp_path / "tokenizer.bin")
    write_target(tmp_path / "tokenizer.bin", "c-array", tmp_path / "tokenizer.c")
    text = (tmp_path / "tokenizer.c").read_text("ascii")
    body = text.partition("= {")[2].partition("}")[0]
    data = bytes(int(word) for word in body.replace("\n", "").split(",") if word.strip())
    assert data == (tmp_path / "tokenizer.bin").read_bytes()
    result = compare_runtime(tmp_path / "tokenizer.c", "c-array", against=sources[0], strings=100)
    assert result.ok


def test_a_tokexport_file_is_a_source_if_it_is_complete_enough(
    sources: tuple[Path, Path], tmp_path: Path
) -> None:
    tokexport.convert(sources[0], tmp_path / "tokenizer.bin")
    for name in ("qwen3.c", "llm.c", "whisper.cpp", "tiktoken"):
        write_target(sources[0], name, tmp_path / "one", force=True)
        write_target(tmp_path / "tokenizer.bin", name, tmp_path / "two", force=True)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes(), name
    with pytest.raises(TokexportError, match="a tokexport file does not hold"):
        write_target(tmp_path / "tokenizer.bin", "tokenizer.json", tmp_path / "one")


def tiktoken_split(pattern: str) -> Split:
    """A pattern as tiktoken runs it."""
    return Split(pattern, Behavior.REMOVED, True, Dialect.FANCY_REGEX)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Split(GPT2), tiktoken_split(KNOWN["r50k_base"].pattern), True),
        (Split(LLAMA3), tiktoken_split(KNOWN["llama3"].pattern), True),
        (Split(GPT2), Split(LLAMA3), False),
        (Split(r"\s+|\S"), Split(r"\s+|\S\S?"), False),
        (Split(r"a+|[^a]"), Split(r"a|[^a]"), False),
        # The last one drops text that it does not match.
        (Split(r"a+"), tiktoken_split(r"a+"), False),
        (Split(r"a+"), Split(r"a+", Behavior.MERGED_WITH_NEXT), False),
        (Split(CharacterTest.NUMERIC), Split(CharacterTest.NUMERIC, path="x"), True),
        (Split(CharacterTest.NUMERIC), Split(r"\p{N}"), False),
    ],
)
def test_two_patterns_are_equivalent(first: Split, second: Split, expected: bool) -> None:
    assert are_equivalent([first], [second]) is expected
    assert are_equivalent([second], [first]) is expected
    assert not are_equivalent([first], [first, first])


PARTS = ("a", "b", "ab", "a+", "b?", "(?:ab)+", "[ab]", "[^a]", "a++", "b*a")


@given(*(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("|".join) for _ in "12"))
def test_patterns_declared_equivalent_produce_the_same_cuts(first: str, second: str) -> None:
    import tokenizers

    pre = [
        tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        for pattern in (first, second)
    ]
    texts = ["".join("abc"[n // 3**i % 3] for i in range(5)) for n in range(3**5)]
    cuts = [[split.pre_tokenize_str(text) for text in texts] for split in pre]
    if are_equivalent([Split(first)], [Split(second)]):
        assert cuts[0] == cuts[1]
