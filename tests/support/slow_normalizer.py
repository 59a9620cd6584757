"""Normalizers as slow code: the package's, and SentencePiece's map of sequences; difficult text."""

import functools

from tokexport.model import Charsmap, NormalForm, NormalizerStep
from tokexport.model.normalization.charsmap import read_charsmap, rules_of
from tokexport.model.normalization.normal_forms import normalization_tables
from tokexport.model.normalization.normalize import normalize as normalize_others

JAMO = [
    *(0x1100, 0x1112, 0x1113, 0x1161, 0x1175, 0x1176, 0x11A7, 0x11A8, 0x11C2, 0x11C3),
    *(0xAC00, 0xAC01, 0xAC1C, 0xD788, 0xD7A3),
]


@functools.cache
def interesting() -> list[int]:
    """Marks, jamo, composites and their parts, and a few other code points."""
    tables = normalization_tables(NormalForm.NFKC)
    points = {*tables.combining_classes, *tables.decompositions, *tables.compositions.values()}
    points |= {point for both in tables.compositions for point in both}
    points |= {*JAMO, *range(0x1100, 0x1200), *range(0xAC00, 0xAC40), 0xD7B0, 0xD7FB}
    return sorted(points.union(map(ord, "a 1\u00b7\u4e2d\U0001f600")))


def normalize(text: str, steps: tuple[NormalizerStep, ...]) -> str:
    """The text after a normalizer."""
    for step in steps:
        if isinstance(step, Charsmap) and not step.by_grapheme:
            text = _sequences_replaced(text, step)
        else:
            text = normalize_others(text, (step,))
    return text


def _sequences_replaced(text: str, step: Charsmap) -> str:
    rules = rules_of(read_charsmap(step.data, step.path))
    longest = max(map(len, rules), default=0)
    parts: list[bytes] = []
    rest = text.encode()
    contents = sorted(
        (content.encode() for content in step.protected if content), key=len, reverse=True
    )
    while rest:
        whole = next((content for content in contents if rest.startswith(content)), None)
        starts = (rest[:size] for size in range(longest, 0, -1))
        key = whole or next(filter(rules.__contains__, starts), rest.decode()[0].encode())
        parts.append(whole or rules.get(key, key))
        rest = rest[len(key) :]
    return b"".join(parts).decode()
