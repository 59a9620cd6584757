"""One command generates the figures in the documents, and reports no speed for wrong ids."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest
from repository import ROOT

PARTS = {
    "README.md": ("comparison", "speed", "machine"),
    "docs/BENCHMARKS.md": (
        *("machine", "speed", "core", "documents", "threads", "small", "fresh", "calls", "sizes"),
        *("converting", "code"),
    ),
}


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The programs of benchmarks/."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    names = ("texts", "peers", "measure", "opening", "plot", "report")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", PARTS)
def test_the_documents_have_each_generated_table(modules: dict[str, ModuleType], name: str) -> None:
    report, document = modules["report"], (ROOT / name).read_text(encoding="utf-8")
    assert document.count("made by benchmarks/report.py") == len(PARTS[name])
    for part in PARTS[name]:
        begin, end = report.marks(part)
        content = document.split(begin)[1].split(end)[0].strip()
        assert len(content) > 50
        assert report.put(document, part, content) == document


def test_speeds_are_medians_of_turns_and_ratios_refer_to_the_first(
    modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = modules["measure"]
    seconds = {"ours": 0.5, "theirs": 2.0}
    calls = []

    def timed(action: object) -> tuple[list[list[int]], float]:
        name = action.func.__name__  # type: ignore[attr-defined]
        calls.append(name)
        return [[1]], seconds[name]

    def ours(texts: list[str]) -> list[list[int]]:
        raise AssertionError

    def theirs(texts: list[str]) -> list[list[int]]:
        raise AssertionError

    monkeypatch.setattr(measure, "timed", timed)
    speed = measure.measure([("ours", ours), ("theirs", theirs)], [["a" * 1_000_000]] * 3)
    assert speed == measure.Speed(rates=(2.0, 0.5), ratios=(1.0, 4.0))
    assert calls == ["theirs", "ours", "ours", "theirs", "theirs", "ours"]


def test_a_library_that_no_tokenizer_needs_is_not_measured(modules: dict[str, ModuleType]) -> None:
    """As without a collection, where none is of SentencePiece."""
    report = modules["report"]
    speeds = dict.fromkeys(report.README_TEXTS, modules["measure"].Speed((2.0, 1.0), (1.0, 2.0)))
    subject, cost = SimpleNamespace(name="Llama 3"), SimpleNamespace(opening=12.4)
    names = ("tokexport", "tiktoken")
    result = report.Result(subject, names, speeds, (1.0, 2.0), (0.3, 115.0), cost)
    rows = {
        row.split(" | ")[0]: row.split(" | ")[1:]
        for row in report.comparison([result], "9").split("\n")
    }
    assert rows["| speed-up"][1:4] == ["not measured", "2.0× to 2.0×", "not measured"]
    assert rows["| to open"][:3] == [
        "12 µs or less in C, 0.3 ms in Python",
        "not measured",
        "115 ms, Llama 3",
    ]


def test_a_library_with_other_ids_ends_the_run(modules: dict[str, ModuleType]) -> None:
    with pytest.raises(SystemExit, match="it gives other ids"):
        modules["measure"].measure(
            [("tokexport", lambda texts: [[1]]), ("it", lambda texts: [[2]])], [["a"]]
        )


def test_texts_do_not_need_the_shared_folder(
    modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKEXPORT_SHARED", raising=False)
    for name in ("code", "many scripts", "Chinese, Japanese"):
        assert 1000 < len(modules["texts"].TEXTS[name](20_000).encode()) <= 20_000


def test_no_slice_of_a_text_occurs_twice(modules: dict[str, ModuleType]) -> None:
    measure = modules["measure"]
    parts = measure.slices("random letters")
    assert len(parts) == measure.ROUNDS + 1
    assert len({document for part in parts for document in part}) == sum(map(len, parts))


def test_the_picture_is_complete_and_deterministic(modules: dict[str, ModuleType]) -> None:
    plot = modules["plot"]
    groups = [[plot.Bar("tokexport", 60.0, 1.0), plot.Bar("a <b>", 3.0, 20.0)]]
    panels = [plot.Panel("English", groups), plot.Panel("code", groups)]
    made = plot.draw(["GPT-2"], panels, "a note & more")
    assert made == plot.draw(["GPT-2"], panels, "a note & more")
    assert len(list(ElementTree.fromstring(made).iter("{http://www.w3.org/2000/svg}rect"))) == 4
    committed = ElementTree.parse(ROOT / "docs" / "speed.svg")
    assert len(list(committed.iter("{http://www.w3.org/2000/svg}rect"))) > 10
