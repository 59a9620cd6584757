"""Published chat templates produce the text and the ids of `transformers`."""

from pathlib import Path
from typing import Any

import pytest
from chat_models import (
    both_of_published,
    published_config,
    requests,
    same_as_transformers,
    write_chat_model,
)
from repository import SLOW

import tokexport

transformers = pytest.importorskip("transformers")
pytest.importorskip("jinja2")

PUBLISHED = (
    *("qwen3", "llama3", "mistral-nemo", "gemma3", "phi-3", "deepseek-v3", "qwen2.5"),
    "kimi-k2",
)


def published(shared: Path, name: str) -> dict[str, Any]:
    """The settings of a published tokenizer that a chat template reads."""
    return {
        key: value
        for key, value in published_config(shared, name).items()
        if key == "chat_template" or (key.endswith("_token") and not isinstance(value, bool))
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_template_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    config = published(shared, name)
    folder = write_chat_model(tmp_path, config.pop("chat_template"), **config)
    tokexport.convert(folder, tmp_path / "it.bin", self_test=False)
    reference = transformers.AutoTokenizer.from_pretrained(folder)
    compared, refused = same_as_transformers(tokexport.load(tmp_path / "it.bin"), reference)
    assert compared > 40
    assert compared + refused == len(list(requests()))


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: converts whole vocabularies")
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name != "kimi-k2"])
def test_a_published_tokenizer_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    compared, _ = same_as_transformers(*both_of_published(shared / "tokenizers" / name, tmp_path))
    assert compared > 40
