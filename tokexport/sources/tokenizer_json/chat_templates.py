"""The chat templates that stand beside a tokenizer, and the special tokens that they read.

`transformers` decides where they are looked for: chat_template.jinja and the files of
additional_chat_templates/ win over tokenizer_config.json. A chat_template.json is read last; it is
that of a processor for images or sound, for which older checkpoints have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokexport.model import ChatTemplates
from tokexport.sources.files import SourceFiles, decoded
from tokexport.sources.json_node import Node, parse

CHAT_TEMPLATE: Final = "chat_template.jinja"
CHAT_TEMPLATE_JSON: Final = "chat_template.json"
MORE_TEMPLATES: Final = "additional_chat_templates"
# Objects of a config whose members are special tokens with names of their own: "image_token".
_NAMED_TOKENS: Final = ("extra_special_tokens", "model_specific_special_tokens")


def read_chat_templates(files: SourceFiles, config: Node | None) -> ChatTemplates:
    """The templates of the files beside a source. SourceError where one is no text."""
    found = dict(_template_files(files)) or _in_config(config) or _in_json(files)
    if not found:
        return ChatTemplates()
    variables = {} if config is None else dict(_special_tokens(config))
    return ChatTemplates(found.pop("default", None), found, variables)


def _template_files(files: SourceFiles) -> Iterator[tuple[str, str]]:
    data = files.beside(CHAT_TEMPLATE)
    if data is not None:
        yield "default", decoded(data, CHAT_TEMPLATE)
    if files.folder is None:
        return
    for path in sorted((files.folder / MORE_TEMPLATES).glob("*.jinja")):
        name = f"{MORE_TEMPLATES}/{path.name}"
        yield path.stem, decoded(files.read(name), name)


def _in_config(config: Node | None) -> dict[str, str]:
    template = None if config is None else config.optional("chat_template")
    if template is None:
        return {}
    if not isinstance(template.value, list):
        return {"default": template.string()}
    return {
        item.field("name").string(): item.field("template").string() for item in template.items()
    }


def _in_json(files: SourceFiles) -> dict[str, str]:
    data = files.beside(CHAT_TEMPLATE_JSON)
    return {} if data is None else _in_config(parse(data, CHAT_TEMPLATE_JSON))


def _special_tokens(config: Node) -> Iterator[tuple[str, str]]:
    """The names that `transformers` gives to a template, with their texts."""
    for name, value in config.members():
        if name.endswith("_token") and (text := _text(value)) is not None:
            yield name, text
    for name in _NAMED_TOKENS:
        more = config.optional(name)
        for key, value in more.members() if more and isinstance(more.value, dict) else ():
            if (text := _text(value)) is not None:
                yield key, text


def _text(token: Node) -> str | None:
    """The text of a token, which is a string or an object with a content."""
    value = token.value.get("content") if isinstance(token.value, dict) else token.value
    return value if isinstance(value, str) else None
