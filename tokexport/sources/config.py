"""The files beside a tokenizer: tokenizer_config.json, generation_config.json, chat templates.

No id depends on them. They say which ids have a role (BOS, EOS, padding, end of generation) and how
a chat becomes text. As in `transformers`, chat_template.jinja and the files of
additional_chat_templates/ take precedence over tokenizer_config.json. A chat_template.json is read
last; older checkpoints have it for a processor of images or sound.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from tokexport.model import ChatTemplates, SpecialIds, TokenizerModel
from tokexport.sources.files import SourceFiles, decoded
from tokexport.sources.json_node import Node, parse_beside, show

TOKENIZER_JSON: Final = "tokenizer.json"
CONFIG: Final = "tokenizer_config.json"
GENERATION_CONFIG: Final = "generation_config.json"
ADDED_TOKENS: Final = "added_tokens.json"
MODEL_CONFIG: Final = "config.json"
CHAT_TEMPLATE: Final = "chat_template.jinja"
CHAT_TEMPLATE_JSON: Final = "chat_template.json"
_MORE_TEMPLATES: Final = "additional_chat_templates"
SETTINGS: Final = (CONFIG, GENERATION_CONFIG, CHAT_TEMPLATE, CHAT_TEMPLATE_JSON, MODEL_CONFIG)
# Objects of a config whose members are special tokens with custom names: "image_token".
_NAMED_TOKENS: Final = ("extra_special_tokens", "model_specific_special_tokens")
_TIMESTAMP: Final = "<|0.00|>"
_ID: Final = re.compile("[0-9]{1,10}")
NAMES_NO_CLASS: Final = (None, "PreTrainedTokenizer", "TokenizersBackend")


def read_config(files: SourceFiles) -> Node:
    """The tokenizer_config.json, or an empty object."""
    node = parse_beside(files, CONFIG)
    node.object()
    return node


def tokenizer_class(config: Node) -> str | None:
    """The `transformers` class that is named, without the "Fast" of its second variant."""
    named = config.object().get("tokenizer_class")
    return named.removesuffix("Fast") if isinstance(named, str) else None


def with_roles(
    model: TokenizerModel,
    files: SourceFiles,
    config: Node,
    find: Callable[[str], int | None],
    unk: int | None = None,
) -> TokenizerModel:
    """The model with the roles and templates in the files, and the digests of all that were read;
    ``find`` returns the id of a content, ``unk`` is the model's own.
    """
    notes = [*model.notes]
    found: dict[str, int | None] = {"bos": None, "eos": None, "pad": None, "unk": None}
    for role in found:
        token = config.optional(f"{role}_token")
        if token is not None:
            content = token_content(token)
            found[role] = find(content)
            if found[role] is None:
                notes.append(
                    f"{CONFIG}: {role}_token {show(content)} is not a token here, so no id has this"
                    " role."
                )
    stop = set() if found["eos"] is None else {found["eos"]}
    ends = parse_beside(files, GENERATION_CONFIG).optional("eos_token_id")
    listed = () if ends is None else ends.items() if isinstance(ends.value, list) else (ends,)
    for number in (node.u32() for node in listed):
        if number < len(model.tokens) and model.tokens[number] is not None:
            stop.add(number)
        else:
            notes.append(
                f"{GENERATION_CONFIG}: eos_token_id {number} is not a token of this tokenizer; it"
                " is left out."
            )
    if any(config.object().get(flag) for flag in ("add_bos_token", "add_eos_token")):
        notes.append(
            f"{CONFIG}: add_bos_token and add_eos_token are for transformers; here the"
            " post_processor adds ids."
        )
    if find(_TIMESTAMP) is not None and tokenizer_class(read_config(files)) == "WhisperTokenizer":
        notes.append(
            "WhisperTokenizer of transformers leaves out timestamps when it decodes, unless"
            f" decode_with_timestamps is set; here {_TIMESTAMP} decodes to its text."
        )
    roles = found if unk is None else found | {"unk": unk}
    return replace(
        model,
        provenance=files.provenance(model.provenance.source),
        special_ids=SpecialIds(**roles, stop=tuple(sorted(stop))),
        chat=chat_templates(files, config),
        notes=tuple(notes),
    )


def added_tokens_decoder(config: Node) -> dict[int, str]:
    """The contents by id of ``added_tokens_decoder``: the special tokens of a rank file."""
    table = config.optional("added_tokens_decoder")
    if table is None:
        return {}
    contents: dict[int, str] = {}
    for key, entry in table.members():
        if not _ID.fullmatch(key):
            table.broken(f"has the key {show(key)}", "expected an id")
        contents[int(key)] = token_content(entry)
    return contents


def token_content(token: Node) -> str:
    """The text of a token, which is a string, or an object with a content."""
    return token.field("content").string() if isinstance(token.value, dict) else token.string()


def chat_templates(files: SourceFiles, config: Node) -> ChatTemplates:
    """The templates in the files beside a source. SourceError if one is not text."""
    found = (
        dict(_template_files(files))
        or _in_config(config)
        or _in_config(parse_beside(files, CHAT_TEMPLATE_JSON))
    )
    if not found:
        return ChatTemplates()
    return ChatTemplates(found.pop("default", None), found, dict(_special_tokens(config)))


def _template_files(files: SourceFiles) -> Iterator[tuple[str, str]]:
    data = files.beside(CHAT_TEMPLATE)
    if data is not None:
        yield "default", decoded(data, CHAT_TEMPLATE)
    if files.folder is None:
        return
    for path in sorted((files.folder / _MORE_TEMPLATES).glob("*.jinja")):
        name = f"{_MORE_TEMPLATES}/{path.name}"
        yield path.stem, decoded(files.read(name), name)


def _in_config(config: Node) -> dict[str, str]:
    template = config.optional("chat_template")
    if template is None:
        return {}
    if not isinstance(template.value, list):
        return {"default": template.string()}
    return {one.field("name").string(): one.field("template").string() for one in template.items()}


def _special_tokens(config: Node) -> Iterator[tuple[str, str]]:
    """The variables that `transformers` passes to a template, with their texts."""
    for name, value in config.members():
        if name.endswith("_token") and (text := content_of(value.value)) is not None:
            yield name, text
    for name in _NAMED_TOKENS:
        more = config.optional(name)
        for key, value in more.members() if more and isinstance(more.value, dict) else ():
            if (text := content_of(value.value)) is not None:
                yield key, text


def content_of(token: Any) -> str | None:
    """The text of a token, which is a string or an object with a content; None for others."""
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else None
