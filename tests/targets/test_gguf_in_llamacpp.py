"""The ids that llama.cpp itself gives for a written file are those of the source."""

from dataclasses import replace
from pathlib import Path

import pytest
from gguf_files import gguf_of, written
from references import converted, reference_for
from repository import ROOT, script

from tokexport.sources.gguf.metadata import read_metadata
from tokexport.sources.sentencepiece import proto
from tokexport.targets.registry import TARGETS
from tokexport.targets.write import write_target

gguf = pytest.importorskip("gguf")
GOLDEN = script(ROOT / "formats" / "golden_targets.py")
SPACES = ("\u2581\u2581", "\u2581\u2581\u2581", "<user>")
# The ids that llama.cpp gave for the file that is written from `with_spaces`.
IDS = {
    "the  tide": [280, 260, 285, 280, 277, 269],
    "the   ferry": [280, 260, 286, 275, 263, 266],
    "    the": [286, 261],
    "<user>the tide": [287, 280, 260, 270],
    "a<user>  the\n": [272, 287, 285, 280, 260, 13],
}
# The same with U+2581, control tokens and a space before each text, in `verify --as gguf` only: the
# library gives other ids.
RUNTIME_IDS = {
    (False, "the\u2581\u2581tide"): [280, 260, 271, 270],
    (False, "\u2581 \u2581the  \u2581"): [271, 271, 261, 285, 271],
    (False, "the<user> the</s>  the"): [280, 260, 287, 261, 2, 285, 280, 260],
    (True, "<user><user>the"): [287, 287, 261],
    (True, "the<user> the</s>  the"): [261, 287, 271, 261, 2, 285, 261],
    (True, "\u2581\u2581\u2581"): [271, 271, 271, 271],
}
# The same for the golden pieces, with tokens that are found because the program asks for it.
CONTROL_IDS = {
    "the</s> ferry": [261, 2, 271, 267],
    "</s>the<s>the": [2, 261, 1, 261],
    " </s>\u2581the": [271, 271, 2, 271, 261],
    "<unk>the": [0, 261],
}

# The same for these pieces, <|endoftext|> and <|end|>, in a model that is named Phi-3.
PHI_3_IDS = {
    "the</s> \n ferry": [261, 2, 267],
    "</s>  <s>  the<|endoftext|>  the": [2, 1, 271, 271, 261, 285, 271, 271, 261],
    "the<|end|>\n  the<|end|>\t\v\f\r<|end|> ": [261, 286, 261, 286, 286],
    "the</s>  ": [261, 2],
    " </s>\u2581the": [271, 271, 2, 271, 261],
}


def with_spaces(folder: Path, *, prefix: bool = False) -> Path:
    """Pieces with user-defined runs of spaces, as Gemma has them."""
    golden: proto.SentencePieceModel = GOLDEN.piece_model()
    pieces = [proto.Piece(text, 0.0, proto.PieceType.USER_DEFINED) for text in SPACES]
    spec = proto.NormalizerSpec(add_dummy_prefix=prefix, remove_extra_whitespaces=False)
    model = replace(golden, pieces=(*golden.pieces, *pieces), normalizer=spec)
    path = folder / "tokenizer.model"
    path.write_bytes(proto.serialize(model))
    return path


def tokens(path: Path) -> list[str]:
    values: list[str] = read_metadata(path.read_bytes(), path.name, ("tokenizer.",))[
        "tokenizer.ggml.tokens"
    ]
    return values


def test_user_defined_pieces_have_spaces_and_the_ids_of_llamacpp(tmp_path: Path) -> None:
    source, target = with_spaces(tmp_path), tmp_path / "it.gguf"
    losses = write_target(source, "gguf", target).losses
    assert ["U+2581 in a text is no space" in loss.meaning for loss in losses] == [True]
    assert tokens(target)[-3:] == ["  ", "   ", "<user>"]
    original, read_back = reference_for(source), converted(target)
    for text, ids in IDS.items():
        assert original.encode(text, False) == ids == list(read_back.encode(text))


@pytest.mark.parametrize("prefix", [False, True])
def test_user_defined_pieces_are_found_as_llamacpp_does(prefix: bool, tmp_path: Path) -> None:
    source, target = with_spaces(tmp_path, prefix=prefix), tmp_path / "it.gguf"
    write_target(source, "gguf", target)
    runtime, tokenizer = TARGETS["gguf"].runtime(target, {}), converted(target)
    cases = {text: ids for (has_prefix, text), ids in RUNTIME_IDS.items() if has_prefix == prefix}
    for text, ids in (({} if prefix else IDS) | cases).items():
        assert runtime.encode(text) == ids
        assert runtime.decode(ids).count(b"<user>") == text.count("<user>")
        if prefix:
            assert tokenizer.encode(text, allowed_special="all") == ids
            assert reference_for(target).encode(text, True) == ids
            assert reference_for(source).encode("<user><user>the", False) != [287, 287, 261]


def test_a_gguf_of_pieces_has_the_special_tokens_of_llamacpp(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(proto.serialize(GOLDEN.piece_model()))
    write_target(tmp_path / "tokenizer.model", "gguf", tmp_path / "it.gguf")
    tokenizer, reference = converted(tmp_path / "it.gguf"), reference_for(tmp_path / "it.gguf")
    runtime = TARGETS["gguf"].runtime(tmp_path / "it.gguf", {})
    for text, ids in CONTROL_IDS.items():
        assert runtime.encode(text) == ids
        assert tokenizer.encode(text, allowed_special="all") == ids == reference.encode(text, True)
        assert "</s>" not in text or tokenizer.encode(text) != ids
    ids = CONTROL_IDS["the</s> ferry"]
    assert tokenizer.decode(ids) == reference.decode_batch([ids], False)[0] == "the</s>  ferry"
    assert tokenizer.decode(ids, skip_special_tokens=True) == "the  ferry"
    # The bytes of a character beside a control piece: joined only if that is skipped.
    halves = [tokenizer.encode("\u0141")[-2], 2, tokenizer.encode("\u0141")[-1]]
    for skip, text in ((False, "\ufffd</s>\ufffd"), (True, "\u0141")):
        assert tokenizer.decode(halves, skip_special_tokens=skip) == text
        assert reference.decode_batch([halves], skip) == [text]


def test_spaces_and_a_piece_of_as_many_marks_may_both_be_tokens(tmp_path: Path) -> None:
    model = GOLDEN.piece_model()
    marks = proto.Piece("\u2581\u2581", -500.0)
    spaces = proto.Piece("  ", 0.0, proto.PieceType.USER_DEFINED)
    pieces = (*model.pieces, marks, spaces)
    values = {
        "scores": [piece.score for piece in pieces],
        "token_type": [int(piece.type) for piece in pieces],
        "unknown_token_id": 0,
    }
    path = gguf_of(tmp_path / "it.gguf", "llama", [piece.text for piece in pieces], values, "llama")
    tokenizer, reference = converted(path), reference_for(path)
    # The ids of llama.cpp.
    for text, ids in {"the  tide": [261, 286, 270], "a   b": [271, 272, 286, 285, 101]}.items():
        assert tokenizer.encode(text) == reference.encode(text, False) == ids
        assert tokenizer.decode(ids) == reference.decode_batch([ids], False)[0]


def test_a_gguf_of_pieces_need_not_have_a_letter(tmp_path: Path) -> None:
    tokens = ["<unk>", "<s>", "</s>", "\u2581", "\u4e2d"]
    values = {"scores": [0.0, 0.0, 0.0, -1.0, -2.0], "token_type": [2, 3, 3, 1, 1]}
    path = gguf_of(tmp_path / "it.gguf", "llama", tokens, values, "llama")
    ids = [3, 4, 2, 3, 4]
    assert reference_for(path).encode("\u4e2d</s>\u4e2d", True) == ids
    assert converted(path).encode("\u4e2d</s>\u4e2d", allowed_special="all") == ids
    assert reference_for(path).decode_batch([ids[:3]], False) == ["\u4e2d</s>"]


def test_a_gguf_that_is_named_phi_3_drops_white_space_as_llamacpp(tmp_path: Path) -> None:
    model = GOLDEN.piece_model()
    more = [
        proto.Piece(text, 0.0, proto.PieceType.CONTROL) for text in ("<|endoftext|>", "<|end|>")
    ]
    model = replace(model, pieces=(*model.pieces, *more))
    source, named, target = (tmp_path / name for name in ("tokenizer.model", "phi.gguf", "it.gguf"))
    source.write_bytes(proto.serialize(model))
    writer = gguf.GGUFWriter(named, "llama")
    writer.add_name("My Phi-3 mini")
    write_target(source, "gguf", target, into=written(named, writer))
    runtime, tokenizer = TARGETS["gguf"].runtime(target, {}), converted(target)
    for text, ids in PHI_3_IDS.items():
        assert runtime.encode(text) == ids == tokenizer.encode(text, allowed_special="all")
        assert reference_for(target).encode(text, True) == ids


def test_no_text_contains_the_first_token_of_rwkv(tmp_path: Path) -> None:
    lines = "".join(f"{byte + 1} {bytes([byte])!r} 1\n" for byte in range(256))
    (tmp_path / "rwkv_vocab.txt").write_text(lines, encoding="utf-8")
    assert write_target(tmp_path / "rwkv_vocab.txt", "gguf", tmp_path / "it.gguf").losses == ()
    first = tokens(tmp_path / "it.gguf")[0].encode().decode("unicode_escape").encode("latin-1")
    with pytest.raises(UnicodeDecodeError):
        first.decode()
    text = f"a{tokens(tmp_path / 'it.gguf')[0]}"
    runtime = TARGETS["gguf"].runtime(tmp_path / "it.gguf", {})
    assert runtime.encode(text) == [byte + 1 for byte in text.encode()]
    assert converted(tmp_path / "it.gguf").encode(text, allowed_special="all") == runtime.encode(
        text
    )
