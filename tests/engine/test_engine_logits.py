"""The engine computes the same as a plain transformer, in float32 and in int8."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_harness import NEEDS_COMPILER
from checkpoints import Reference, config, random_tensors, write_checkpoint
from engine_programs import logits, logits_program

from tokexport.weights import export
from tokexport.weights.checkpoint import rope_frequencies

pytestmark = NEEDS_COMPILER

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
SETTINGS = {
    "llama": config(),
    "llama with a tied classifier": config(tie_word_embeddings=True),
    "llama 3.1": config(rope_scaling=LLAMA3, rope_theta=500000.0),
    "linear scaling": config(rope_scaling={"type": "linear", "factor": 2.0}),
    "qwen3": config("qwen3", rope_theta=1000000.0, tie_word_embeddings=True),
    "a key head a head": config(num_key_value_heads=4),
    "one key head": config(num_key_value_heads=1),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logits_program(tmp_path_factory.mktemp("engine"), "-O2")


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_logits_equal_those_of_a_plain_transformer(
    name: str, dtype: Any, program: Path, tmp_path: Path
) -> None:
    settings = SETTINGS[name]
    tensors = random_tensors(settings, seed=len(name))
    folder = write_checkpoint(tmp_path / "model", settings, tensors)
    export(folder, tmp_path / "weights", dtype=dtype)
    ids = np.random.default_rng(7).integers(0, settings["vocab_size"], 90).tolist()
    frequencies = rope_frequencies(settings, settings["head_dim"])
    group = 64 if dtype == "int8" else 0
    expected = Reference(settings, tensors, frequencies, group).logits(ids)
    assert np.abs(expected).max() > 1  # there is something to compare
    for threads in (1, 2, 3):
        actual = logits(program, tmp_path / "weights", ids, threads)
        # An int8 value may be rounded differently, because float32 sums differ.
        assert np.abs(actual - expected).max() < (1e-4 if dtype == "float32" else 0.1)
        if dtype == "int8":
            assert np.abs(actual - expected).mean() < 0.01


@pytest.mark.parametrize("style", ["llama", "qwen3"])
def test_logits_and_greedy_text_equal_those_of_transformers(
    style: str, program: Path, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    scaling = {} if style == "qwen3" else {"rope_scaling": LLAMA3}
    settings = config(style, bos_token_id=None, eos_token_id=None, **scaling)
    model_config = transformers.AutoConfig.for_model(**settings)
    model = transformers.AutoModelForCausalLM.from_config(model_config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4) if parameter.ndim == 2 else parameter.mul_(1.1)
    model.save_pretrained(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["model_type"] == style
    export(tmp_path / "model", tmp_path / "weights")
    ids = [5]
    with torch.no_grad():
        while len(ids) < 201:
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
        expected = model(torch.tensor([ids])).logits[0].numpy()
    actual = logits(program, tmp_path / "weights", ids)
    assert np.abs(expected).max() > 1
    assert np.abs(actual - expected).max() < 1e-4
    assert actual.argmax(axis=1)[:-1].tolist() == ids[1:]
