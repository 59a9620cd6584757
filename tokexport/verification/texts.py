"""Texts: random ones, pairs of them, lone surrogates, and the user's files."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tokexport.errors import reading
from tokexport.runtime.tokenizer import Tokenizer
from tokexport.sources.reference import TABLES_FROM, Mode
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import Vocabulary, make

PAIRS: Final = "pairs of texts"
SURROGATES: Final = "lone surrogates"
FILES: Final = "files"
LINES: Final = "lines of files"
# One in EVERY_MODE strings is compared in every mode, the others with special tokens as text.
EVERY_MODE: Final = 8


def check_string(
    comparison: Comparison, vocabulary: Vocabulary, name: str, items: Sequence[int]
) -> None:
    """Strings of one generator, encoded and decoded; those with added tokens in every mode."""
    every = name == "added-tokens"
    some = [index for index in items if every or index % EVERY_MODE == 0]
    others = tuple(mode for mode in comparison.reference.modes if mode is not Mode.TEXT)
    for chosen, modes, decode in ((items, (Mode.TEXT,), True), (some, others, every)):
        cases = (
            (f"{name}:{index}", make(name, vocabulary, comparison.seed, index)) for index in chosen
        )
        comparison.texts(f"strings: {name}", cases, modes, decode=decode)


def check_pairs(comparison: Comparison, vocabulary: Vocabulary, items: Sequence[int]) -> None:
    """Two texts by the template for a pair and without its ids, if the reference has one."""
    if Mode.TEMPLATE not in comparison.reference.modes:
        return
    encode = comparison.reference.encode_pair
    for index in items:
        first = make("mixed", vocabulary, comparison.seed, 2 * index)
        pair = first, make("mixed", vocabulary, comparison.seed, 2 * index + 1)
        for mode in (Mode.TEMPLATE, Mode.IDS):
            ask = partial(lambda mode, pairs: [encode(a, b, mode) for a, b in pairs], mode)
            for _, expected in comparison.answers([pair], ask):
                found = comparison.each(partial(_encoded_pair, pair, comparison.how(mode)))
                action, ids = f"encode a pair, {mode.value}", tuple(expected or ())
                comparison.value(PAIRS, f"pair:{index}", action, "".join(pair), ids, *found)


def _encoded_pair(pair: tuple[str, str], how: dict[str, Any], file: Tokenizer) -> tuple[int, ...]:
    return tuple(file.encode_pair(*pair, **how))


def check_surrogates(comparison: Comparison) -> None:
    """A lone surrogate is an error or U+FFFD, as in the reference; a pair may be, too. No text has
    one, so ids can be right by a library that treats it in the other way.
    """
    made_for = str(comparison.tokenizer.provenance.get("reference")).partition(" ")[0]
    if made_for in TABLES_FROM and made_for != comparison.reference.library:
        note = f"{SURROGATES} were not compared: the file treats them as {made_for} does"
        comparison.found.notes.append(note)
        return
    for text in ("\ud800", "a\udfffb", "\ud83d\ude00", "x\ud83d \ude00y", "\ude00\ud83d"):
        try:
            expected: object = comparison.reference.encode(text, False)
        except (TypeError, UnicodeEncodeError):
            expected = "an error"
        found = comparison.each(partial(_encoded, text))
        comparison.value(SURROGATES, "surrogates:0", "encode", text, str(expected), *found)


def _encoded(text: str, file: Tokenizer) -> str:
    try:
        return str(file.encode(text))
    except UnicodeEncodeError:
        return "an error"


def check_file(comparison: Comparison, path: Path) -> None:
    """A user's file, whole and by lines. Invalid UTF-8 becomes U+FFFD, with a note."""
    with reading(path):
        data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    lines = text.splitlines(keepends=True)
    modes = (Mode.TEXT, Mode.IDS)
    comparison.texts(FILES, [(f"file:{path}", text)], modes, decode=True)
    numbered = ((f"line:{path}:{number}", line) for number, line in enumerate(lines, 1))
    comparison.texts(LINES, numbered, modes)
    if text.encode() != data:
        note = f"{path} is not all UTF-8; U+FFFD replaces the bytes that are not"
        comparison.found.notes.append(note)
