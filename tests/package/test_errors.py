"""An error is a sentence and a hint, in two fields."""

import ast
import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT, small_source
from runtime_samples import content

from tokexport import load, verify
from tokexport.corpus import tokenize
from tokexport.corpus.documents import Position, read_documents
from tokexport.cs336 import run_train_bpe
from tokexport.embedding import embed
from tokexport.errors import (
    ConversationError,
    DirectoryError,
    FormatError,
    IdError,
    SourceError,
    TextError,
    TokexportError,
    UnreadableError,
    UnsupportedError,
)
from tokexport.patterns import PatternError
from tokexport.targets.compare import compare_runtime
from tokexport.targets.from_runtime import convert_from
from tokexport.training.word_counts_file import read_word_counts


def kinds(kind: type[TokexportError] = TokexportError) -> Iterator[type[TokexportError]]:
    yield kind
    for derived in kind.__subclasses__():
        yield from kinds(derived)


LOST = 2, "it is lost", "a/x.json"
# The arguments of the classes that take more than a problem and a hint, and what is then printed.
SPECIAL: dict[type[TokexportError], tuple[tuple[Any, ...], str]] = {
    ConversationError: (
        (2, ".role", "it is None", "use user"),
        "messages[2].role: it is None; use user",
    ),
    FormatError: (("it is empty", "copy it again", -20), "it is empty; copy it again"),
    IdError: ((7, 5), "id 7: no such id; this tokenizer's ids are 0 to 4"),
    PatternError: ((3, "a reset", "split it"), "a reset at offset 3; split it"),
    UnsupportedError: (("model", "it is old", "use BPE"), "model: it is old; use BPE"),
    **dict.fromkeys(kinds(UnreadableError), (LOST, "a/x.json: cannot be read: it is lost")),
    DirectoryError: (LOST, "a/x.json: cannot be read: it is lost; name a file in it"),
}


@pytest.mark.parametrize("kind", [*kinds()], ids=lambda kind: kind.__name__)
def test_an_error_is_its_problem_and_its_hint_also_when_copied_or_pickled(
    kind: type[TokexportError],
) -> None:
    arguments, printed = SPECIAL.get(kind, (("it is empty", "fill it"), "it is empty; fill it"))
    error = kind(*arguments)
    assert str(error) == printed
    assert printed.endswith("; ".join(filter(None, [error.problem, error.hint])))
    vars(error)["file"] = "a/x.json"  # by the caller that knows it
    for again in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_arguments_by_name_survive_pickling() -> None:
    for error in (
        TokexportError("it is empty", hint="fill it"),
        SourceError("it is empty", name="x.json"),
        FormatError("it is empty", code=-20),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_an_error_without_a_hint_is_its_problem() -> None:
    assert str(TextError("it is empty")) == "it is empty"
    assert str(SourceError("it is empty", name="x.json")) == "x.json: it is empty"
    assert str(IdError(3, 5)) == "id 3 is a hole: no token has it"


def test_a_refusal_names_the_file_once() -> None:
    whole, field = UnsupportedError("x.json", "a", "b"), UnsupportedError('vocab["c/d"]', "a", "b")
    assert (str(whole), str(field)) == ("x.json: a; b", 'vocab["c/d"]: a; b')
    whole.file = field.file = "folder/x.json"
    assert str(whole) == "folder/x.json: a; b"
    assert str(field) == 'folder/x.json: vocab["c/d"]: a; b'


RANKS = small_source("ranks")
READERS: dict[str, Callable[[Path, Path], object]] = {
    "load": lambda path, _: load(path),
    "verify": lambda path, _: verify(path, against=RANKS),
    "verify a text": lambda path, file: verify(file, against=RANKS, quick=True, texts=[path]),
    "verify another": lambda path, _: compare_runtime(path, "qwen3.c", against=RANKS),
    "convert from": lambda path, file: convert_from(path, "llama2.c", file.with_suffix(".tkx")),
    "embed": lambda path, file: embed(path, file, file.with_suffix(".tkx")),
    "embed into": lambda path, file: embed(file, path, file.with_suffix(".tkx")),
    "count": lambda path, _: [*read_documents([path], field="text", lines=True, start=Position())],
    "train": lambda path, _: run_train_bpe(path, 300, []),
    "train from counts": lambda path, _: read_word_counts(path),
}


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read_is_an_os_error_with_a_sentence(name: str, tmp_path: Path) -> None:
    file, missing = tmp_path / "tokenizer.bin", tmp_path / "missing.txt"
    file.write_bytes(content("ranks"))
    with pytest.raises(UnreadableError) as caught:
        READERS[name](missing, file)
    assert isinstance(caught.value, FileNotFoundError)
    assert str(caught.value) == f"{missing}: cannot be read: No such file or directory"
    assert (caught.value.filename, caught.value.file) == (str(missing), str(missing))
    with pytest.raises(UnreadableError, match=r"cannot be read: Is a directory; name a file in it"):
        READERS[name](tmp_path, file)
    assert [*tmp_path.iterdir()] == [file]


def test_a_link_to_nothing_in_a_folder_of_documents_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.txt").symlink_to("nothing")
    with pytest.raises(UnreadableError, match=r"text\.txt: cannot be read: No such file"):
        tokenize([tmp_path], load(content("ranks")), tmp_path / "shards")


# How many arguments come before the hint, of the errors and of what makes one.
BEFORE_HINT = {kind.__name__: 1 for kind in kinds()}
BEFORE_HINT |= {"ConversationError": 3, "UnsupportedError": 2, "PatternError": 2}
BEFORE_HINT |= {"broken": 1, "refuse": 2, "needs": 2, "damaged": 3}


def hidden(tree: ast.AST) -> Iterator[int]:
    """The lines of calls that make an error with a semicolon in what comes before the hint."""
    nodes = [*ast.walk(tree)]
    assigned: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                assigned.setdefault(ast.unparse(target), []).append(node.value)
    for call in nodes:
        if isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            for part in call.args[: BEFORE_HINT.get(name, 0)]:
                parts = [part, *assigned.get(ast.unparse(part), [])]
                leaves = [leaf for each in parts for leaf in ast.walk(each)]
                texts = [leaf.value for leaf in leaves if isinstance(leaf, ast.Constant)]
                if any("; " in text for text in texts if isinstance(text, str)):
                    yield call.lineno


def test_no_hint_hides_in_a_problem() -> None:
    assert [*hidden(ast.parse('raise SourceError(f"{name} is empty; fill it")'))] == [1]
    assert [*hidden(ast.parse('problem = "it is empty; fill it"\nError.broken(problem)'))] == [2]
    found = {
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for path in (ROOT / "tokexport").rglob("*.py")
        for line in hidden(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not found
