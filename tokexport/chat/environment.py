"""The Jinja environment of chat templates: what a template may do, and its functions.

A template is a program by the publisher of the model. It runs in jinja2's immutable sandbox, which
has no access to files, processes or the network.
"""

import json
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Final, NoReturn

from tokexport.errors import ChatTemplateError, MissingLibraryError, needs

# Sandboxes before this release have known escapes.
OLDEST: Final = (3, 1, 6)

with needs("chat", "chat templates are programs for jinja2, which is not installed"):
    from jinja2 import TemplateError, TemplateSyntaxError, nodes
    from jinja2.environment import Template
    from jinja2.exceptions import SecurityError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import Namespace
if tuple(int(part) for part in version("jinja2").split(".")[:3] if part.isdigit()) < OLDEST:
    raise MissingLibraryError(
        f"jinja2 {version('jinja2')} is installed, whose sandbox has known escapes",
        "pip install 'tokexport[chat]'",
    )


@lru_cache(maxsize=16)
def compiled(source: str) -> Template:
    """A template, ready to render. ChatTemplateError, with the line, if it is not valid Jinja."""
    try:
        return _environment().from_string(source)
    except TemplateSyntaxError as error:
        raise ChatTemplateError(
            f"line {error.lineno} of the chat template is not valid jinja2:"
            f" {str(error.message).rstrip('.')}"
        ) from error
    except RecursionError:
        raise ChatTemplateError("the chat template is nested too deeply") from None
    except (SyntaxError, ValueError) as error:  # of Python, which compiles what jinja2 makes of it
        problem = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ChatTemplateError(f"the chat template cannot be compiled: {problem}") from error


def literals(source: str) -> list[str]:
    """The string literals of a template, sorted. ChatTemplateError as above."""
    compiled(source)
    return _strings(_environment().parse(source))


def compared(source: str) -> list[str]:
    """Those that a template may look for in a message: in calls, filters, tests, comparisons."""
    kinds = nodes.Call, nodes.Filter, nodes.Test, nodes.Compare
    found = _environment().parse(source).find_all(kinds)
    return sorted({text for node in found for text in _strings(node)})


def _strings(node: nodes.Node) -> list[str]:
    constants = node.find_all(nodes.Const)
    return sorted({each.value for each in constants if isinstance(each.value, str)})


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {
        "raise_exception": _raise_exception,
        "strftime_now": lambda form: datetime.now().strftime(form),
        "dict": _Dict(),
        "namespace": _Namespace,
    }
    return environment


class Generation(Extension):
    """``{% generation %}`` marks the assistant's text for training, and renders as that text."""

    tags = {"generation"}  # noqa: RUF012 -- jinja2 declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        """The block, with a scope of its own."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_inside"), [], [], body).set_lineno(line)

    @staticmethod
    def _inside(caller: Any) -> Any:
        return caller()


class _Dict:
    """``dict``, limited to the calls that templates may make."""

    def __call__(self, *items: Any, **named: Any) -> dict[Any, Any]:
        return dict(*items, **named)

    def fromkeys(self, keys: Any, value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


class _Namespace(Namespace):
    """``namespace``, without the names that give access to Python's internals."""

    def __init__(*positional: Any, **named: Any) -> None:
        self, *others = positional
        values = dict(*others, **named)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a chat template may not set {name!r}: it begins with an underscore")


def _raise_exception(message: object) -> NoReturn:
    raise TemplateError(str(message))


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Unlike jinja2's own filter, without escapes for HTML."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )
