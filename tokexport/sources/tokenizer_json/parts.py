"""Common to several parts of a tokenizer.json: ``type``, nested Sequences, and some settings."""

from typing import Final

from tokexport.errors import SourceError
from tokexport.sources.json_node import Node

# The depth limit of the reference's parser.
_DEEPEST: Final = 128
_BYTE_LEVEL_FIELDS: Final = ("type", "add_prefix_space", "trim_offsets", "use_regex")
_METASPACE_FIELDS: Final = ("type", "replacement", "add_prefix_space", "prepend_scheme", "split")


def flat(node: Node | None, member: str, depth: int = 0) -> list[Node]:
    """The parts at ``node`` in order; none for null. ``member``: the array in a Sequence.

    >>> node = Node("x", "n", {"type": "Sequence", "normalizers": [{"type": "NFC"}]})
    >>> flat(node, "normalizers")[0].path
    'n.normalizers[0]'
    """
    if node is None or node.value is None:
        return []
    if depth > _DEEPEST:
        problem = f"{node.path[:80]}... is nested too deeply"
        raise SourceError(problem, f"the reference follows {_DEEPEST} levels", name=node.file)
    if node.field("type").string() != "Sequence":
        return [node]
    node.object({"type", member})
    return [part for inner in node.field(member).items() for part in flat(inner, member, depth + 1)]


def check_byte_level(node: Node) -> None:
    node.object(_BYTE_LEVEL_FIELDS)
    for flag in _BYTE_LEVEL_FIELDS[1:3]:
        node.field(flag).boolean()
    if "use_regex" in node.value:
        node.field("use_regex").boolean()


def read_metaspace(node: Node) -> tuple[str, str]:
    """The replacement of a Metaspace and its scheme: always, first or never.

    Older files have ``add_prefix_space``; only false has an effect, and the two must agree.
    """
    node.object((*_METASPACE_FIELDS, "str_rep"))
    str_rep = node.optional("str_rep")
    if str_rep is not None:
        str_rep.string()
    field = node.get("prepend_scheme")
    scheme = "always" if field is None else field.string()
    if field is not None and scheme not in ("always", "first", "never"):
        field.fail('"always", "first" or "never"')
    older = node.optional("add_prefix_space")
    if older is not None and not older.boolean() and scheme != "never":
        older.fail('true, or "prepend_scheme": "never"; the reference refuses this file')
    return character(node.field("replacement")), scheme


def read_pattern(node: Node) -> tuple[str, bool]:
    """A pattern, and whether it is literal text."""
    fields = node.object()
    if set(fields) not in ({"String"}, {"Regex"}):
        node.fail('{"String": text} or {"Regex": pattern}')
    if "Regex" in fields:
        return node.field("Regex").string(), False
    return node.field("String").string(), True


def character(node: Node) -> str:
    return text if len(text := node.string()) == 1 else node.fail("a single character")
