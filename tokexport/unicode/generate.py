"""Make ``engines.dat``, ``normal_forms.dat`` and ``characters.dat``: ``python -m
tokexport.unicode.generate``, in two minutes.

Needs tokenizers, tiktoken and regex at the versions below. ``regex`` only suggests names of
properties and of their values; the engines say which of them they know, and which code points these
have.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

from tokexport.model import CharacterTest, Dialect
from tokexport.unicode import characters, engines, normal_forms
from tokexport.unicode.store import CODE_POINTS, CodePoints, Writer, set_to_numbers

PINNED = {"tokenizers": "0.23.3", "tiktoken": "0.14.0", "regex": "2026.11.15"}

SHORTHANDS = ("s", "d", "w", "h")
POSIX = (
    *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph"),
    *("lower", "print", "punct", "space", "upper", "word", "xdigit"),
)
# Names that the engines have beyond those of the Unicode Character Database.
OTHER_NAMES = ("any", "ascii", "assigned", "newline", *POSIX)
# Properties that are asked for as name=value; the short name comes second.
VALUED = (
    ("generalcategory", "gc"),
    ("script", "sc"),
    ("scriptextensions", "scx"),
    ("graphemeclusterbreak", "gcb"),
    ("wordbreak", "wb"),
    ("sentencebreak", "sb"),
)
AGES = (
    *(
        "1.1",
        "2.0",
        "2.1",
        "3.0",
        "3.1",
        "3.2",
        "4.0",
        "4.1",
        "5.0",
        "5.1",
        "5.2",
        "6.0",
        "6.1",
        "6.2",
        "6.3",
    ),
    *(
        "7.0",
        "8.0",
        "9.0",
        "10.0",
        "11.0",
        "12.0",
        "12.1",
        "13.0",
        "14.0",
        "15.0",
        "15.1",
        "16.0",
        "17.0",
        "18.0",
    ),
)

ASK: dict[Dialect, Callable[[str], CodePoints]] = {
    Dialect.ONIGURUMA: engines.oniguruma_set,
    Dialect.FANCY_REGEX: engines.fancy_regex_set,
}


def loose(name: str) -> str:
    """A name without case, spaces, hyphens and underscores."""
    return name.lower().translate(str.maketrans("", "", " -_"))


def suggested_names() -> set[str]:
    """The names of properties that ``regex`` knows."""
    return {loose(name) for name in importlib.import_module("regex._regex_core").PROPERTIES}


def suggested_values(name: str) -> set[str]:
    """The names of a property's values that ``regex`` knows."""
    _, values = importlib.import_module("regex._regex_core").PROPERTIES[name.upper()]
    return {loose(value) for value in values}


def candidate_names(dialect: Dialect) -> list[str]:
    """Names worth asking the engine for."""
    names = (
        suggested_names() | suggested_values("gc") | suggested_values("script") | set(OTHER_NAMES)
    )
    names |= {"in" + block for block in suggested_values("block")}
    if dialect is Dialect.FANCY_REGEX:
        for long, short in VALUED:
            values = suggested_values("script" if short == "scx" else short) | {
                "any",
                "ascii",
                "assigned",
            }
            names |= {f"{name}={value}" for name in (long, short) for value in values}
        names |= {
            f"age={spelling}" for age in AGES for spelling in (age, "v" + age.replace(".", ""))
        }
    return sorted(names)


def known(names: Iterable[str], pattern: str, dialect: Dialect) -> Iterator[tuple[str, CodePoints]]:
    """The names that the engine accepts in ``pattern``, with what it matches."""
    for name in names:
        try:
            yield name, ASK[dialect](pattern.format(name))
        except ValueError:
            continue


def sets(writer: Writer, names: Iterable[str], pattern: str, dialect: Dialect) -> dict[str, int]:
    """Name -> the number of its set, for each name that the engine accepts."""
    return {
        name: writer.add(set_to_numbers(members))
        for name, members in known(names, pattern, dialect)
    }


def bracketed_differently(
    writer: Writer, properties: dict[str, int], dialect: Dialect
) -> dict[str, int]:
    """Name -> the number of its set inside a class, where that is not the set outside."""
    inside = sets(writer, properties, r"[\p{{{}}}]", dialect)
    return {name: number for name, number in inside.items() if number != properties[name]}


def exact_names(properties: Iterable[str], dialect: Dialect) -> list[str]:
    """The names that the engine does not take with a separator: fancy-regex adds some of its own in
    front of its loose ones.
    """
    return [name for name in properties if not takes(f"\\p{{{name}_}}", dialect)]


def takes(pattern: str, dialect: Dialect) -> bool:
    """Whether the engine accepts a pattern."""
    try:
        matched(pattern, "any text", dialect)
    except ValueError:
        return False
    return True


def escaped(*code_points: int) -> str:
    """Code points as both engines read them in a pattern."""
    return "".join(f"\\x{{{code_point:x}}}" for code_point in code_points)


def character_class(members: CodePoints) -> str:
    """A bracketed class with these members."""
    numbers = iter(set_to_numbers(members))
    ranges, stop = [], 0
    for gap in numbers:
        start = stop + gap
        stop = start + next(numbers)
        ranges.append(f"{escaped(start)}-{escaped(stop - 1)}")
    return f"[{''.join(ranges)}]"


def matched(pattern: str, text: str, dialect: Dialect) -> str:
    """Which characters of ``text``, each on its own line, match."""
    lines = "\n".join(text)
    if dialect is Dialect.FANCY_REGEX:
        return engines.fancy_regex_keeps(pattern, lines)
    left = set(engines.oniguruma_leaves(pattern, lines))
    return "".join(character for character in text if character not in left)


def case_groups(dialect: Dialect) -> list[tuple[int, ...]]:
    """The groups of two or more code points that match each other under (?i).

    Only characters that a case mapping touches are asked for one by one. That no other takes part,
    the engine shows: ignoring case leaves both the class of these and the class of all others as it
    is.
    """
    ask = ASK[dialect]
    cased = ask(r"[\p{Cased}\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]")
    others = ask(r"[\p{Any}]") & ~cased
    for side in (cased, others):
        if (ask(f"(?i:{character_class(side)})") != side).any():
            raise ValueError(f"{dialect.value} folds a character that no case mapping touches")
    text = "".join(chr(code_point) for code_point in range(CODE_POINTS) if cased[code_point])
    groups = {
        ord(character): matched(f"(?i:{escaped(ord(character))})", text, dialect)
        for character in text
    }
    if any(groups[ord(other)] != group for group in groups.values() for other in group):
        raise ValueError(f"matching under (?i) is no equivalence in {dialect.value}")
    return sorted({tuple(map(ord, group)) for group in groups.values() if len(group) > 1})


def case_numbers(groups: Iterable[tuple[int, ...]]) -> Iterator[int]:
    """Each group as its size, its first member, and the distances from there on."""
    for group in groups:
        yield len(group)
        yield group[0]
        yield from (after - before for before, after in itertools.pairwise(group))


def multi_character_folds() -> Iterator[int]:
    """The folds of one code point to several, as far as Oniguruma has them (Unicode has had the
    same 104 since version 5.1).
    """
    full_folds = {code_point: chr(code_point).casefold() for code_point in range(CODE_POINTS)}
    singles = "".join(chr(code_point) for code_point, fold in full_folds.items() if len(fold) > 1)
    for fold in sorted({fold for fold in full_folds.values() if len(fold) > 1}):
        spelled = [ord(character) for character in fold]
        found = matched(f"(?i:{escaped(*spelled)})", singles, Dialect.ONIGURUMA)
        if any(engines.oniguruma_leaves(f"(?i:{escaped(ord(single))})", fold) for single in found):
            raise ValueError(f"Oniguruma matches {fold!r} in one direction only")
        if found:
            yield from (len(spelled), *spelled, len(found), *map(ord, found))


def engines_file() -> bytes:
    """The bytes of ``engines.dat``."""
    writer = Writer()
    tests = {
        CharacterTest.NUMERIC: engines.digits(),
        CharacterTest.PUNCTUATION: engines.removed_by("Punctuation", behavior="removed"),
        CharacterTest.WHITESPACE: engines.removed_by("WhitespaceSplit"),
    }
    properties = {
        dialect: sets(writer, candidate_names(dialect), r"\p{{{}}}", dialect) for dialect in Dialect
    }
    oniguruma = Dialect.ONIGURUMA
    header = {
        "made_with": PINNED,
        "tests": {
            test.value: writer.add(set_to_numbers(members)) for test, members in tests.items()
        },
        "properties": {dialect.value: numbers for dialect, numbers in properties.items()},
        "exact_names": {
            dialect.value: exact_names(numbers, dialect) for dialect, numbers in properties.items()
        },
        # In fancy-regex a class with one item is that item.
        "bracketed_properties": {
            oniguruma.value: bracketed_differently(writer, properties[oniguruma], oniguruma)
        },
        "shorthands": {d.value: sets(writer, SHORTHANDS, r"\{}", d) for d in Dialect},
        "bracketed_shorthands": {d.value: sets(writer, SHORTHANDS, r"[\{}]", d) for d in Dialect},
        "posix": {d.value: sets(writer, POSIX, "[[:{}:]]", d) for d in Dialect},
        "case": {d.value: writer.add(case_numbers(case_groups(d))) for d in Dialect},
        "folds": {oniguruma.value: writer.add(multi_character_folds())},
    }
    return writer.file(header)


def generate() -> dict[str, bytes]:
    """File name -> bytes. RuntimeError if another version of a reference library is installed."""
    for package, version in PINNED.items():
        if metadata.version(package) != version:
            raise RuntimeError(
                f"{package} is {metadata.version(package)}; the tables are made with {version}"
            )
    return {
        "engines.dat": engines_file(),
        "characters.dat": characters.generate({"tokenizers": PINNED["tokenizers"]}),
        "normal_forms.dat": normal_forms.generate({"tokenizers": PINNED["tokenizers"]}),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, file in generate().items():
        (folder / name).write_bytes(file)
        print(f"wrote {len(file):,} bytes to {folder / name}")
