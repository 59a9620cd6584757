"""Published chat templates produce the text and the ids of `transformers`."""

from pathlib import Path

import pytest
from chat_models import both_of, both_of_published, published, requests, same_as_transformers
from repository import SLOW

pytest.importorskip("transformers", minversion="5.23")  # needs Python 3.11
pytest.importorskip("jinja2")

PUBLISHED = ("qwen3", "llama3", "mistral-nemo", "gemma3", "phi-3", "deepseek-v3", "qwen2.5")


@pytest.mark.parametrize("name", [*PUBLISHED, "kimi-k2"])
def test_a_published_template_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    compared, refused = same_as_transformers(*both_of(tmp_path, **published(shared, name)))
    assert compared > 40
    assert compared + refused == len(list(requests()))


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: converts whole vocabularies")
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_tokenizer_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    compared, _ = same_as_transformers(*both_of_published(shared / "tokenizers" / name, tmp_path))
    assert compared > 40
