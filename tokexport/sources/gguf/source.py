"""The values of ``tokenizer.ggml.`` in a GGUF file, with their types checked."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tokexport.errors import UnsupportedError
from tokexport.model import ChatTemplates
from tokexport.sources.gguf.patterns import ORIGINALS, UNCASED
from tokexport.sources.json_node import Node, show
from tokexport.sources.sentencepiece.proto import PieceType

PRE: Final = "tokenizer.ggml.pre"
ARCHITECTURE: Final = "general.architecture"
_CHAT: Final = "tokenizer.chat_template"
NAME: Final = "general.name"
PREFIXES: Final = ("tokenizer.", ARCHITECTURE, NAME)
_KINDS: Final = frozenset(PieceType)
# In a file with weights only.
_NO_TOKENIZER: Final = (None, "none", "no_vocab")
# llama.cpp's ids of tokens that it adds around a text of a file that does not name them.
_DEFAULTS: Final = {
    ("llama", "bos_token_id"): 1,
    ("llama", "eos_token_id"): 2,
    ("t5", "eos_token_id"): 1,
}


@dataclass(frozen=True, slots=True)
class GgufTokenizer:
    """The values of a GGUF by short names; ``types`` are NORMAL if the file has none."""

    file: str
    values: dict[str, Any]
    tokens: list[str]
    types: list[PieceType]
    chat: ChatTemplates

    @property
    def model(self) -> str:
        return str(self.values.get("model"))

    def node(self, name: str) -> Node:
        """A value with its name in the file, for errors."""
        return Node(self.file, f"tokenizer.ggml.{name}", self.values.get(name))

    def number(self, name: str) -> int | None:
        """An id; without a value of this name, llama.cpp's default, or None."""
        value = self.values.get(name)
        if value is None:
            default = _DEFAULTS.get((self.model, name), len(self.tokens))
            return default if default < len(self.tokens) else None
        if type(value) is int and 0 <= value < len(self.tokens):
            return value
        return self.node(name).fail("the id of a token")

    def flag(self, name: str, otherwise: bool) -> bool:
        """A flag, or ``otherwise`` if the file does not have it."""
        return self.node(name).boolean() if name in self.values else otherwise

    def array(self, name: str, kind: type, size: int | None) -> list[Any]:
        """An array of one kind, with ``size`` elements if that is given."""
        value: list[Any] | None = self.values.get(name)
        if value is None:
            self.node(name).broken(f"is missing, but {show(self.model)} needs it")
        is_list = isinstance(value, list) and (not value or type(value[0]) is kind)
        if not is_list or size not in (None, len(value)):
            count = "" if size is None else f"{size} "
            self.node(name).fail(f"an array of {count}values of type {kind.__name__}")
        return value


def parse_gguf(values: Mapping[str, Any], file: str, pattern: str | None = None) -> GgufTokenizer:
    """The tokenizer in the values of a GGUF file. ``pattern`` replaces a tokenizer.ggml.pre that is
    missing or unknown. SourceError for a file without a tokenizer.
    """
    inner = {name.removeprefix("tokenizer.ggml."): value for name, value in values.items()}
    source = GgufTokenizer(file, inner, [], [], ChatTemplates())
    if inner.get("model") in _NO_TOKENIZER:
        source.node("model").broken(f"is {show(inner.get('model'))}: the file has no tokenizer")
    tokens = source.array("tokens", str, None)
    # The special tokens of "bert" are known by their names.
    untyped = source.model == "bert" and "token_type" not in inner
    types = [1] * len(tokens) if untyped else source.array("token_type", int, len(tokens))
    for number in [n for n, kind in enumerate(types) if kind not in _KINDS][:1]:
        source.node("token_type").element(number).fail("a number from 1 to 6")
    templates = {
        name.removeprefix(_CHAT).removeprefix("."): value
        for name, value in values.items()
        if name == _CHAT or name.startswith(f"{_CHAT}.")
        if isinstance(value, str)
    }
    return replace(
        source,
        values=inner if pattern is None else inner | {"pre": _named(source, pattern)},
        tokens=tokens,
        types=[PieceType(value) for value in types],
        chat=ChatTemplates(templates.pop("", None), templates),
    )


def _named(source: GgufTokenizer, pattern: str) -> str:
    names = {"gpt2": tuple(ORIGINALS), "bert": UNCASED}.get(source.model, ())
    own = source.values.get("pre")
    if pattern in names and (own == pattern or own not in names):
        return pattern
    if own in names:
        hint = f"its own {PRE} is {show(own)}; a pattern is only for a file without a known one"
    elif names:
        hint = f"for this file the pattern is a name of {PRE}: {', '.join(names)}"
    else:
        hint = f'only the models "gpt2" and "bert" have a {PRE}, and this is {show(source.model)}'
    raise UnsupportedError(source.file, f"the pattern {show(pattern)} is not supported", hint)
