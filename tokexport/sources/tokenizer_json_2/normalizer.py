"""The ``normalizer`` of a tokenizer.json 2.0, as steps.

Metaspace is a normalizer there, and the regular expressions of Replace are those of fancy-regex.
"""

from __future__ import annotations

from tokexport.model import Dialect, NormalForm, NormalizerStep, Prepend, Replace, Strip
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.normalizer import Normalizer, read_normalizer, read_pattern
from tokexport.sources.tokenizer_json.parts import flat
from tokexport.sources.tokenizer_json.pre_tokenizer import escape


def read_normalizers(node: Node | None) -> tuple[Normalizer, Normalizer]:
    """What the normalizer at ``node`` does to a text, and to an added token: a MetaspaceNormalizer
    that ends it leaves that alone.

    An added token may stand anywhere, so what is put before the very start of the input is not put
    before it.
    """
    parts = flat(node, "normalizers")
    steps: list[NormalizerStep] = []
    of_added: list[NormalizerStep] = []
    for number, part in enumerate(parts):
        match part.value:
            case {"type": "MetaspaceNormalizer"}:
                own = _metaspace(part)
                if number < len(parts) - 1:
                    of_added += (
                        step for step in own if not (isinstance(step, Prepend) and step.only_first)
                    )
                steps += own
                continue
            case {"type": "Replace"}:
                own = _replace(part)
            case {"type": "Prepend", "prepend": ""}:
                own = []
            case _:
                own = [
                    step.of_unicode_17 if isinstance(step, NormalForm) else step
                    for step in read_normalizer(part).steps
                ]
        of_added += own
        steps += own
    return Normalizer(tuple(steps)), Normalizer(tuple(of_added))


def _metaspace(node: Node) -> list[NormalizerStep]:
    node.object({"type", "replacement", "prepend", "drop_whitespace"})
    mark, scheme = node.field("replacement"), node.field("prepend")
    if len(mark.string()) != 1:
        mark.fail("a single character")
    if scheme.string() not in ("always", "first", "never"):
        scheme.fail('"always", "first" or "never"')
    prepend = Prepend(mark.string(), unless_present=True, only_first=scheme.value == "first")
    if not node.field("drop_whitespace").boolean():
        spaces = Replace(" ", mark.string(), path=node.path)
        return [spaces] if scheme.value == "never" else [spaces, prepend]
    if scheme.value == "first":
        return _dropping_first(node.path, mark.value)
    if scheme.value == "never":
        return [Replace(r"\s+", "", literal=False, path=node.path)]
    # The mark goes before every word that does not begin with it.
    between = Replace(rf"\s+{escape(mark.string())}?", mark.string(), literal=False, path=node.path)
    return [Strip(), between, prepend]


def _dropping_first(path: str, mark: str) -> list[NormalizerStep]:
    """White space dropped, and the mark before a text that begins the input, where that does not
    begin with white space or the mark.

    For a moment a line feed is what stands before a text that begins the input, as no other text
    has one.
    """
    steps: list[NormalizerStep] = [
        Replace(r"\s+", " ", literal=False, path=path),
        Prepend("\n", only_first=True),
    ]
    pairs = [
        ("\n ", ""),
        (" ", ""),
        *([] if mark.isspace() else [("\n" + mark, mark)]),
        ("\n", mark),
    ]
    return [*steps, *(Replace(before, behind, path=path) for before, behind in pairs)]


def _replace(node: Node) -> list[NormalizerStep]:
    """A Replace: its regular expressions are those of fancy-regex, and an empty text is nowhere."""
    node.object({"type", "pattern", "content"})
    pattern, literal = read_pattern(node.field("pattern"))
    if literal and not pattern:
        return []
    content = node.field("content").string()
    return [Replace(pattern, content, literal, Dialect.FANCY_REGEX, node.path)]
