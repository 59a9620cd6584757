"""Features of templates work as in `transformers`: the same text and the same ids."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_models import assistant, both_of, requests, same_as_transformers, system, user

import tokexport
from tokexport.errors import ChatTemplateError

pytest.importorskip("transformers", minversion="5.23")  # needs Python 3.11
pytest.importorskip("jinja2")

LOOP = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
FEATURES = {
    "a loop": LOOP,
    "special tokens": "{{ bos_token }}" + LOOP + "{{ eos_token }}{{ pad_token }}|{{ image_token }}",
    "a prompt": LOOP + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "blocks on lines of their own": """
        {% if messages[0].role == 'system' %}
            {% set first = messages[0].content | trim %}
        {% else %}
            {%- set first = 'none' -%}
        {% endif %}
        [{{ first }}]
        {#- a comment -#}
        {% for m in messages %}
            {%+ if loop.first %} first {% endif +%}
            {{ m['role'] ~ ': ' ~ m['content'] }}
        {% endfor %}
        """,
    "loop controls": "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% endif %}"
    "{% if loop.index > 3 %}{% break %}{% endif %}{{ m.role }};{% endfor %}",
    "tojson": "{{ tools | tojson }}\n{{ tools | tojson(indent=2) }}\n{{ messages | tojson }}"
    "{{ messages | tojson(ensure_ascii=true, sort_keys=true, separators=[',', ':']) }}",
    "a refusal": "{% if messages[0].role != 'user' %}{{ raise_exception('user first') }}"
    "{% endif %}" + LOOP,
    "namespaces": "{% set ns = namespace(n=0, last='') %}{% for m in messages %}"
    "{% set ns.n = ns.n + 1 %}{% set ns.last = m.role %}{% endfor %}{{ ns.n }} {{ ns.last }}",
    "a dict": "{% set d = dict(a=1) %}{{ d }}{{ dict.fromkeys(['x'], 0) }}",
    "macros": "{% macro line(m) %}<|im_start|>{{ m.role }}{{ caller() }}{% endmacro %}"
    "{% for m in messages %}{% call line(m) %}: {{ m.content }}{% endcall %}{% endfor %}",
    "generation blocks": "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "reasoning": "{% for m in messages %}{{ m.reasoning_content }}|{{ m.thinking }}|{{ m.content }}"
    "{% endfor %}",
    "conditions on variables": "{% if enable_thinking is defined and enable_thinking is false %}"
    "<think>\n\n</think>{% endif %}" + LOOP,
    "documents and tools": "{{ documents is none }}{{ tools is none }}{% if tools %}"
    "{% for t in tools %}{{ t.function.name }}{{ t.function.parameters | items | list }}"
    "{% endfor %}{% endif %}" + LOOP,
    "string methods": "{% for m in messages %}{{ (m.content or 'x').split('</t')[-1].strip() }}"
    "{{ m.role.upper() | replace('U', 'V') }}{% endfor %}",
    "what is not defined": "{{ nothing }}{{ messages[0].nothing }}{{ nothing is defined }}",
}
FAILURES = {
    "an error within": "{{ messages[0].content + 1 }}",
    "an insecure call": "{{ messages.__class__.__mro__ }}{{ messages.append(1) }}",
    "an insecure name": "{% set ns = namespace(_x=1) %}",
    "an endless range": "{{ range(1000000) | list }}",
    "no Jinja": "{% if %}",
}
TOKENS = {
    "bos_token": "<s>",
    "eos_token": {"__type": "AddedToken", "content": "</s>"},
    "image_token": "<img>",
}


def pair(folder: Path, template: object) -> tuple[tokexport.Tokenizer, Any]:
    return both_of(folder, template, **TOKENS)


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_of_templates_works_as_in_transformers(feature: str, tmp_path: Path) -> None:
    compared, _ = same_as_transformers(*pair(tmp_path, FEATURES[feature]))
    assert compared > 20


@pytest.mark.parametrize("failure", FAILURES)
def test_a_template_that_fails_in_transformers_fails_here(failure: str, tmp_path: Path) -> None:
    compared, refused = same_as_transformers(*pair(tmp_path, FAILURES[failure]))
    assert (compared, refused) == (0, len(list(requests())))


def test_the_template_for_tools_is_used_if_there_are_tools(tmp_path: Path) -> None:
    named = [{"name": name, "template": name + LOOP} for name in ("default", "tool_use", "rag")]
    tokenizer, reference = pair(tmp_path, named)
    assert set(tokenizer.chat_templates) == {"default", "tool_use", "rag"}
    same_as_transformers(tokenizer, reference)
    for name in ("rag", "{{ messages | length }}"):
        ids = reference.apply_chat_template([user("a")], chat_template=name, return_dict=False)
        assert tokenizer.apply_chat_template([user("a")], chat_template=name) == ids


def test_without_a_default_a_template_must_be_named(tmp_path: Path) -> None:
    tokenizer, _ = pair(tmp_path, [{"name": "rag", "template": LOOP}])
    assert tokenizer.chat_template is None
    with pytest.raises(ChatTemplateError, match=r"no default chat template; name one.*rag"):
        tokenizer.apply_chat_template([user("a")])
    assert tokenizer.apply_chat_template([user("a")], chat_template="rag")


def test_documents_and_other_values_reach_the_template(tmp_path: Path) -> None:
    template = "{{ documents | tojson }}{{ flag }}{{ bos_token }}{{ more.a }}"
    tokenizer, reference = pair(tmp_path, template)
    options: dict[str, Any] = {
        "documents": [{"title": "T", "text": "é"}],
        "flag": True,
        "bos_token": "other",
        "more": {"a": np.int64(3)},
        "tokenize": False,
    }
    text = tokenizer.apply_chat_template([user("a")], **options)
    assert text == reference.apply_chat_template([user("a")], **options)
    assert text == '[{"title": "T", "text": "é"}]Trueother3'


def test_the_last_message_is_continued_as_in_transformers(tmp_path: Path) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.reasoning_content }}"
        "{{ m.content | trim if trimmed else m.content }}<|im_end|>\n{% endfor %}"
    )
    tokenizer, reference = pair(tmp_path, template)
    last = [assistant("I think "), assistant("  ", reasoning_content="so")]
    last += [assistant("x", thinking="why "), assistant("same same")]
    for message in last:
        for trimmed in (True, False):
            for field in (True, "reasoning_content", "thinking"):
                flags: dict[str, Any] = {
                    "continue_final_message": field,
                    "trimmed": trimmed,
                    "tokenize": False,
                }
                try:
                    expected = reference.apply_chat_template([user("a"), message], **flags)
                except ValueError:
                    with pytest.raises(ChatTemplateError):
                        tokenizer.apply_chat_template([user("a"), message], **flags)
                else:
                    assert tokenizer.apply_chat_template([user("a"), message], **flags) == expected
    for content in ({"a": "b"}, 5, True, [{"type": "text", "text": 5}]):
        with pytest.raises(TypeError):
            reference.apply_chat_template([user(content)], continue_final_message=True)
        with pytest.raises(ChatTemplateError, match="is no text to continue"):
            tokenizer.apply_chat_template([user(content)], continue_final_message=True)
    with pytest.raises(ChatTemplateError, match="has no text to continue"):
        tokenizer.apply_chat_template([user(["a text"])], continue_final_message=True)
    flags = {"continue_final_message": True, "chat_template": LOOP + LOOP, "tokenize": False}
    expected = reference.apply_chat_template([user("a")], **flags)
    assert tokenizer.apply_chat_template([user("a")], **flags) == expected
    with pytest.raises(ChatTemplateError, match="within the last message or with"):
        tokenizer.apply_chat_template(
            [user("a")], continue_final_message=True, add_generation_prompt=True
        )


def test_the_callers_messages_are_unchanged(tmp_path: Path) -> None:
    tokenizer, _ = pair(tmp_path, LOOP)
    messages = [system("s"), assistant([{"type": "text", "text": "a"}], thinking="t")]
    before = repr(messages)
    tokenizer.apply_chat_template(messages, continue_final_message=True, tokenize=False)
    assert repr(messages) == before


class Role(str, Enum):
    USER = "user"


@dataclass
class Part:
    text: str


def test_a_template_sees_plain_data_only(tmp_path: Path) -> None:
    tokenizer, reference = pair(tmp_path, "{{ messages[0].content }} {{ messages[0].role }}")
    for content in (Part("a"), np.float32(1.5), ("a", 1), open, {1, 2}, np.zeros(2), 10**30):
        messages = [{"role": Role.USER, "content": content}]
        expected = reference.apply_chat_template(messages, tokenize=False)
        assert tokenizer.apply_chat_template(messages, tokenize=False) == expected


def test_the_time_is_the_current_local_time(tmp_path: Path) -> None:
    tokenizer, _ = pair(tmp_path, "{{ strftime_now('%Y') }}")
    years = {datetime.now().year, int(tokenizer.apply_chat_template([user("")], tokenize=False))}
    assert max(years) - min(years) <= 1


@pytest.mark.parametrize(
    ("messages", "options", "sentence"),
    [
        ([], {}, "there are no messages"),
        ({"role": "user"}, {}, "the messages are of type dict"),
        (["hello"], {}, "message 0 is of type str"),
        ([user("a"), [user("b")]], {}, "message 1 is of type list"),
        (5, {}, "the messages are of type int; give a list of objects"),
        ([user("a")], {"tools": 5}, "the tools are of type int"),
        ([user("a")], {"tools": [print]}, "tool 0 is of type builtin_function_or_method"),
        ([user("a")], {"documents": ["b"]}, "document 0 is of type str"),
        ([user("a")], {"chat_template": "\n{% if %}"}, "line 2 of the chat template"),
        ([user("a")], {"chat_template": "{{ raise_exception('no') }}"}, "these messages: no$"),
        ([user("a")], {"chat_template": "{{ 1 / 0 }}"}, "failed with ZeroDivisionError"),
    ],
)
def test_errors_are_sentences(
    messages: Any, options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    tokenizer, _ = pair(tmp_path, LOOP)
    with pytest.raises(ChatTemplateError, match=sentence):
        tokenizer.apply_chat_template(messages, **options)
