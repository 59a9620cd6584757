"""A frame in a file has the ids of `transformers` for its template; messages are never markup."""

import json
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import golden_files
import pytest
from chat_models import (
    CHATML,
    PUBLISHED,
    assistant,
    both_of,
    both_of_published,
    published,
    system,
    user,
    write_chat_model,
)
from references import converted
from repository import SLOW

import tokexport
from tokexport.chat.frame import Frame
from tokexport.chat.frame_search import random_conversation
from tokexport.errors import ChatTemplateError, FormatError, TextError
from tokexport.file.layout import Tag

pytest.importorskip("transformers")
pytest.importorskip("jinja2")

WORDS = [
    *("a", "Hello", " the end", "naïve", "中文", "1234", "don't", "<b>", "<|", "|>", "[", "]"),
    *(" ", "  ", "\n", "\n\n", "\t", "\u3000", "\u200b", "{{ x }}", "</", "user", "system\n"),
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
]
# Like Zephyr's, which ends each message with EOS.
ZEPHYR = (
    "{% for m in messages %}{{ '<|' + m.role + '|>\n' + m.content + eos_token + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
# Like Llama 2's, without the system message.
INST = (
    "{% for m in messages %}{% if m.role == 'user' %}"
    "{{ bos_token + '[INST] ' + m.content.strip() + ' [/INST]' }}"
    "{% elif m.role == 'assistant' %}{{ ' ' + m.content.strip() + ' ' + eos_token }}"
    "{% else %}{{ raise_exception('roles') }}{% endif %}{% endfor %}"
)
# Like QwQ's.
LINES = CHATML.replace("m.content", "m.content.lstrip('\\n' if m.role == 'assistant' else '')")
TEMPLATES = {"chatml": CHATML, "zephyr": ZEPHYR, "inst": INST, "lines": LINES}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def chat_file(folder: Path, template: str, **config: Any) -> tokexport.Tokenizer:
    """The file of a small tokenizer with a template."""
    return converted(write_chat_model(folder, template, **config), self_test=False)


def assert_same_ids(tokenizer: tokexport.Tokenizer, reference: Any, seed: int) -> None:
    """Compares C, the frame in Python, and `transformers` on 200 random conversations."""
    frame = tokenizer.chat_frame
    assert frame is not None
    special = {token.content for token in tokenizer.added_tokens if token.special}
    rng = random.Random(seed)
    compared = 0
    while compared < 200:
        messages = random_conversation(rng, WORDS, with_system=frame.system is not None)
        if not frame.takes(messages) or any(
            token in message["content"] for token in special for message in messages
        ):
            continue
        options = {"add_generation_prompt": True, "return_dict": False}
        expected = reference.apply_chat_template(messages, **options)
        assert tokenizer.encode_chat(messages) == expected
        assert tokenizer.encode(frame.render(messages), allowed_special="all") == expected
        compared += 1


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_frame_produces_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    assert_same_ids(*both_of(tmp_path, TEMPLATES[name], **TOKENS), 1)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_frame_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    assert_same_ids(*both_of(tmp_path, **published(shared, name)), 2)


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: converts whole vocabularies")
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_tokenizer_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    assert_same_ids(*both_of_published(shared / "tokenizers" / name, tmp_path), 3)


@pytest.mark.parametrize("name", TEMPLATES)
def test_special_tokens_in_a_message_are_text(name: str, tmp_path: Path) -> None:
    tokenizer = chat_file(tmp_path, TEMPLATES[name], **TOKENS)
    frame = tokenizer.chat_frame
    assert frame is not None
    special = {token.id: token.content for token in tokenizer.added_tokens if token.special}
    assert len(special) > 2
    rng = random.Random(4)
    words = [*special.values(), *special.values(), *WORDS]
    relevant = 0
    for _ in range(200):
        messages = random_conversation(rng, words, with_system=frame.system is not None)
        if not frame.takes(messages):
            continue
        ids = tokenizer.encode_chat(messages)
        plain = [{**message, "content": "x"} for message in messages]
        expected = tokenizer.encode(frame.render(plain), allowed_special="all")
        assert [id for id in ids if id in special] == [id for id in expected if id in special]
        assert tokenizer.decode(ids) == frame.render(messages)
        relevant += any(text in turn["content"] for text in special.values() for turn in messages)
    assert relevant > 50


def test_an_unsupported_conversation_is_refused_with_a_sentence(tmp_path: Path) -> None:
    template = CHATML.replace("m.content", "m.content.split('</think>')[-1]")
    tokenizer = chat_file(tmp_path, template)
    assert tokenizer.chat_frame is not None
    for messages, problem in [
        ([], "there are no messages; the last one has to be the user's"),
        ([user("a"), assistant("b")], "the last message is not the user's"),
        ([user("a"), user("b")], "message 1 has the role user"),
        ([user("a"), system("b")], "message 1 has the role system"),
        ([user("a</think>b")], "message 0 is empty, or has a text"),
        ([user(None)], "message 0 does not fit a frame"),
        ([user("a"), assistant("b", tool_calls=[]), user("c")], "message 1 has tool_calls, which"),
        ([{"role": "tool", "content": "b"}], "message 0 does not fit a frame"),
    ]:
        with pytest.raises(ChatTemplateError, match=problem):
            tokenizer.encode_chat(messages)
    with pytest.raises(ChatTemplateError, match="message 0 does not fit a frame"):
        tokenizer.encode_chat("hello")  # type: ignore[arg-type]
    messages = [user("a"), assistant("b", tool_calls=None), user("c")]
    assert tokenizer.encode_chat(messages) == tokenizer.apply_chat_template(
        messages, add_generation_prompt=True
    )


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        (CHATML + "{{ strftime_now('%Y') }}", "the chat template writes the date"),
        (CHATML.replace("\n{{ m.content", "<|im_end{{ m.content"), "could begin in a message"),
    ],
)
def test_a_template_without_a_frame_is_skipped_with_a_note(
    template: str, problem: str, tmp_path: Path
) -> None:
    write_chat_model(tmp_path, template, eos_token="<|im_end|>")
    conversion = tokexport.convert(tmp_path, tmp_path / "it.bin", self_test=False)
    note = conversion.notes[-1]
    assert note.startswith("Devices cannot use the chat template")
    assert problem in note
    tokenizer = tokexport.load(tmp_path / "it.bin")
    assert tokenizer.chat_frame is None
    assert tokenizer.chat_template == template
    with pytest.raises(ChatTemplateError, match="the file has no frame"):
        tokenizer.encode_chat([user("a")])


def test_special_tokens_searched_in_normalized_text_prevent_a_frame(tmp_path: Path) -> None:
    write_chat_model(tmp_path, CHATML)
    path = tmp_path / "tokenizer.json"
    source = json.loads(path.read_text("utf-8"))
    source["normalizer"] = {"type": "NFC"}
    for token in source["added_tokens"]:
        token["normalized"] = True
    path.write_text(json.dumps(source), "utf-8")
    conversion = tokexport.convert(tmp_path, tmp_path / "it.bin", self_test=False)
    assert "looked for in normalized text" in conversion.notes[-1]
    assert "FRAM" not in conversion.sections


def test_without_jinja2_a_note_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_chat_model(tmp_path, CHATML)
    for name in ("frame_search", "render", "environment"):
        monkeypatch.delitem(sys.modules, f"tokexport.chat.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    conversion = tokexport.convert(tmp_path, tmp_path / "it.bin", self_test=False)
    note = conversion.notes[-1]
    assert note == (
        "The chat template was not examined, because jinja2 is not installed; pip install"
        " 'tokexport[chat]', and convert again."
    )
    assert "FRAM" not in conversion.sections


def test_without_templates_no_frame_is_searched(tmp_path: Path) -> None:
    write_chat_model(tmp_path, CHATML)
    for template, decode_only in ((False, False), (True, True)):
        conversion = tokexport.convert(
            tmp_path, tmp_path / f"{template}.bin", chat_template=template, decode_only=decode_only
        )
        assert "FRAM" not in conversion.sections


def test_a_frame_is_read_back_from_a_file_unchanged() -> None:
    frame = tokexport.load(golden_files.content("holes")).chat_frame
    assert isinstance(frame, Frame)
    assert frame.start == "<|endof|>the "
    assert frame.reserved == ("xyz", "é")
    assert (sorted(frame.stripped), sorted(frame.trimmed)) == (["user"], ["system"])
    assert not frame.takes_empty


def test_a_damaged_section_causes_an_error_or_other_ids() -> None:
    original = golden_files.section("holes", b"FRAM")
    rng = random.Random(5)
    codes = []
    for _ in range(400):
        content = bytearray(original)
        for _ in range(rng.choice([1, 3])):
            step = rng.choice([1, 4])
            content[rng.randrange(0, len(content), step)] = rng.choice([0, 1, 40, 127, 255])
        content = content[: rng.choice([len(content), rng.randrange(len(content))])]
        file = golden_files.rebuilt("holes", {Tag.CHAT_FRAME: bytes(content)})
        tokenizer = tokexport.load(file)
        with suppress(FormatError):
            assert isinstance(tokenizer.chat_frame, Frame)
        try:
            tokenizer._core.encode_chat([0, 1, 2, 1], ["he", "the", "e", " the"])
        except FormatError as error:
            codes.append(error.code)
        except TextError:  # a text of the frame that is not UTF-8
            codes.append(-4)
    assert {*codes} == {-37, -4}
    assert 50 < codes.count(-37) < 390
