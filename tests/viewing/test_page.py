"""tokexport view: one page, in which text is never markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf, Run
from hypothesis import given
from hypothesis import strategies as st

import tokexport
from tokexport.cli.view import side
from tokexport.errors import TokexportError
from tokexport.viewing import page as module
from tokexport.viewing.page import page

HOSTILE = "</script><script>alert(1)</script><!-- --> & \" ' <img src=x onerror=y> ]]> \x00 \u2028"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of the tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open.append(dict(attrs).get("id") or tag)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]] = self.texts.get(self._open[-1], "") + data


def parsed(content: str) -> Elements:
    elements = Elements()
    elements.feed(content)
    return elements


def tags(elements: Elements) -> set[str]:
    return {tag for tag, _ in elements.found}


def data(content: str) -> list[dict[str, Any]]:
    sides: list[dict[str, Any]] = json.loads(parsed(content).texts["data"])
    return sides


PARTS = [*"<>&'\"/!-=$ a\\\n\t", "script", "</script", "<!--", "${x}", "$title"]


@given(text=st.lists(st.sampled_from(PARTS)).map("".join))
def test_no_text_adds_an_element_to_the_page(text: str, small_file: PathOf) -> None:
    subject = side(str(small_file("gpt2")))
    plain, hostile = parsed(page("a", [subject])), parsed(page(text + HOSTILE, [subject]))
    assert tags(hostile) == tags(plain)
    attributes = {name for _, attributes in hostile.found for name in attributes}
    assert attributes == {name for _, attributes in plain.found for name in attributes}
    names = [tag for tag, _ in hostile.found]
    assert (names.count("script"), names.count("style")) == (2, 1)


def test_a_name_is_also_text(tmp_path: Path, small_file: PathOf) -> None:
    path = tmp_path / "<img src=x>&.bin"
    path.write_bytes(small_file("gpt2").read_bytes())
    elements = parsed(page("a", [side(str(path))]))
    assert "img" not in tags(elements)
    assert elements.texts["h2"] == "<img src=x>&.bin"


def test_the_page_needs_no_network_and_runs_nothing_else(small_file: PathOf) -> None:
    content = page("a the", [side(str(small_file("gpt2")))])
    elements = parsed(content)
    links = {"src", "href", "action", "srcset", "style", "onclick", "data"}
    assert not links & {name for _, attributes in elements.found for name in attributes}
    assert not re.search(r"https?:|//[a-z]|url\(|@import|innerHTML|eval\(|fetch\(", content)
    policy = next(
        attributes["content"]
        for _, attributes in elements.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    digests = {
        name: base64.b64encode(hashlib.sha256(elements.texts[name].encode()).digest()).decode()
        for name in ("style", "script")
    }
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests['style']}';"
        f" script-src 'sha256-{digests['script']}'; base-uri 'none'; form-action 'none'"
    )


@pytest.mark.parametrize("name", ["gpt2", "llama3", "deepseek", "shuffled", "ranks"])
def test_the_tree_of_merges_produces_each_token(name: str, small_file: PathOf) -> None:
    subject = side(str(small_file(name)))
    text = "the quick brown fox, hello hello world 123 中文\n"
    (shown,) = data(page(text, [subject]))
    assert shown["ids"] == subject.tokenizer.encode(text)
    tokens = {int(id): token for id, token in shown["tokens"].items()}
    merged = 0
    for id, token in tokens.items():
        assert bytes.fromhex(token["bytes"]) == subject.tokenizer.decode_single_token_bytes(id)
        if token["left"] is None:
            continue
        left, right = tokens[token["left"]], tokens[token["right"]]
        assert left["bytes"] + right["bytes"] == token["bytes"]
        assert token["rank"] is not None
        merged += 1
    assert merged > 5


def test_ids_positions_and_scores_equal_those_of_the_tokenizer(small_file: PathOf) -> None:
    subject = side(str(small_file("llama3")))
    text = "hello <|end_of_text|> é"
    (shown,) = data(page(text, [subject], allowed_special="all", add_special_tokens=True))
    encoding = subject.tokenizer.encode_with_offsets(
        text, allowed_special="all", add_special_tokens=True
    )
    assert shown["ids"] == encoding.ids
    assert shown["spans"] == [list(span) for span in encoding.offsets]
    assert subject.tokenizer.scores is not None
    for id, token in shown["tokens"].items():
        assert token["score"] == pytest.approx(float(subject.tokenizer.scores[int(id)]))
        assert token["special"] == subject.tokenizer.is_special_token(int(id))


def test_tokens_that_differ_from_another_tokenizer_are_marked(small_file: PathOf) -> None:
    two = [side(str(small_file(name))) for name in ("gpt2", "llama3")]
    content = page("hello world, the end 12345", two)
    panes = re.findall(r'<div class="text".*?</div>', content, re.DOTALL)
    spans = [[tuple(span) for span in shown["spans"]] for shown in data(content)]
    for pane, own, other in zip(panes, spans, spans[::-1], strict=True):
        marked = ["d" in names.split() for names in re.findall(r'class="(t [^"]*)"', pane)]
        assert marked == [span not in other for span in own]
        assert f"{sum(marked)} that the other side cuts elsewhere" in content
    same = page("hello world", [two[0], two[0]])
    assert "0 that the other side cuts elsewhere" in same


def test_the_command_writes_one_file(run: Run, small_file: PathOf, tmp_path: Path) -> None:
    gpt2, llama3, target = small_file("gpt2"), small_file("llama3"), tmp_path / "page.html"
    outcome = run("view", gpt2, HOSTILE.replace("\x00", ""), "--beside", llama3, "-o", target)
    assert outcome.code == 0, outcome.stderr
    assert len(data(target.read_text("utf-8"))) == 2
    assert run("view", gpt2, "a", "-o", target).code == 2
    assert run("view", gpt2, "a", "-o", gpt2, "--force").code == 2
    piped = run("view", gpt2, "-o", "-", stdin="é".encode())
    assert data(piped.stdout.decode())[0]["ids"] == tokexport.load(gpt2).encode("é")
    answer = run("view", gpt2, "a", "-o", target, "--force", "--json").values
    assert answer["size"] == target.stat().st_size
    both = run("view", gpt2, "a", "-o", "-", "--json")  # the page is standard output
    assert json.loads(both.stderr)["size"] == len(both.stdout)
    refused = run("view", gpt2, "-o", tmp_path / "x.html", stdin=b"a\xff")
    assert "not UTF-8 at byte 1" in refused.refusal


def test_a_text_of_too_many_tokens_is_refused(
    small_file: PathOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_TOKENS", 3)
    subject = side(str(small_file("gpt2")))
    assert page("", [subject])
    with pytest.raises(TokexportError, match="and a page shows at most 3"):
        page("a b c d e f", [subject])
