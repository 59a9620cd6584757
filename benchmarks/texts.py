"""The texts that are measured, the same on every run. If ``$TOKEXPORT_SHARED`` is set, those in its
``corpora`` are used, which are real.

Otherwise English is the documentation of Python's standard library, and text in other scripts
consists of random words, which is harder than real text, since no word is repeated.
"""

from __future__ import annotations

import ast
import json
import os
import random
import string
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

SIZE = 2_000_000  # bytes of a long text
WORST = 1_000_000  # characters of an adversarial text
ONE_LETTER = "'a' * 1,000,000"
SCRIPTS = {
    "Cyrillic": (0x430, 0x44F),
    "Greek": (0x3B1, 0x3C9),
    "Arabic": (0x627, 0x64A),
    "Devanagari": (0x905, 0x939),
    "Thai": (0xE01, 0xE2E),
    "Hangul": (0xAC00, 0xD7A3),
    "Latin with accents": (0xE0, 0xFF),
}
CJK = (0x4E00, 0x9FA5)
KANA = (0x3041, 0x30F6)


def english_and_documentation() -> str:
    """English prose, and the documentation of Python's standard library."""
    return f"{english()}\n{' '.join(_docstrings())}"


def english(size: int = SIZE) -> str:
    """English prose."""
    shared = _shared(
        "english/pride_and_prejudice.txt", "english/taylorswift.txt", "english/tinyshakespeare.txt"
    )
    return _cut(shared or " ".join(_docstrings()), size)


def code(size: int = SIZE) -> str:
    """Python source, tests included."""
    files = _library()[: 400 * size // SIZE]
    return _cut("".join(path.read_text("utf-8", errors="replace") for path in files), size)


def scripts(size: int = SIZE) -> str:
    """Text in many scripts."""
    path, chance = _corpora() / "udhr" / "udhr_all_languages.jsonl", random.Random(1)
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines()
        chance.shuffle(lines)
        return _cut("\n".join(" ".join(_strings(json.loads(line))) for line in lines), size)
    ranges = list(SCRIPTS.values())
    return _cut(" ".join(_word(chance, *chance.choice(ranges), 9) for _ in range(size // 9)), size)


def cjk(size: int = SIZE) -> str:
    """Japanese and Chinese."""
    shared = _shared("japanese/wagahaiwa_nekodearu.txt", "xquad/xquad.zh.txt")
    if shared:
        return _cut(shared, size)
    chance = random.Random(2)
    words = (_word(chance, *chance.choice((CJK, CJK, KANA)), 12) for _ in range(size // 15))
    return _cut("、".join(words), size)


def adversarial(seed: int, characters: str) -> str:
    """Random characters, a million of them."""
    return "".join(random.Random(seed).choices(characters, k=WORST))


TEXTS: Mapping[str, Callable[..., str]] = {
    "English": english,
    "code": code,
    "many scripts": scripts,
    "Chinese, Japanese": cjk,
    ONE_LETTER: partial(adversarial, 0, "a"),
    "random letters": partial(adversarial, 3, string.ascii_lowercase),
    "white space": partial(adversarial, 4, "     \n\t\u00a0\u3000"),
    "digits": partial(adversarial, 5, string.digits),
}


def shared_tokenizers() -> Path:
    """The real tokenizers of ``$TOKEXPORT_SHARED``; exits if it is not set."""
    if "TOKEXPORT_SHARED" not in os.environ:
        sys.exit("TOKEXPORT_SHARED must name the folder of real tokenizers (CONTRIBUTING.md)")
    return Path(os.environ["TOKEXPORT_SHARED"]).resolve() / "tokenizers"


def _corpora() -> Path:
    return Path(os.environ.get("TOKEXPORT_SHARED", "/nonexistent")) / "corpora"


def _shared(*names: str) -> str:
    paths = [_corpora() / name for name in names]
    return "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())


def _library() -> list[Path]:
    """Source files of Python's standard library, in a shuffled but fixed order."""
    folder = Path(sysconfig.get_path("stdlib"))
    paths = sorted(folder.glob("*.py")) + sorted(folder.glob("[a-z]*/*.py"))
    paths = [path for path in paths if "site-packages" not in path.parts]
    random.Random(6).shuffle(paths)
    return paths


def _docstrings() -> Iterator[str]:
    for path in _library():
        if "test" in path.parts:
            continue
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (
                text := ast.get_docstring(node)
            ):
                yield text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _word(chance: random.Random, first: int, last: int, longest: int) -> str:
    return "".join(chr(chance.randint(first, last)) for _ in range(chance.randint(1, longest)))


def _cut(text: str, size: int) -> str:
    """The first ``size`` bytes."""
    return text.encode("utf-8", "ignore")[:size].decode("utf-8", "ignore")
