"""A special token with a role has it in every written file, with the same id."""

from pathlib import Path

import pytest
from command_line import Run
from references import converted

import tokexport
from tokexport import SpecialIds
from tokexport.errors import TokexportError
from tokexport.training import Roles, WordCounts, train_from_counts, train_from_iterator

TEXTS = ["low lower lowest<|e|> <|b|>"]
SPECIAL = ["<|b|>", "<|e|>", "<|p|>", "<|turn|>"]
ROLES = Roles(bos="<|b|>", eos="<|e|>", pad="<|p|>", stop=("<|turn|>", "<|b|>"))


@pytest.mark.parametrize("first", [262, 0])
@pytest.mark.parametrize("roles", [ROLES, Roles(), Roles(eos="<|e|>"), Roles(stop=("<|e|>",))])
def test_all_files_have_the_same_roles_and_ids(roles: Roles, first: int, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokens = {name: id for id, name in enumerate(SPECIAL, first)}
    trained = train_from_iterator(TEXTS, 266, special_tokens=tokens, roles=roles)
    trained.save(tmp_path)
    ids = [None if role is None else tokens[role] for role in (roles.bos, roles.eos, roles.pad)]
    stop = {tokens[name] for name in (*roles.stop, roles.eos) if name is not None}
    expected = SpecialIds(ids[0], ids[1], ids[2], stop=tuple(sorted(stop)))
    assert trained.special_ids == expected
    ours = tokexport.load(tmp_path / "tokenizer.bin")
    from_json, from_ranks = (
        converted(tmp_path / name) for name in ("tokenizer.json", "ranks.tiktoken")
    )
    peer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    generation = transformers.GenerationConfig.from_pretrained(tmp_path)
    assert ours.special_ids == from_json.special_ids == from_ranks.special_ids == expected
    assert [peer.bos_token_id, peer.eos_token_id, peer.pad_token_id] == ids
    assert (generation.eos_token_id or []) == sorted(stop)
    for text in (*TEXTS, "".join(SPECIAL)):
        our_ids = ours.encode(text, allowed_special="all")
        assert peer.encode(text) == our_ids
        for tokenizer in (from_json, from_ranks):
            assert tokenizer.encode(text, allowed_special="all") == our_ids


def test_earlier_roles_are_removed(tmp_path: Path) -> None:
    train_from_iterator(TEXTS, 266, special_tokens=SPECIAL, roles=ROLES).save(tmp_path)
    train_from_iterator(TEXTS, 266, special_tokens=SPECIAL).save(tmp_path, force=True)
    assert converted(tmp_path / "tokenizer.json").special_ids == SpecialIds()


def test_only_special_tokens_can_have_roles() -> None:
    counts = WordCounts()
    counts.add(TEXTS)
    for roles, role in [
        (Roles(bos="<|x|>"), "bos"),
        (Roles(eos="<|x|>"), "eos"),
        (Roles(pad="<|x|>"), "pad"),
        (Roles(eos="<|e|>", stop=("<|e|>", "<|x|>")), "stop"),
    ]:
        with pytest.raises(
            TokexportError, match=rf"{role} must be a special token, which '<\|x\|>'"
        ):
            train_from_iterator(TEXTS, 300, special_tokens=SPECIAL, roles=roles)
        with pytest.raises(TokexportError, match=f"{role} must be a special token"):
            train_from_counts(counts, 300, special_tokens=SPECIAL, roles=roles)


def test_the_command_assigns_roles(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[0])
    run("count", tmp_path / "a.txt", "-o", tmp_path / "w.counts", "--special-token", "<|e|>")
    for texts in ([tmp_path / "a.txt", "--special-token", "<|e|>"], ["--counts", "w.counts"]):
        inputs = [tmp_path / name if name == "w.counts" else name for name in texts]
        common = ["--vocab-size", 260, "-o", tmp_path / "out", "--force"]
        trained = run("train", *inputs, *common, "--eos", "<|e|>", "--json")
        inspected = run("inspect", tmp_path / "out/tokenizer.bin", "--json")
        expected = {"bos": None, "eos": 259, "pad": None, "unk": None, "stop": [259]}
        assert trained.values["special_ids"] == inspected.values["special_ids"] == expected
        refused = run("train", *inputs, *common, "--bos", "<|x|>")
        assert "bos must be a special token, which '<|x|>' is not" in refused.refusal
