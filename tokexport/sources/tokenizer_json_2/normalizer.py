"""The ``normalizer`` of a tokenizer.json 2.0, as steps.

Metaspace is a normalizer there, and the regular expressions of Replace are those of fancy-regex.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokexport.compiler.normalizer.replacing import match_end
from tokexport.compiler.splits.compile_split import compile_replace
from tokexport.model import (
    CharacterMap,
    Dialect,
    NormalForm,
    NormalizerStep,
    Prepend,
    Replace,
    SpellBytes,
    Split,
    Strip,
)
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.normalizer import Normalizer, read_normalizer, read_pattern
from tokexport.sources.tokenizer_json.parts import flat
from tokexport.sources.tokenizer_json.pre_tokenizer import escape


def read_normalizers(node: Node | None, *, spelled: bool = False) -> tuple[Normalizer, Normalizer]:
    """What the normalizer at ``node`` does to a text, and to an added token: a MetaspaceNormalizer
    that ends it leaves that alone.

    An added token may stand anywhere, so what is put before the very start of the input is not put
    before it. ``spelled``: ByteLevel is a step like others.
    """
    parts = flat(node, "normalizers")
    steps: list[NormalizerStep] = []
    of_added: list[NormalizerStep] = []
    byte_level = False
    for number, part in enumerate(parts):
        if byte_level:
            part.not_bytes("nothing may follow the ByteLevel normalizer")
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
                own = _replace(part, steps)
            case {"type": "Prepend", "prepend": ""}:
                own = []
            case _:
                one = read_normalizer(part, spelled=spelled)
                own = [
                    step.of_unicode_17 if isinstance(step, NormalForm) else step
                    for step in one.steps
                ]
                byte_level = one.byte_level
        of_added += own
        steps += own
    return Normalizer(tuple(steps), byte_level), Normalizer(tuple(of_added), byte_level)


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


def _replace(node: Node, steps_before: Sequence[NormalizerStep]) -> list[NormalizerStep]:
    """A Replace: its regular expressions are those of fancy-regex, and an empty text is nowhere.

    Refuses what would be put into an empty text, which no normalizer here leaves anything but
    empty.
    """
    node.object({"type", "pattern", "content"})
    pattern, literal = read_pattern(node.field("pattern"))
    step = Replace(pattern, node.field("content").string(), literal, Dialect.FANCY_REGEX, node.path)
    if literal:
        return [step] if pattern else []
    split = Split(pattern, dialect=step.dialect, path=node.path)
    fills = match_end(compile_replace(split, step.content), (), 0) is not None and step.content
    if fills and not all(map(_keeps_some, steps_before)):
        node.field("pattern").unsupported(
            "after a step that may leave nothing of a text, one that matches a character or more is"
        )
    return [step]


def _keeps_some(step: NormalizerStep) -> bool:
    """Whether it leaves something of every text."""
    match step:
        case Replace(content=content):
            return content != ""
        case NormalForm() | CharacterMap.LOWERCASE | Prepend() | SpellBytes():
            return True
        case _:
            return False
