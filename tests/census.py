"""The features of regular expressions that published tokenizers use, and the statements of the
compiler that none of them reaches: ``python -m tests.census`` writes docs/CENSUS.md.

With $TOKEXPORT_SHARED, the tokenizer.json files there count for the statements, too.
"""

# ruff: noqa: E402
import ast
import json
import os
import sys
import trace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import regex_patterns

import tokexport
from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import CharacterRuns, CharacterTest, Dialect, Split
from tokexport.patterns import SplitProgram, fancy, oniguruma, tree
from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.patterns import GPT2
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.sources.tokenizer_json.pre_tokenizer import WORDS_PATTERN

TARGET = ROOT / "docs" / "CENSUS.md"


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


def table(users: dict[str, list[str]]) -> str:
    """The features as a table in Markdown."""
    lines = ["| Feature | Patterns | Who ships it |", "|---|---:|---|"]
    for feature, names in users.items():
        ellipsis = ", ..." if len(names) > 6 else ""
        lines.append(f"| {feature} | {len(names)} | {', '.join(names[:6])}{ellipsis} |")
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
    for path in sorted(Path(os.environ.get("TOKEXPORT_SHARED", "-")).rglob("tokenizer.json")):
        document = json.loads(path.read_text("utf-8"))
        for split in _in_documents([document.get("pre_tokenizer"), document.get("normalizer")]):
            compile_split(split)


def main() -> None:
    """Write the document. SystemExit if the statements of another copy of the package would run."""
    used = Path(tokexport.__file__).resolve()
    if not used.is_relative_to(ROOT):
        sys.exit(f"tokexport is imported from {used.parent}; run `pip install -e .` in {ROOT}")
    users = features()
    lines = ["| Module | Statements | Never reached | In |", "|---|---:|---:|---|"]
    for path, count, missed, names in unreached(_compile_all):
        lines.append(f"| {path} | {count} | {missed} | {', '.join(names)} |")
    TARGET.write_text(HEAD + table(users) + STATEMENTS + "\n".join(lines) + "\n", "utf-8")


HEAD = """# Which regular expressions tokenizers use

Made by `python -m tests.census` from the patterns of published tokenizers that this repository
knows. A feature that no published tokenizer needs is refused
([what is refused](decisions/what-is-refused.md)).

"""
STATEMENTS = """
Statements of the pattern compiler that no published pattern reaches. Most raise an error; others
handle details of a dialect (`{,n}`, a bare `(?i)`) or are in functions whose results are
cached; `spans` and `read` run a program in the examples.

"""

if __name__ == "__main__":
    main()
