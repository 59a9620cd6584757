"""The tables after NFC, NFD, NFKC and NFKD, found out from ``tokenizers`` alone.

Part of the generator (:mod:`tokexport.unicode.generate`). Three tables decide all: what each code
point decomposes to, the order of combining marks, and which pairs compose.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tokexport.unicode.byte_alphabet import CHARACTERS
from tokexport.unicode.engines import every_scalar_value
from tokexport.unicode.store import Writer

HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)  # decomposed by arithmetic
# Between questions: a starter that takes no part in any normalization, so that the answers stay
# apart.
SEPARATOR = "\n"


def normalized(form: str, texts: list[str]) -> list[str]:
    """Each text in a normalization form."""
    import tokenizers

    together = SEPARATOR.join(texts)
    if hasattr(tokenizers, "normalizers"):
        answers: list[str] = (
            getattr(tokenizers.normalizers, form)().normalize_str(together).split(SEPARATOR)
        )
    else:
        answers = normalized_by_ids(form, together).split(SEPARATOR)
    if len(answers) != len(texts):
        raise ValueError(f"{form} does not keep {SEPARATOR!r} apart")
    return answers


def normalized_by_ids(form: str, text: str) -> str:
    """A text in a normalization form from ``tokenizers`` 1.0, which has no call for it: a token for
    each byte, and no merges.
    """
    import tokenizers

    model: dict[str, object] = {
        "type": "BPE",
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "byte_level": True,
        "vocab": {character: byte for byte, character in enumerate(CHARACTERS)},
        "merges": [],
    }
    document: dict[str, object] = {
        "version": "2.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": form},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(json.dumps(document), "utf-8")
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    return bytes(tokenizer.encode(text).ids).decode()


def characters() -> list[str]:
    """All scalar values but the separator."""
    return [character for character in every_scalar_value() if character != SEPARATOR]


def decompositions(form: str) -> dict[str, str]:
    """Character -> its full decomposition where that differs; without Hangul syllables."""
    found = zip(characters(), normalized(form, characters()), strict=True)
    return {
        before: after
        for before, after in found
        if before != after and ord(before) not in HANGUL_SYLLABLES
    }


def combining_classes(canonical: dict[str, str]) -> dict[str, int]:
    """Character -> canonical combining class, where that is not 0.

    A string of two is turned round exactly if the class of the second is lower and not 0. So two
    questions about a character, one with a mark of the highest class before it and one with a mark
    of the lowest after it, show whether it has a class. Its number is a thing Unicode never
    changes: Python's is taken, or where Python is too old to know the mark, that of the class whose
    mark it never changes places with; and all are held against the library's order for one mark of
    each class.
    """
    bases = [c for c in characters() if c not in canonical and ord(c) not in HANGUL_SYLLABLES]
    highest, lowest = "\u0345", "\u0334"
    after = normalized("NFD", [highest + character for character in bases])
    before = normalized("NFD", [character + lowest for character in bases])
    marks = [
        c
        for c, x, y in zip(bases, after, before, strict=True)
        if x != highest + c or y != c + lowest
    ]
    classes = {mark: unicodedata.combining(mark) for mark in marks}
    one_of_each = {number: mark for mark, number in reversed(classes.items()) if number}
    for mark in [mark for mark in marks if not classes[mark]]:
        orders = [(other + mark, mark + other) for other in one_of_each.values()]
        answers = normalized("NFD", [text for order in orders for text in order])
        keeps = [
            order == answer
            for order, answer in zip(
                orders, zip(answers[::2], answers[1::2], strict=True), strict=True
            )
        ]
        (classes[mark],) = (
            number for number, stays in zip(one_of_each, keeps, strict=True) if stays
        )
    for number, other in one_of_each.items():
        pairs = [other + mark for mark in marks]
        turned = [
            pair != answer for pair, answer in zip(pairs, normalized("NFD", pairs), strict=True)
        ]
        if turned != [0 < classes[mark] < number for mark in marks]:
            raise ValueError(
                f"tokenizers orders marks around {other!r} as no combining classes of Unicode do"
            )
    return classes


def compositions(canonical: dict[str, str]) -> dict[tuple[str, str], str]:
    """(first, second) -> composite: for each character that comes back from its decomposition, the
    last step of the way.
    """
    composites = [
        (character, parts)
        for (character, parts), back in zip(
            canonical.items(), normalized("NFC", [*canonical.values()]), strict=True
        )
        if back == character
    ]
    firsts = normalized("NFC", [parts[:-1] for _, parts in composites])
    pairs = {
        (first, parts[-1]): character
        for first, (character, parts) in zip(firsts, composites, strict=True)
    }
    for (first, second), answer in zip(
        pairs, normalized("NFC", [a + b for a, b in pairs]), strict=True
    ):
        if len(first) != 1 or answer != pairs[first, second]:
            raise ValueError(f"{first!r} and {second!r} do not compose in one step")
    return pairs


def decomposition_numbers(found: dict[str, str]) -> Iterator[int]:
    """Each entry: the distance from the code point before, how many it becomes, those."""
    last = 0
    for before, after in sorted(found.items()):
        yield from (ord(before) - last, len(after), *map(ord, after))
        last = ord(before)


def class_numbers(classes: dict[str, int]) -> Iterator[int]:
    """Each entry: the distance from the code point before, the class."""
    last = 0
    for mark, number in sorted(classes.items()):
        yield from (ord(mark) - last, number)
        last = ord(mark)


def composition_numbers(pairs: dict[tuple[str, str], str]) -> Iterator[int]:
    """Each entry: first, second, what they become."""
    for (first, second), composite in sorted(pairs.items()):
        yield from (ord(first), ord(second), ord(composite))


def generate(made_with: dict[str, str]) -> bytes:
    """The bytes of ``normal_forms.dat``."""
    canonical = decompositions("NFD")
    compatibility = {
        before: after
        for before, after in decompositions("NFKD").items()
        if canonical.get(before) != after
    }
    writer = Writer()
    header = {
        "made_with": made_with,
        "decompositions": {
            "canonical": writer.add(decomposition_numbers(canonical)),
            "compatibility": writer.add(decomposition_numbers(compatibility)),
        },
        "combining_classes": writer.add(class_numbers(combining_classes(canonical))),
        "compositions": writer.add(composition_numbers(compositions(canonical))),
    }
    return writer.file(header)
