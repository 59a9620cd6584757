"""The Markdown of docs/CONFORMANCE.md, without times and paths of this machine."""

import platform
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

from tokexport.model import Dialect
from tokexport.unicode import property_set

from .find import Other
from .measure import Outcome

LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece", "gguf")
LONGEST = 400  # maximum characters of a sentence in a cell

_COLUMNS = (
    *("tokenizer", "source", "model", "ids", "source, bytes", "file, bytes", "strings", "vectors"),
    *("all", "differences"),
)
_STATES = (
    ("same", "without a difference"),
    ("differs", "with differences"),
    ("refused", "refused"),
    ("not compared", "converted and not compared"),
    ("crashed", "crashed"),
)
_RIGHT = frozenset(("ids", "source, bytes", "file, bytes", "strings", "vectors", "all"))


def report(outcomes: Sequence[Outcome], others: Sequence[Other], command: str) -> str:
    """The whole document; ``command`` is the command that produced it."""
    lines = [
        "# Conformance",
        "",
        "Every tokenizer was converted, and its file compared with the source's own library by",
        "`tokexport verify`. Made by",
        "",
        *_wrapped(command, "    ", "        ", " \\"),
        "",
        "with",
        "",
        *(f"- {name} {release}" for name, release in versions()),
        "",
        summary(outcomes),
        "",
        "- **strings**: texts encoded in every mode: random strings, pairs, files and their lines",
        "- **vectors**: ids that other projects publish",
        "- **all**: the above, every id decoded, every token encoded, the decoded text of ids,",
        "  and, unless `--no-code-points` is given, every code point",
        "",
        *rows(outcomes),
        *_listed("Notes:", ((note, each.name) for each in outcomes for note in each.notes)),
        *_listed("Files that are not tokenizers:", ((each.what, each.name) for each in others)),
    ]
    return "\n".join(lines) + "\n"


def _listed(title: str, named: Iterable[tuple[str, str]]) -> list[str]:
    """A title and a list of sentences, each with all names beside it; nothing without any."""
    by_sentence: dict[str, list[str]] = defaultdict(list)
    for sentence, name in named:
        by_sentence[sentence].append(f"`{name}`")
    lines = ["", title, ""] if by_sentence else []
    for sentence, names in sorted(by_sentence.items()):
        lines += _wrapped(f"{cell(sentence)}: {', '.join(names)}", "- ", "  ")
    return lines


def _wrapped(text: str, first: str, others: str, continued: str = "") -> list[str]:
    """Lines of at most 100 columns; ``continued`` is appended to all but the last."""
    lines = textwrap.wrap(
        text,
        100 - len(continued),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [*(line + continued for line in lines[:-1]), lines[-1]]


def versions() -> list[tuple[str, str]]:
    """The versions of tokexport, of the reference libraries, and of Unicode in the tables."""
    releases = [("tokexport", version("tokexport"))]
    for name in LIBRARIES:
        try:
            releases.append((name, version(name)))
        except PackageNotFoundError:
            releases.append((name, "is not installed"))
    return [*releases, ("Unicode", unicode_version()), ("Python", platform.python_version())]


def unicode_version() -> str:
    """The newest Unicode version with characters in the tables."""
    known = ""
    for number in range(10, 100):
        try:
            property_set(f"age={number}.0", Dialect.FANCY_REGEX)
        except KeyError:
            break
        known = f"{number}.0"
    return known


def summary(outcomes: Sequence[Outcome]) -> str:
    """One sentence: the number of tokenizers in each state, and of comparisons."""
    counts = Counter(outcome.state for outcome in outcomes)
    states = ", ".join(f"{counts[state]} {words}" for state, words in _STATES if counts[state])
    compared = sum(outcome.compared + outcome.vectors.compared for outcome in outcomes)
    differences = sum(outcome.differences for outcome in outcomes)
    return (
        f"{len(outcomes)} tokenizers: {states or 'none'}. {compared:,} comparisons, {differences:,}"
        " differences."
    )


def rows(outcomes: Sequence[Outcome]) -> list[str]:
    head = f"| {' | '.join(_COLUMNS)} |"
    rule = "|" + "".join(" ---: |" if name in _RIGHT else " --- |" for name in _COLUMNS)
    return [head, rule, *map(_row, outcomes)]


def _row(outcome: Outcome) -> str:
    name = f"{outcome.name} ({outcome.pattern})" if outcome.pattern else outcome.name
    verdicts = {
        "same": f"{outcome.differences:,}",
        "differs": f"**{outcome.differences:,}**: {cell(outcome.sentence)}",
    }
    verdict = verdicts.get(outcome.state, f"{outcome.state}: {cell(outcome.sentence)}")
    if outcome.state in ("refused", "crashed"):
        return f"| {cell(name)} |" + " |" * 8 + f" {verdict} |"
    sizes = (outcome.ids, outcome.source_size, outcome.size, outcome.strings)
    compared = outcome.vectors.compared
    counts = (f"{count:,}" for count in (*sizes, compared, outcome.compared + compared))
    cells = (cell(name), cell(outcome.source), outcome.model, *counts, verdict)
    return f"| {' | '.join(cells)} |"


def cell(text: str) -> str:
    """A text that fits into a cell: on one line, shortened, with bars escaped.

    >>> cell("a|b\\nc")
    'a\\\\|b c'
    """
    line = " ".join(text.split())
    return (line if len(line) <= LONGEST else line[:LONGEST] + "...").replace("|", "\\|")
