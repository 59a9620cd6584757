"""Which parts of a source can be converted exactly, and which are refused: all of them, not only
the first one.

A conversion stops at the first refusal. Here what is refused is taken out, the rest is read and
compiled again, and so on until nothing is refused. What is taken out leaves a part after that does
nothing, so that the others keep their places and ids.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tokexport.conversion import Options, file_bytes
from tokexport.errors import UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.registry import open_source
from tokexport.sources.tokenizer_json.document import byte_level
from tokexport.sources.tokenizer_json.parts import flat
from tokexport.sources.tokenizer_json.read import read_tokenizer_json

# The parts that may be Sequences, with the name of the array in one.
_CHAINS: Final = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
_FLAGS: Final = ("special", "single_word", "lstrip", "rstrip", "normalized")


@dataclass(frozen=True, slots=True)
class Part:
    """``place`` is like ``normalizer.normalizers[0]``, ``what`` its type with its options. It is
    exact where ``refusals`` is empty.
    """

    place: str
    what: str
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a source in the order in which they run, and what its reader has to say about
    it.

    ``content`` is the file that the source becomes, without a self test; None where something is
    refused.
    """

    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    content: bytes | None = None

    @property
    def exact(self) -> bool:
        """Whether nothing is refused: then the source can be converted."""
        return not any(part.refusals for part in self.parts)


def parts_of(
    source: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
) -> Parts:
    """The parts of a source file, directory or repository; the arguments are those of
    :func:`tokexport.sources.read`.

    A tokenizer.json has parts; any other source is one. Raises SourceError for a source that is
    broken, which says nothing about its parts.
    """
    opened = open_source(source, pattern=pattern, special_tokens=special_tokens, revision=revision)
    name = opened.input.name
    if isinstance(opened.content, Node) and opened.format.name.startswith("tokenizer.json"):
        files = opened.input.files
        return document_parts(opened.content, files if name == "tokenizer.json" else files.alone())
    try:
        model = opened.read()
        content = file_bytes(model, Options())
    except UnsupportedError as error:
        error.file = None
        return Parts((Part(name, "the whole file", (str(error),)),))
    return Parts((Part(name, model.provenance.source),), model.notes, content)


def document_parts(root: Node, files: SourceFiles) -> Parts:
    """The parts of the tokenizer.json ``root``; ``files`` finds what stands beside it.

    >>> model = {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}
    >>> root = Node("tokenizer.json", "", {"model": model, "normalizer": {"type": "Uppercase"}, "version": "0.9"})
    >>> [part.place for part in document_parts(root, SourceFiles(None)).parts if part.refusals]
    ['normalizer', 'version']
    """
    places = {part.path: part for part in _nodes(root)}
    refusals, rest, content = _refusals(root, files)
    shown = [
        place for place in places if not place.startswith("added_tokens[") or place in refusals
    ]
    shown += [place for place in refusals if place not in places]
    parts = [
        Part(place, _what(places[place]) if place in places else "", tuple(refusals.get(place, ())))
        for place in shown
    ]
    return Parts(tuple(parts), rest.notes, None if refusals else content)


def _refusals(root: Node, files: SourceFiles) -> tuple[dict[str, list[str]], TokenizerModel, bytes]:
    """The sentences by place, and the rest that is not refused: as a model and as a file."""
    found: dict[str, list[str]] = {}
    tries: Counter[str] = Counter()
    while True:
        try:
            model = read_tokenizer_json(root, files)
            return found, model, file_bytes(model, Options())
        except UnsupportedError as error:
            part = _holder(root, error.path)
            place = error.path if part is None else part.path
            sentences = found.setdefault(place, [])
            if str(error) not in sentences:
                sentences.append(str(error))
            # More than one option of a model may be refused; of every other part nothing is left.
            key = error.path if place == "model" else place
            if part is None:  # a file beside it
                files = SourceFiles(None)
            else:
                root = _without(root, part, error.path, tries[key])
            tries[key] += 1
            if tries[key] > 2:
                raise  # it is refused whatever stands there: a bug here


def _nodes(root: Node) -> Iterator[Node]:
    """The parts: fields, members of Sequences, added tokens one by one after all of them."""
    fields = dict(root.members())
    order = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder", "added_tokens")
    for name in (*order, *(name for name in fields if name not in order)):
        node = fields.get(name)
        if node is None or node.is_null or name in ("version", "truncation", "padding"):
            continue
        yield from flat(node, _CHAINS[name]) if name in _CHAINS else [node]
        if name == "added_tokens":
            yield from node.items()


def _holder(root: Node, path: str) -> Node | None:
    """The part that a path lies in, the innermost one; None where it is not in the document."""

    def holds(node: Node) -> bool:
        return path == node.path or path.startswith((f"{node.path}.", f"{node.path}["))

    inner = [node for node in _nodes(root) if holds(node)]
    fields = [node for _, node in root.members() if holds(node)]
    return max(inner or fields, key=lambda node: len(node.path), default=None)


def _without(root: Node, part: Node, refused: str, tried: int) -> Node:
    """The document without what is refused; ``tried`` counts what has been put in its place before."""
    name = part.path.split(".")[0].split("[")[0]
    if name in _CHAINS:
        # Version 2.0 has no Sequence of post-processors.
        nothing = None if part.path == "post_processor" else {"type": "Sequence", _CHAINS[name]: []}
        types = [inner.field("type").value for inner in flat(part, _CHAINS[name])]
        # The model after a ByteLevel sees another alphabet, so that stays if it can.
        mapped = "ByteLevel" in types and tried == 0 and name in ("normalizer", "pre_tokenizer")
        plain = {"type": "ByteLevel"} if name == "normalizer" else byte_level(False)
        return _put(root, part.path, plain if mapped else nothing)
    if name == "added_tokens" and part.path != name:
        # Without a content the reference leaves it out; the ids of the others stay if it has one.
        content = part.field("content").value if tried == 0 else ""
        plainest = {
            "id": part.field("id").value,
            "content": content,
            **dict.fromkeys(_FLAGS, False),
        }
        return _put(root, part.path, plainest)
    if name == "added_tokens":
        return _put(root, name, [])
    if name != "model":
        return Node(
            root.file,
            "",
            {key: node.value for key, node in root.members() if node.path != part.path},
        )
    option = part.value.get(refused.removeprefix("model."))
    if (
        tried == 0
        and refused != "model"
        and part.value.get("type") == "BPE"
        and not isinstance(option, (dict, list))
    ):
        return _put(root, refused, False if option is True else None)
    return _put(root, "model", _words(part))


def _words(model: Node) -> dict[str, Any]:
    """A model of the plainest kind with the ids of this one, as far as it has such."""
    vocab = model.value.get("vocab")
    if isinstance(vocab, list):
        vocab = {str(entry[0]): number for number, entry in enumerate(vocab)}
    by_id = {number: token for token, number in (vocab or {}).items()}
    return {
        "type": "WordLevel",
        "vocab": {token: number for number, token in by_id.items()},
        "unk_token": "[UNK]",
    }


def _put(root: Node, path: str, value: Any) -> Node:
    """The document with another value at ``path``."""

    def put(node: Node) -> Any:
        if node.path == path:
            return value
        if not path.startswith(node.path):
            return node.value
        if isinstance(node.value, list):
            return [put(child) for child in node.items()]
        if isinstance(node.value, dict):
            return {name: put(child) for name, child in node.members()}
        return node.value

    return Node(root.file, "", put(root))


def _what(node: Node) -> str:
    """A part in a line: its type and the options that are on."""
    if node.path == "added_tokens":
        tokens = [token for token in node.value if isinstance(token, dict)]
        counts = [(flag, sum(token.get(flag) is True for token in tokens)) for flag in _FLAGS]
        return ", ".join(
            [str(len(tokens)), *(f"{count} {flag}" for flag, count in counts if count)]
        )
    if not isinstance(node.value, dict):
        return show(node.value)
    words = [node.value["type"]] if isinstance(node.value.get("type"), str) else []
    if node.path == "model":
        words += [
            f"{len(node.value[key]):,} {key}" for key in ("vocab", "merges") if key in node.value
        ]
    for name, value in node.value.items():
        if name not in ("type", "vocab", "merges", "special_tokens", "id") and value not in (
            None,
            False,
        ):
            words.append(name if value is True else f"{name} {_short(value)}")
    return ", ".join(words)


def _short(value: object) -> str:
    text = show(value)
    return text if len(text) <= 60 else text[:57] + "..."
