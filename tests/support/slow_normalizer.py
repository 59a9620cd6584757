"""Normalizers as slow code: the package's, and SentencePiece's map of sequences."""

from tokexport.model import Charsmap, NormalizerStep
from tokexport.normalization.charsmap import read_charsmap, rules_of
from tokexport.normalization.normalize import normalize as normalize_others


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
    after_space = step.collapses
    while rest:
        whole = next((content for content in contents if rest.startswith(content)), None)
        starts = (rest[:size] for size in range(longest, 0, -1))
        key = whole or next(filter(rules.__contains__, starts), rest.decode()[0].encode())
        part = whole or rules.get(key, key)
        part = part.lstrip(b" ") if after_space else part
        if part:
            parts.append(part)
            after_space = step.collapses and part.endswith(b" ")
        rest = rest[len(key) :]
    return b"".join(parts).decode()
