"""Mistral's tekken.json: tiktoken's ranks and pattern, with the special tokens before them.

As in mistral-common (``Tekkenizer``), the first ``default_num_special_tokens`` ids are special
tokens: those that the file lists, or the fixed list for files older than version 11, then
``<SPECIAL_n>``. The ranks follow, up to ``default_vocab_size``.
"""

from dataclasses import replace
from typing import Final

from tokexport.limits import MAX_IDS
from tokexport.model import ChatTemplates, SpecialIds, TokenizerModel
from tokexport.sources.config import chat_templates, read_config
from tokexport.sources.json_node import Node, show
from tokexport.sources.source import Input
from tokexport.sources.tiktoken.encoding import build

# The special tokens of a file that lists none, by id; only versions up to v7 may omit them.
_UNLISTED: Final = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS]"
    " [/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX]"
    " [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
)
_ROLES: Final = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
_LISTLESS_VERSIONS: Final = ("v1", "v2", "v3", "v7")


def parse_tekken(root: Node) -> tuple[dict[bytes, int], str, dict[str, int]]:
    """Ids by token, the pattern, special tokens; SourceError where mistral-common refuses."""
    config = root.field("config")
    size = config.field("default_vocab_size")
    vocab_size, n_special = size.u32(), config.field("default_num_special_tokens").u32()
    if not n_special <= vocab_size <= MAX_IDS:
        size.fail(f"at least {n_special} special tokens, and {MAX_IDS} ids at most")
    special = _special_tokens(root, config.field("version"), n_special)
    ids: dict[bytes, int] = {}
    for expected, item in enumerate(root.field("vocab").items()):
        if expected >= vocab_size - n_special:
            break
        rank = item.field("rank").u32()
        if rank != expected:
            item.field("rank").fail(f"{expected}: ranks are in order")
        ids[item.field("token_bytes").base64()] = rank + n_special
    if len(ids) + n_special < vocab_size:
        size.fail(f"{len(ids)} different tokens and {n_special} special ones")
    return ids, config.field("pattern").string(), special


def read_tekken(source: Input, root: Node) -> TokenizerModel:
    """The model of the parsed tekken.json, with special tokens that work as in tiktoken."""
    ids, pattern, special = parse_tekken(root)
    chat = chat_templates(source.files, read_config(source.files))
    if chat != ChatTemplates():
        named = {f"{role}_token": name for role, name in _ROLES.items() if name in special}
        chat = replace(chat, variables={**named, **chat.variables})
    model = build(root.file, ids, pattern, special, source.files.provenance("tekken.json"))
    roles = {role: special.get(name) for role, name in _ROLES.items()}
    stop = () if roles["eos"] is None else (roles["eos"],)
    return replace(model, special_ids=SpecialIds(**roles, stop=stop), chat=chat)


def _special_tokens(root: Node, version: Node, count: int) -> dict[str, int]:
    node = root.optional("special_tokens")
    if node is None:
        if version.string() not in _LISTLESS_VERSIONS:
            root.fail(f"special_tokens, which a file of version {version.string()} must list")
        listed = _UNLISTED.split()
    else:
        listed = []
        for number, item in enumerate(node.items()):
            if item.field("rank").u32() != number:
                item.field("rank").fail(f"{number}: special tokens are in the order of ids")
            listed.append(item.field("token_str").string())
    names = [*listed, *(f"<SPECIAL_{number}>" for number in range(len(listed), count))]
    if len(names) > count or len(set(names)) < count:
        root.broken(f"has no {count} different special tokens", f"found {show(listed)}")
    return {name: number for number, name in enumerate(names)}
