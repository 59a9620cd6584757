"""Draws bars as SVG: one group for each tokenizer, one bar for each library, panels side by side.

Written by hand, since the picture is simple: this needs no library, follows the reader's light or
dark theme, and makes the same bytes from the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

BAR, GAP, GROUP = 14, 3, 12  # heights: of a bar, between bars, between groups
LABEL, PANEL, SPACE = 92, 300, 36  # widths: of names, of a panel, between panels
HEAD, FOOT = 44, 26
ROOM = 128  # of a panel's width, for the label after its longest bar

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.note { fill: #59636e }
.ours { fill: #0969da }
.peer { fill: #afb8c1 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .note { fill: #9198a1 }
  .ours { fill: #4493f8 }
  .peer { fill: #59636e }
}
"""


@dataclass(frozen=True)
class Bar:
    """A library's speed in MB/s, and how many times as fast the group's first library is."""

    library: str
    rate: float
    ratio: float


@dataclass(frozen=True)
class Panel:
    """A title, and the bars of each tokenizer; our bar is the first one."""

    title: str
    groups: Sequence[Sequence[Bar]]


def draw(names: Sequence[str], panels: Sequence[Panel], note: str) -> str:
    """The picture. Every panel has a group of bars for each name, and its own scale.

    >>> panel = Panel("English", [[Bar("ours", 90.0, 1), Bar("it", 9.0, 10)]])
    >>> picture = draw(["GPT-2"], [panel], "")
    >>> picture.count("<rect"), "it 9.0 (10×)" in picture
    (2, True)
    """
    tops = [HEAD]
    for group in panels[0].groups:
        tops.append(tops[-1] + len(group) * (BAR + GAP) + GROUP)
    width = LABEL + len(panels) * (PANEL + SPACE)
    height = tops[-1] + FOOT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        f'width="{width}" height="{height}" role="img" aria-label="{escape(note)}">',
        f"<style>{STYLE}</style>",
    ]
    for name, top, group in zip(names, tops, panels[0].groups, strict=False):
        middle = top + len(group) * (BAR + GAP) / 2 + 3
        lines.append(text(LABEL - 10, middle, name, 'text-anchor="end"'))
    for number, panel in enumerate(panels):
        left = LABEL + number * (PANEL + SPACE)
        lines.append(text(left, HEAD - 18, panel.title, 'class="title"'))
        scale = (PANEL - ROOM) / max(bar.rate for group in panel.groups for bar in group)
        for top, group in zip(tops, panel.groups, strict=False):
            for place, bar in enumerate(group):
                lines += bar_lines(bar, left, top + place * (BAR + GAP), scale, ours=place == 0)
    lines.append(text(LABEL, height - 8, note, 'class="note"'))
    return "\n".join([*lines, "</svg>"]) + "\n"


def bar_lines(bar: Bar, left: float, top: float, scale: float, ours: bool) -> list[str]:
    """A bar, and its label after it."""
    width = max(1.0, bar.rate * scale)
    times = "" if ours else f" ({rate(bar.ratio)}×)"
    kind = "ours" if ours else "peer"
    return [
        f'<rect class="{kind}" x="{left}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2"/>',
        text(left + width + 6, top + BAR - 3, f"{bar.library} {rate(bar.rate)}{times}"),
    ]


def rate(value: float) -> str:
    """A speed or ratio, rounded to two digits.

    >>> rate(9.96), rate(9.94), rate(123.4)
    ('10', '9.9', '123')
    """
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def text(x: float, y: float, words: str, attributes: str = "") -> str:
    """A text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(words)}</text>'
