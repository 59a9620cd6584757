"""The ``normalizer`` of a tokenizer.json 2.0 as steps.

Metaspace is a normalizer there, and the regular expressions of Replace are those of fancy-regex.
"""

import re

from tokexport.model import Dialect, NormalForm, NormalizerStep, Prepend, Replace, Strip
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.normalizer import Steps, read_normalizer
from tokexport.sources.tokenizer_json.parts import character, flat, read_pattern


def read_normalizers(node: Node | None) -> tuple[Steps, Steps]:
    """The normalizer at ``node`` for texts, and for added tokens.

    Added tokens are not changed by a MetaspaceNormalizer at the end, and get no prefix that is only
    for the start of the input.
    """
    parts = flat(node, "normalizers")
    steps: list[NormalizerStep] = []
    of_added: list[NormalizerStep] = []
    for number, part in enumerate(parts):
        match part.value:
            case {"type": "MetaspaceNormalizer"}:
                own = _metaspace(part)
                if number < len(parts) - 1:
                    of_added += [s for s in own if not (isinstance(s, Prepend) and s.only_first)]
                steps += own
                continue
            case {"type": "Replace"}:
                own = _replace(part)
            case {"type": "Prepend", "prepend": ""}:
                own = []
            case _:
                found = read_normalizer(part)
                own = [s.of_unicode_17 if isinstance(s, NormalForm) else s for s in found]
        of_added += own
        steps += own
    return tuple(steps), tuple(of_added)


def _metaspace(node: Node) -> list[NormalizerStep]:
    node.object({"type", "replacement", "prepend", "drop_whitespace"})
    mark, scheme = character(node.field("replacement")), node.field("prepend")
    if scheme.string() not in ("always", "first", "never"):
        scheme.fail('"always", "first" or "never"')
    prepend = Prepend(mark, unless_present=True, only_first=scheme.value == "first")
    if not node.field("drop_whitespace").boolean():
        spaces = Replace(" ", mark, path=node.path)
        return [spaces] if scheme.value == "never" else [spaces, prepend]
    if scheme.value != "always":
        problem = f"the scheme {show(scheme.value)} with drop_whitespace is not supported"
        scheme.unsupported(problem, 'use "always", as published tokenizers do')
    # The mark is put before every word that does not begin with it.
    between = Replace(rf"\s+{re.escape(mark)}?", mark, literal=False, path=node.path)
    return [Strip(), between, prepend]


def _replace(node: Node) -> list[NormalizerStep]:
    """A Replace, whose expressions run on fancy-regex; an empty literal never matches."""
    node.object({"type", "pattern", "content"})
    pattern, literal = read_pattern(node.field("pattern"))
    if literal and not pattern:
        return []
    content = node.field("content").string()
    return [Replace(pattern, content, literal, Dialect.FANCY_REGEX, node.path)]
