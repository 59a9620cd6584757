"""The page of tokexport view works in Chromium: pointer, keys, light and dark, without errors."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import PathOf

from tokexport.cli.view import side
from tokexport.viewing.page import page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

TEXT = "hello world, the <script>window.hurt = 1</script>\n\thello 12345 é 中文 the end\n" * 3
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as library:
        if executable is None and not Path(library.chromium.executable_path).exists():
            pytest.skip("Chromium is not installed")
        running = library.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any, small_file: PathOf, tmp_path: Path) -> Iterator[Any]:
    """The page of two tokenizers, which must not write to the browser's console."""
    path = tmp_path / "page.html"
    two = [side(str(small_file(name))) for name in ("gpt2", "llama3")]
    path.write_text(page(TEXT, two), "utf-8")
    tab = browser.new_page(viewport={"width": 1200, "height": 800})
    events: list[str] = []
    tab.on("console", lambda message: events.append(message.text))
    tab.on("pageerror", lambda error: events.append(str(error)))
    tab.on("request", lambda request: events.append(request.url))
    tab.goto(path.as_uri())
    yield tab
    assert events == [path.as_uri()]  # the only request is the page itself
    tab.close()


def details(tab: Any) -> dict[str, str]:
    names, values = (tab.locator(f"#details {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return dict(zip(names, values, strict=True))


def focused(tab: Any) -> int:
    """The number of the token that has the focus, in its pane."""
    script = "(e => [...e.parentNode.children].indexOf(e))(document.activeElement)"
    number: int = tab.evaluate(script)
    return number


def test_pointing_at_a_token_shows_it_and_its_merges(opened: Any, small_file: PathOf) -> None:
    tokenizer = side(str(small_file("gpt2"))).tokenizer
    ids = tokenizer.encode(TEXT)
    token = opened.locator(".text").first.locator(".t")
    assert token.count() == len(ids)
    for number in (0, 3, 7):
        token.nth(number).hover()
        fields = details(opened)
        assert fields["id"] == str(ids[number])
        content = tokenizer.decode_single_token_bytes(ids[number])
        assert fields["bytes"] == f"{content.hex(' ')} ({len(content)})"
        leaves = opened.locator("#details .tree li:not(:has(ul))").count()
        assert leaves == (len(content) if len(content) > 1 else 0)
        assert opened.locator(".text").last.locator(".o").count() > 0


def test_keys_move_from_token_to_token_and_side_to_side(opened: Any) -> None:
    opened.keyboard.press("Tab")
    assert focused(opened) == 0
    for key, number in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0)):
        opened.keyboard.press(key)
        assert focused(opened) == number
    assert details(opened)["characters"].startswith("0 to ")
    opened.keyboard.press("ArrowDown")
    below = focused(opened)
    assert below > 5
    opened.keyboard.press("ArrowUp")
    assert focused(opened) == 0
    opened.keyboard.press("End")
    last = opened.locator(".text").first.locator(".t").count() - 1
    assert focused(opened) == last
    assert "outline-style: solid" in opened.evaluate(
        "'outline-style: ' + getComputedStyle(document.activeElement).outlineStyle"
    )
    opened.keyboard.press("Tab")
    assert focused(opened) == 0
    assert opened.locator("#details h2").inner_text().startswith("llama3")
    opened.keyboard.press("Escape")
    assert opened.locator("#details").inner_text() == ""


def test_a_text_runs_no_code(opened: Any) -> None:
    assert opened.evaluate("window.hurt") is None
    assert "<script>" in opened.locator(".text").first.inner_text().replace("\n", "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(scheme: str, opened: Any) -> None:
    opened.emulate_media(color_scheme=scheme)
    opened.locator(".t").first.hover()
    contrasts = opened.evaluate("""() => {
        const luminance = (color) => {
            const parts = color.match(/[0-9.]+/g).slice(0, 3).map((part) => {
                const value = part / 255;
                return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const ground = (element) => {
            const color = getComputedStyle(element).backgroundColor;
            return color === "rgba(0, 0, 0, 0)" ? ground(element.parentElement) : color;
        };
        const wanted = "h1, h2, p, .t, .g, dt, dd, .node, .node small";
        return [...document.querySelectorAll(wanted)].map((element) => {
            const text = luminance(getComputedStyle(element).color);
            const below = luminance(ground(element));
            return (Math.max(text, below) + 0.05) / (Math.min(text, below) + 0.05);
        });
    }""")
    assert len(contrasts) > 50
    assert min(contrasts) >= 4.5  # the minimum for text in WCAG
    is_dark = opened.evaluate("getComputedStyle(document.body).backgroundColor") != (
        "rgb(252, 252, 250)"
    )
    assert is_dark == (scheme == "dark")
