"""Chat templates of every kind of source are stored in the file, with the variables they read."""

import json
import sys
from base64 import b64encode
from pathlib import Path

import gguf
import golden_files
import pytest
from chat_models import user, write_chat_model
from command_line import PathOf, Run
from gguf_files import written
from references import converted

import tokexport
from tokexport.errors import FormatError

pytest.importorskip("jinja2")

TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "image_token": "<img>"}


def test_the_config_has_templates_and_special_tokens(tmp_path: Path) -> None:
    named = [{"name": "default", "template": TEMPLATE}, {"name": "rag", "template": "é"}]
    fields = {"extra_special_tokens": {"think": "<think>", "n": 3}, "add_bos_token": True}
    write_chat_model(tmp_path, named, **TOKENS, **fields)
    tokenizer = converted(tmp_path, self_test=False)
    assert tokenizer.chat_templates == {"default": TEMPLATE, "rag": "é"}
    text = tokenizer.apply_chat_template(
        [user("a")], chat_template=f"{TEMPLATE}{{{{ image_token }}}}{{{{ think }}}}", tokenize=False
    )
    assert text == "<s>a</s><img><think>"
    assert "chat" not in tokenizer.provenance


def test_files_take_precedence_over_the_config(tmp_path: Path) -> None:
    write_chat_model(tmp_path, "of the config", **TOKENS)
    (tmp_path / "chat_template.json").write_text('{"chat_template": "of the JSON"}', "utf-8")
    assert converted(tmp_path, self_test=False).chat_templates == {"default": "of the config"}
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "rag.jinja").write_text("of the folder", "utf-8")
    assert converted(tmp_path, self_test=False).chat_templates == {"rag": "of the folder"}
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE, "utf-8")
    tokenizer = converted(tmp_path, self_test=False)
    assert tokenizer.chat_templates == {"default": TEMPLATE, "rag": "of the folder"}
    assert tokenizer.apply_chat_template([user("a")], tokenize=False) == "<s>a</s>"


def test_a_json_file_is_read_if_there_is_no_other_template(tmp_path: Path) -> None:
    write_chat_model(tmp_path, None, **TOKENS)
    (tmp_path / "chat_template.json").write_text('{"chat_template": "of the JSON"}', "utf-8")
    assert converted(tmp_path, self_test=False).chat_template == "of the JSON"


def test_a_template_beside_a_tekken_json_is_read_with_the_names_of_its_ids(tmp_path: Path) -> None:
    tokens = [{"rank": n, "token_bytes": b64encode(bytes([n])).decode()} for n in range(256)]
    sizes = {"default_vocab_size": 280, "default_num_special_tokens": 24}
    config = {"pattern": r"\w+|\W", "version": "v3", **sizes}
    document = json.dumps({"config": config, "vocab": tokens})
    (tmp_path / "tekken.json").write_text(document, "utf-8")
    assert converted(tmp_path / "tekken.json", self_test=False).chat_templates == {}
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE, "utf-8")
    tokenizer = converted(tmp_path / "tekken.json", self_test=False)
    assert tokenizer.apply_chat_template([user("a")]) == [1, 24 + ord("a"), 2]


def test_templates_are_read_from_gguf(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "it.gguf", "llama")
    writer.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "a"]
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([2, 3, 3, *[6] * 256, 1])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    named = {"default": TEMPLATE, "rag": "x"}
    writer.add_chat_template([{"name": name, "template": named[name]} for name in named])
    written(tmp_path / "it.gguf", writer)
    tokenizer = converted(tmp_path / "it.gguf", self_test=False)
    assert tokenizer.chat_templates == named
    assert tokenizer.apply_chat_template([user("a")], tokenize=False) == "<s>a</s>"


def test_templates_can_be_left_out_which_is_a_difference(tmp_path: Path, run: Run) -> None:
    write_chat_model(tmp_path, [{"name": "rag", "template": TEMPLATE}], **TOKENS)
    assert converted(tmp_path, self_test=False, chat_template=False).chat_templates == {}
    assert converted(tmp_path, decode_only=True).chat_templates == {"rag": TEMPLATE}
    assert run("convert", tmp_path, "-o", tmp_path / "one.bin").code == 0
    outcome = run("convert", tmp_path, "-o", tmp_path / "two.bin", "--no-chat-template")
    assert outcome.code == 0
    assert b"chat" not in (tmp_path / "two.bin").read_bytes()
    outcome = run("diff", tmp_path / "one.bin", tmp_path / "two.bin")
    assert outcome.code == 1
    assert "chat template rag" in outcome.text


def test_a_file_without_a_config_has_no_variables(small_file: PathOf) -> None:
    tokenizer = tokexport.load(small_file("gpt2"))
    assert tokenizer.chat_templates == {}
    text = tokenizer.apply_chat_template([user("a")], chat_template=TEMPLATE, tokenize=False)
    assert text == "a"


@pytest.mark.parametrize("chat", [5, {"templates": 5}, {"templates": {"a": 5}}])
def test_an_error_names_damaged_settings(chat: object) -> None:
    provenance = {**tokexport.load(golden_files.content("added")).provenance, "chat": chat}
    damaged = golden_files.rebuilt("added", {b"PROV": json.dumps(provenance).encode()})
    with pytest.raises(FormatError, match='PROV is damaged: "chat" is not an object with texts'):
        tokexport.load(damaged).chat_templates  # noqa: B018


def test_the_command_prints_ids_and_text(tmp_path: Path, run: Run) -> None:
    write_chat_model(tmp_path, TEMPLATE + "{{ flag }}", **TOKENS)
    path, messages = tmp_path / "it.bin", tmp_path / "messages.json"
    tokexport.convert(tmp_path, path, self_test=False)
    messages.write_text(json.dumps([user("é")]), "utf-8")
    ids = tokexport.load(path).apply_chat_template([user("é")])
    assert run("chat-template", path, messages).text == " ".join(map(str, ids)) + "\n"
    options = ("--text", "--set", "flag=[1]")
    outcome = run("chat-template", path, "-", *options, stdin=messages.read_bytes())
    assert outcome.text == "<s>é</s>[1]"
    answer = run("chat-template", path, messages, "--json").values
    assert (answer["ids"], answer["text"], answer["count"]) == (ids, "<s>é</s>", len(ids))
    tool = {"type": "function", "function": {"name": "f"}}
    messages.write_text(json.dumps({"messages": [user("a")], "tools": [tool]}), "utf-8")
    template = tmp_path / "other.jinja"
    template.write_text("{{ tools[0].function.name }}{{ messages[-1].content }}", "utf-8")
    assert run("chat-template", path, messages, "--text", "--template", template).text == "fa"
    (tmp_path / "tools.json").write_text('[{"function": {"name": "g"}}]', "utf-8")
    with_tools = ("--text", "--template", template, "--tools", tmp_path / "tools.json")
    assert run("chat-template", path, messages, *with_tools).text == "ga"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--set", "flag"), "give a name and a JSON value"),
        (("--set", "flag=x"), "give a name and a JSON value"),
        (("--template", "rag"), "its templates are: none"),
        (("--template", sys.executable), "not UTF-8 at byte"),
        ((), "the file has no chat template; give one as chat_template (--template FILE)"),
    ],
)
def test_the_command_reports_errors(
    arguments: tuple[str, ...], sentence: str, run: Run, small_file: PathOf
) -> None:
    command = ("chat-template", small_file("gpt2"), "-")
    assert sentence in run(*command, *arguments, stdin=b'[{"content": "a"}]').refusal
    assert run(*command, stdin=b"[").code == 2
    for content in (b"[]", b"{}", b'{"messages": null}'):
        refusal = run(*command, stdin=content).refusal
        assert refusal.startswith("tokexport: standard input: there are no messages; give")
