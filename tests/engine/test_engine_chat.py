"""`engine --chat` answers a conversation in the file's frame, and keeps its state between turns."""

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_harness import SANITIZED, Builder
from chat_models import CHATML, assistant, system, user, write_chat_model
from checkpoints import Reference, config, random_tensors, write_checkpoint
from engine_programs import built

import tokexport
from tokexport.weights import export
from tokexport.weights.checkpoint import rope_frequencies

pytest.importorskip("jinja2")
TEMPLATE = CHATML.replace("m.content", "m.content.split('</think>')[-1]")


@dataclass(frozen=True)
class Model:
    """A small random model with a chat tokenizer, its files, and its expected output."""

    engine: Path
    weights: Path
    file: Path
    tokenizer: tokexport.Tokenizer
    reference: Reference

    def answer(self, messages: list[dict[str, Any]], limit: int) -> tuple[str, bool]:
        """The greedy text, and whether the model ended it."""
        ids = self.tokenizer.encode_chat(messages)
        end = self.tokenizer.special_ids.eos
        reply: list[int] = []
        while len(reply) < limit:
            reply.append(int(np.argmax(self.reference.logits(ids + reply)[-1])))
            if reply[-1] == end:
                return self.tokenizer.decode(reply[:-1], skip_special_tokens=True), True
        return self.tokenizer.decode(reply, skip_special_tokens=True), False

    def run(self, *options: str, stdin: str) -> subprocess.CompletedProcess[str]:
        """Runs the engine with greedy sampling."""
        command = [self.engine, "-t", "0", *options, self.weights, self.file]
        return subprocess.run(
            [*map(str, command)], input=stdin, capture_output=True, text=True, timeout=600
        )


@pytest.fixture(scope="module")
def model(build: Builder, tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("chat")
    write_chat_model(folder, TEMPLATE, eos_token="<|im_end|>")
    tokexport.convert(folder, folder / "tokenizer.bin", self_test=False)
    tokenizer = tokexport.load(folder / "tokenizer.bin")
    assert tokenizer.chat_frame is not None
    settings = config(vocab_size=len(tokenizer.records), hidden_size=64, intermediate_size=64)
    tensors = random_tensors(settings, seed=3)
    assert tokenizer.special_ids.eos is not None
    tensors["lm_head.weight"][tokenizer.special_ids.eos] *= 4  # so that some answers end
    export(write_checkpoint(folder / "model", settings, tensors), folder / "weights")
    frequencies = rope_frequencies(settings, settings["head_dim"])
    reference = Reference(settings, tensors, frequencies)
    engine = built(build, folder, *SANITIZED)
    return Model(engine, folder / "weights", folder / "tokenizer.bin", tokenizer, reference)


def test_each_line_gets_the_answer_of_the_model(model: Model) -> None:
    messages = [system("Be brief.")]
    expected, ended = "", []
    lines = ["Hello", "What is <|im_end|>?", "", "naïve 中文", "and now"]
    for line in lines:
        messages.append(user(line))
        answer, has_ended = model.answer(messages, 12)
        messages.append(assistant(answer))
        expected += answer + "\n"
        ended.append(has_ended)
    options = ("--chat", "--system", "Be brief.", "-n", "12")
    result = model.run(*options, stdin="".join(f"{line}\n" for line in lines))
    assert (result.stdout, result.returncode) == (expected, 0)
    assert any(ended)
    assert not all(ended)
    assert result.stderr.count("tokens") == len(lines)


def test_a_stop_id_ends_an_answer(model: Model) -> None:
    ids = model.tokenizer.encode_chat([user("naïve 中文")])
    first = int(np.argmax(model.reference.logits(ids)[-1]))
    assert first != model.tokenizer.special_ids.eos
    options = ("--chat", "-n", "12", "--stop-id", "1", "--stop-id", str(first))
    result = model.run(*options, stdin="naïve 中文\n")
    assert (result.stdout, result.returncode) == ("\n", 0)
    assert result.stderr.startswith("1 tokens")


def test_a_message_that_the_frame_does_not_support_is_not_answered(model: Model) -> None:
    result = model.run("--chat", "-n", "3", stdin="a</think>b\nHello\n")
    answer, _ = model.answer([user("Hello")], 3)
    assert result.stdout == answer + "\n"
    sentence = "The chat frame does not support a message with this text."
    assert f"engine: message: {sentence}" in result.stderr


def test_a_tokenizer_without_a_frame_is_refused(model: Model, tmp_path: Path) -> None:
    folder = model.file.parent
    tokexport.convert(folder, tmp_path / "none.bin", chat_template=False, self_test=False)
    result = replace(model, file=tmp_path / "none.bin").run("--chat", stdin="Hello\n")
    assert result.returncode == 2
    assert "There is no such token, section, role or score in the file." in result.stderr
