"""What verify found: how much was compared and how much differs, and the first difference."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from tokexport.escape import escape

CONTEXT = 8  # ids shown on each side of the first one that differs
LONGEST = 240  # characters shown of a text


@dataclass(frozen=True, slots=True)
class Difference:
    """One case in which the file and the reference disagree.

    ``check`` and ``key`` name what was compared, ``action`` what was done. Either ``text`` was
    encoded or ``ids`` were decoded; the other is None. ``expected`` and ``found`` are ids, a text,
    bytes, or an error message. ``byte_offset``: where in the text the first differing id begins;
    ``smallest``: the shortest part of the text found to differ still. ``by``: the ways to encode
    that differ (``engine``; ``core``; ``threads``, the engine with a long text cut into parts) if
    others do not; ``found`` is what the first of them gives.
    """

    check: str
    key: str
    action: str
    text: str | None
    ids: tuple[int, ...] | None
    expected: tuple[int, ...] | str | bytes
    found: tuple[int, ...] | str | bytes
    byte_offset: int | None = None
    smallest: str | None = None
    by: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()

    @property
    def index(self) -> int:
        """The number of equal ids, characters or bytes before the first difference."""
        pairs = zip(self.expected, self.found, strict=False)
        return next(
            (n for n, (a, b) in enumerate(pairs) if a != b),
            min(len(self.expected), len(self.found)),
        )

    def lines(self, title: str) -> list[str]:
        lines = [f"{title}: {', '.join(filter(None, (self.check, self.key)))} ({self.action})"]
        if self.text is not None:
            size = len(self.text.encode("utf-8", "surrogatepass"))
            lines.append(f"  text ({size} bytes): {shown(self.text, self.byte_offset or 0)}")
        if self.ids is not None:
            lines.append(f"  ids: {list(self.ids)}")
        if self.byte_offset is not None:
            lines.append(f"  differs at byte {self.byte_offset}, id number {self.index}")
        lines.append(f"  reference: {window(self.expected, self.index)}")
        lines.append(f"  file:      {window(self.found, self.index)}")
        if self.by:
            lines.append(f"  only by: {', '.join(self.by)}")
        if self.smallest is not None and self.smallest != self.text:
            lines.append(f"  smallest part that differs: {shown(self.smallest)}")
        lines += [f"  again: {command}" for command in self.reproduce]
        return lines

    def to_json(self) -> dict[str, object]:
        sides = {"expected": _plain(self.expected), "found": _plain(self.found)}
        return {**asdict(self), **sides, "index": self.index}


@dataclass(frozen=True, slots=True)
class Verification:
    """What :func:`tokexport.verify` found: the number of comparisons of each kind, how many of them
    differ, and the first difference; of another ``runtime``, ``examples`` instead.
    """

    reference: str  # the library and its version
    seed: int
    counts: Mapping[str, int]
    differing: Mapping[str, int]
    first: Difference | None = None
    notes: tuple[str, ...] = ()
    runtime: str | None = None
    examples: tuple[Difference, ...] = ()

    @property
    def compared(self) -> int:
        return sum(self.counts.values())

    @property
    def differences(self) -> int:
        return sum(self.differing.values())

    @property
    def ok(self) -> bool:
        """True if something was compared and nothing differs."""
        return self.compared > 0 and self.differences == 0

    def lines(self) -> list[str]:
        """The outcome as text: a line per kind, the sum, the differences, the notes."""
        width = max((len(name) for name in self.counts), default=0)
        digits = max((len(f"{count:,}") for count in self.counts.values()), default=0)
        lines = [f"{self.runtime or 'the file'} compared with {self.reference}, seed {self.seed}:"]
        for name, count in self.counts.items():
            wrong = self.differing.get(name, 0)
            differ = f"  {wrong:,} differ" if wrong else ""
            lines.append(f"  {name:<{width}}  {count:>{digits},}{differ}")
        verdict = "no differences" if self.ok else f"{self.differences:,} differ"
        lines.append(f"{self.compared:,} comparisons: {verdict}")
        lines += self.first.lines("first difference") if self.first else []
        lines += [line for example in self.examples for line in example.lines("example")]
        return lines + [f"note: {note}" for note in self.notes]

    def to_json(self) -> dict[str, object]:
        sums = {"ok": self.ok, "compared": self.compared, "differences": self.differences}
        first = self.first and self.first.to_json()
        examples = [example.to_json() for example in self.examples]
        return {**sums, **asdict(self), "first": first, "examples": examples}


def shown(text: str, byte_offset: int = 0) -> str:
    """A text as one printable line; for a long one, the part around a byte.

    >>> shown("a\\nb")
    '"a\\\\nb"'
    """
    data = text.encode("utf-8", "surrogatepass")
    centre = len(data[:byte_offset].decode("utf-8", "ignore"))
    first = max(0, min(centre - LONGEST // 2, len(text) - LONGEST))
    part = text[first : first + LONGEST].encode("utf-8", "surrogatepass")
    before, after = ("... " if first else ""), (" ..." if first + LONGEST < len(text) else "")
    return f'{before}"{escape(part)}"{after}'


def window(value: Sequence[int] | str | bytes, index: int) -> str:
    """The part of a value around an index; for ids, with the number left out on either side.

    >>> window((1, 2, 3), 1)
    '[1, 2, 3]'
    """
    if isinstance(value, str):
        return shown(value[max(0, index - LONGEST // 2) :])
    if isinstance(value, bytes):
        return f'"{escape(value)}"'
    first, last = max(0, index - CONTEXT), index + CONTEXT + 1
    before = f"... {first} more, " if first else ""
    after = f", {len(value) - last} more ..." if last < len(value) else ""
    return f"[{before}{', '.join(map(str, value[first:last]))}{after}]"


def _plain(value: Sequence[int] | str | bytes) -> object:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else list(value)
