"""Exactly the templates that put fixed texts between messages are recognized as frames."""

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from chat_models import CHATML, PUBLISHED, published_config

pytest.importorskip("jinja2")

from tokexport.chat.environment import literals
from tokexport.chat.frame import Frame, Opening
from tokexport.chat.frame_search import conversation, find_frame
from tokexport.chat.render import render

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
USER, ASSISTANT = "<|im_start|>user\n", "<|im_start|>assistant\n"
END = "<|im_end|>\n"
CHATML_FRAME = Frame(
    USER, Opening("<|im_start|>system\n", END + USER), END + ASSISTANT, END + USER, END + ASSISTANT
)
STRIPPED = frozenset({"system", "user", "assistant"})

# Gemma puts the system message before the first message of the user.
FIRST_USER = """{{ bos_token }}
{%- if messages[0].role == 'system' -%}
    {%- set prefix = messages[0].content + '\n\n' -%}{%- set turns = messages[1:] -%}
{%- else -%}
    {%- set prefix = '' -%}{%- set turns = messages -%}
{%- endif -%}
{%- for m in turns -%}
    {%- if (m.role == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception('turns') }}
    {%- endif -%}
    <turn>{{ m.role }}\n{{ prefix if loop.first else '' }}{{ m.content | trim }}</turn>\n
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<turn>assistant\n' }}{%- endif -%}"""
# Mistral puts it before the last message of the user.
LAST_USER = (
    "{% if messages[0].role == 'system' %}{% set s = messages[0].content %}"
    "{% set turns = messages[1:] %}{% else %}{% set turns = messages %}{% endif %}"
    "{{ bos_token }}{% for m in turns %}{% if m.role == 'user' %}[INST]"
    "{% if loop.last and s %}{{ s }}\n\n{% endif %}{{ m.content }}[/INST]"
    "{% else %}{{ m.content }}</s>{% endif %}{% endfor %}"
)
DEFAULT = "{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}"
# Qwen 3.5 and StepFun 3.5 write the reasoning of answers after the last query, and a user message
# from <result> to </result> is none.
LAST_QUERY = (
    "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' and not ("
    "m.content.startswith('<result>') and m.content.endswith('</result>')) %}"
    "{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
) + CHATML.replace(
    "m.content",
    "'<think></think>' if m.role == 'assistant' and loop.index0 > ns.last }}{{ m.content",
)
# Some variants of Qwen 3.5 refuse a conversation without a query.
NO_QUERY = (
    "{% set ns = namespace(query=false) %}{% for m in messages %}{% if m.role == 'user' and not ("
    "m.content.startswith('<result>') and m.content.endswith('</result>')) %}"
    "{% set ns.query = true %}{% endif %}{% endfor %}"
    "{% if not ns.query %}{{ raise_exception('no query') }}{% endif %}" + CHATML
)
THINKING = "m.content.split('</think>')[-1] if m.role == 'assistant' else m.content"

FRAMES = {
    "the same for all roles": (CHATML, CHATML_FRAME),
    "stripped": (
        CHATML.replace("m.content", "m.content | trim"),
        replace(CHATML_FRAME, stripped=STRIPPED),
    ),
    "a system message that is always there": (
        DEFAULT + CHATML,
        replace(CHATML_FRAME, start=f"<|im_start|>system\nBe kind.{END}{USER}"),
    ),
    "a part of the first message": (
        FIRST_USER,
        Frame(
            "<s><turn>user\n",
            Opening("<s><turn>user\n", "\n\n"),
            *("</turn><turn>assistant\n", "</turn><turn>user\n", "</turn><turn>assistant\n"),
            stripped=STRIPPED - {"system"},
        ),
    ),
    "a system message that moves": (
        LAST_USER,
        Frame("<s>[INST]", None, "[/INST]", "</s>[INST]", "[/INST]"),
    ),
    "a system message that is stripped with the user's": (
        FIRST_USER.replace(
            "{{ prefix if loop.first else '' }}{{ m.content | trim }}",
            "{{ ((prefix if loop.first else '') + m.content) | trim }}",
        ),
        Frame(
            *("<s><turn>user\n", None, "</turn><turn>assistant\n"),
            *("</turn><turn>user\n", "</turn><turn>assistant\n"),
            stripped=STRIPPED - {"system"},
        ),
    ),
    "a text that is cut": (
        CHATML.replace("m.content", THINKING),
        replace(CHATML_FRAME, reserved=("</think>",)),
    ),
    "half a strip": (
        CHATML.replace("m.content", "m.content.lstrip()"),
        replace(CHATML_FRAME, trimmed=STRIPPED),
    ),
    "a newline that answers lose": (  # QwQ
        CHATML.replace("m.content", f"({THINKING}).lstrip('\n' if m.role == 'assistant' else '')"),
        replace(CHATML_FRAME, trimmed=frozenset({"assistant"}), reserved=("</think>",)),
    ),
    "a beginning and an end that change other messages": (
        LAST_QUERY,
        replace(CHATML_FRAME, reserved=("<result>",)),
    ),
    "a beginning and an end that are refused in all messages": (
        NO_QUERY,
        replace(CHATML_FRAME, reserved=("<result>",)),
    ),
    "an empty message that is left out": (
        CHATML.replace("{% for m in messages %}", "{% for m in messages if m.content %}"),
        replace(CHATML_FRAME, takes_empty=False),
    ),
}
NO_FRAMES = {
    "the date": (CHATML + "{{ strftime_now('%Y') }}", "writes the date"),
    "a count": (CHATML + "{{ messages | length }}", "does not write all turns|differently"),
    "a late change": (
        CHATML.replace("<|im_end|>", "{% if loop.index > 9 %}!{% endif %}<|im_end|>"),
        "some messages differently",
    ),
    "a length": (
        CHATML.replace("m.content", "m.content if m.content | length < 20 else 'long'"),
        "some messages differently|changes white space|changes messages",
    ),
    "white space within": (
        CHATML.replace("m.content", "m.content | replace('  ', ' ')"),
        "some messages differently",
    ),
    "a common word": (
        CHATML.replace("m.content", "m.content | replace('a', 'b')"),
        "changes the text of messages",
    ),
    "the last message alone": ("{{ messages[-1].content }}", "leaves out, repeats or moves"),
    "messages twice": (CHATML + CHATML, "leaves out, repeats or moves"),
    "a refusal": ("{{ raise_exception('no') }}", "refuses alternating messages"),
    "deep": ("{{ " + "(" * 2_000 + "1" + ")" * 2_000 + " }}", "nested too deeply"),
    "loops in loops": (  # Python compiles no more than 20
        "{% for a in [1] %}" * 25 + "{% endfor %}" * 25,
        "cannot be compiled: too many statically nested blocks",
    ),
    "no Jinja": ("\n{% bad %}", "^line 2 of the .* is not valid jinja2: .* unknown tag 'bad'$"),
}


def compare_with_jinja(frame: Frame, source: str, tokens: Mapping[str, str], seed: int) -> None:
    """Compares a frame with Jinja on 200 random conversations."""
    rng = random.Random(seed)
    words = [*literals(source), *"ab \n\t<>|é中\u00a0\u200d"]
    words += ["the end", "{{ x }}", "<|im_end|>", "</s>"]
    compared = 0
    while compared < 200:
        system = frame.system is not None and rng.random() < 0.5
        count = 2 * rng.randrange(8) + 1 + system
        contents = ["".join(rng.choices(words, k=rng.randrange(6))) for _ in range(count)]
        messages = conversation(contents, system=system)
        if frame.takes(messages):
            text = render(
                {"default": source}, messages, add_generation_prompt=True, variables=tokens
            )
            assert frame.render(messages) == text
            compared += 1


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_found(name: str) -> None:
    source, expected = FRAMES[name]
    assert find_frame(source, TOKENS) == (expected, "")
    compare_with_jinja(expected, source, TOKENS, 1)


@pytest.mark.parametrize("name", NO_FRAMES)
def test_a_template_that_is_more_than_a_frame_is_refused_with_a_reason(name: str) -> None:
    source, reason = NO_FRAMES[name]
    frame, refusal = find_frame(source, TOKENS)
    assert frame is None
    assert re.search(reason, refusal), refusal


@pytest.mark.parametrize("name", [*PUBLISHED, "kimi-k2"])
def test_published_templates_are_frames(name: str, shared: Path) -> None:
    source = published_config(shared, name)["chat_template"]
    frame, reason = find_frame(source, TOKENS)
    assert frame is not None, reason
    assert (frame.system is None) == (name in ("mistral-nemo", "phi-3"))
    assert "</think>" in frame.reserved or name != "qwen3"
    compare_with_jinja(frame, source, TOKENS, 2)


def test_a_frame_supports_only_ordinary_conversations() -> None:
    ordinary = conversation(["a", "b", "c"], system=False)
    assert CHATML_FRAME.takes(ordinary)
    assert CHATML_FRAME.takes(conversation(["s", "a"], system=True))
    for messages in (
        [],
        ordinary[:2],
        ordinary[1:],
        [ordinary[0], ordinary[0], ordinary[0]],
        [*ordinary, {"role": "tool", "content": "x"}, ordinary[0]],
        conversation(["a"], system=True),
        [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
        [{"role": "user", "content": "a", "name": "b"}],
    ):
        assert not CHATML_FRAME.takes(messages)
    moved = FRAMES["a system message that moves"][1]
    assert not moved.takes(conversation(["s", "a"], system=True))
    cut = FRAMES["a text that is cut"][1]
    assert not cut.takes(conversation(["a</think>b"], system=False))
    full = FRAMES["an empty message that is left out"][1]
    assert not full.takes(conversation([""], system=False))
