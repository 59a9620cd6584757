"""Small tokenizers with a chat template, and conversations for it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

import tokexport
from tokexport.errors import ChatTemplateError

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": 'The weather <now> in a town & its "feel", 天気',
            "parameters": {
                "type": "object",
                "properties": {"town": {"type": "string", "description": "Its name"}},
                "required": ["town"],
            },
        },
    }
]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


def system(content: Any) -> dict[str, Any]:
    return {"role": "system", "content": content}


CALL = {
    "id": "abcdefgh1",
    "type": "function",
    "function": {"name": "weather", "arguments": {"town": "Zürich"}},
}
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PUBLISHED = ("qwen3", "llama3", "mistral-nemo", "gemma3", "phi-3", "deepseek-v3", "qwen2.5")
CONVERSATIONS: list[list[dict[str, Any]]] = [
    [user("Hello")],
    [user("  spaces \n around\t\n")],
    [system("Be brief. "), user('naïve <b>&"quotes"</b> 中文 👩‍👩‍👧')],
    [user("one"), assistant("two"), user("three"), assistant(" four ")],
    [system("S"), user("one"), assistant("<think>\nwhy\n</think>\n\nbecause"), user("and now?")],
    [user("one"), assistant("two", reasoning_content="a thought"), user("3")],
    [user("one"), assistant("two", thinking="a thought")],
    [user("Rain?"), assistant(None, tool_calls=[CALL])],
    [
        user("Rain?"),
        assistant("", tool_calls=[CALL]),
        {"role": "tool", "name": "weather", "tool_call_id": "abcdefgh1", "content": "12 °C"},
        assistant("It is 12 °C."),
        user("Thanks <|im_end|> </s> <|eot_id|>"),
    ],
    [user([{"type": "text", "text": "in parts"}, {"type": "text", "text": " of two"}])],
    [assistant("I begin"), user("no")],
    [user("one"), user("two")],
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"add_generation_prompt": True},
    {"add_generation_prompt": True, "enable_thinking": False},
    {"continue_final_message": True},
]
_MARKUP = re.compile(r"<[|｜][^<>|｜\s']+[|｜]>|\[/?[A-Z_]+\]|</?[a-z_]+>")


def requests() -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Every conversation in every way, with tools and without."""
    for conversation in CONVERSATIONS:
        for tools in (None, TOOLS):
            for options in OPTIONS:
                yield conversation, {"tools": tools, **options}


def write_chat_model(folder: Path, template: object, **config: Any) -> Path:
    """A small BPE whose special tokens are those of the config and of the template's markup."""
    tokens = [value for name, value in config.items() if name.endswith("_token")]
    texts = [token["content"] if isinstance(token, Mapping) else token for token in tokens]
    special = [text for text in texts if isinstance(text, str)]
    special += _MARKUP.findall(json.dumps(template, ensure_ascii=False))
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(dict.fromkeys(special)),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([json.dumps(CONVERSATIONS), json.dumps(template)], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": template, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    return folder


def published_config(shared: Path, name: str) -> dict[str, Any]:
    path = shared / "tokenizers" / name / "tokenizer_config.json"
    config: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return config


def published(shared: Path, name: str) -> dict[str, Any]:
    """The template of a published tokenizer, and the special tokens that it may read."""
    config = published_config(shared, name)
    tokens = {
        key: value
        for key, value in config.items()
        if key.endswith("_token") and not isinstance(value, bool)
    }
    return {"template": config["chat_template"], **tokens}


def both_of(folder: Path, template: object, **config: Any) -> tuple[tokexport.Tokenizer, Any]:
    """A small tokenizer with a template as converted, and as `transformers` makes it."""
    write_chat_model(folder, template, **config)
    tokexport.convert(folder, folder / "it.bin", self_test=False)
    reference = pytest.importorskip("transformers").AutoTokenizer.from_pretrained(folder)
    return tokexport.load(folder / "it.bin"), reference


def both_of_published(folder: Path, target: Path) -> tuple[tokexport.Tokenizer, Any]:
    """A published tokenizer as converted, and as `transformers` makes it."""
    tokexport.convert(folder, target / "it.bin", self_test=False, reference="transformers")
    reference = pytest.importorskip("transformers").AutoTokenizer.from_pretrained(folder)
    return tokexport.load(target / "it.bin"), reference


def same_as_transformers(tokenizer: tokexport.Tokenizer, reference: Any) -> tuple[int, int]:
    """Compares every request; returns how many produced ids and how many both refused."""
    compared = refused = 0
    for messages, options in requests():
        try:
            text = reference.apply_chat_template(messages, **options, tokenize=False)
        except Exception:  # whatever a template raises
            with pytest.raises(ChatTemplateError):
                tokenizer.apply_chat_template(messages, **options)
            refused += 1
            continue
        assert tokenizer.apply_chat_template(messages, **options, tokenize=False) == text
        ids = reference.apply_chat_template(messages, **options, return_dict=False)
        assert tokenizer.apply_chat_template(messages, **options) == ids
        compared += 1
    return compared, refused
